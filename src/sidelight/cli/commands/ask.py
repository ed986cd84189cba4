"""``sidelight ask``: the most informative pairs."""

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import click

from sidelight._wording import printable
from sidelight.cli import options
from sidelight.cli.console import Terminal
from sidelight.cli.errors import Refusal, refusing
from sidelight.cli.output import check_table_output, output_text
from sidelight.cli.result.folder import Pool, open_result
from sidelight.cli.tables.files import check_columns, open_table, read_text, some

_FIRST_COLUMNS = ("id_a", "id_b", "relation", "chance_same")


@click.command()
@options.result
@click.option(
    "-n", "--number", type=click.IntRange(min=1), default=20, show_default=True, help="How many pairs to ask about."
)
@click.option(
    "--answers-from",
    type=click.Path(path_type=Path),
    help="Table with the true cluster of each id, to answer the questions from instead of asking.",
)
@options.table_output
@options.seed
@options.encoding
@options.force
@options.quiet
@options.json
def ask(
    result: Path,
    number: int,
    answers_from: Path | None,
    output: Path | None,
    seed: int,
    encoding: str,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the pairs of rows whose answer would teach the model of RESULT most.

    Fill in the column "relation" with must or cannot (or same, different; empty or ? where you do not know), and give
    the file to sidelight fit with --links. chance_same is the model's own guess, and the columns after it show the two
    rows.
    """
    from sidelight.asking import informative_pairs

    terminal = Terminal(quiet=quiet, as_json=as_json)
    check_table_output(output, force=force, as_json=as_json)
    opened = open_result(result)
    if opened.recipe.id_column is None:
        raise Refusal(f"{result} knows no ids to ask about; fit again with --id-column.")
    answers = None if answers_from is None else _read_answers(answers_from, opened.recipe.id_column, encoding)
    pool = opened.pool()
    _check_ids(pool, result)
    with terminal.progress("choosing pairs"), terminal.warnings_as_notes(), refusing(str(result)):
        questions = informative_pairs(pool.posterior, pool.side, n_pairs=number, X=pool.positions, random_state=seed)
    rows = list(_rows(pool, questions, answers))
    with output_text(output) as text:
        _write(text, pool, rows)
    if len(rows) < number:
        terminal.note(f"there are only {len(rows)} pairs whose answer the model does not know already.")
    if answers is None:
        terminal.tell(
            "fill in the column relation with must or cannot, and give the file to sidelight fit with --links"
        )
    terminal.print_json({"pairs": len(rows), "notes": terminal.notes, "output": printable(str(output))})


def _check_ids(pool: Pool, result: Path) -> None:
    """Refuse ids that stand twice: an answer about them would be about two rows."""
    name, times = Counter(pool.ids.tolist()).most_common(1)[0]
    if times > 1:
        raise Refusal(f"{result}: the id {name!r} stands {times} times; questions need ids that differ, so fit again.")


def _read_answers(path: Path, id_column: str, encoding: str) -> dict[str, str]:
    """Return the true cluster of each id."""
    file = open_table(path, encoding)
    check_columns(file, {id_column: "the result"})
    others = [name for name in file.header if name != id_column]
    if len(others) != 1:
        raise Refusal(f"{path} must have one column beside {id_column!r}, the true cluster; it has {some(others)}.")
    columns = read_text(file, [id_column, others[0]])
    return {
        name: cluster
        for name, cluster in zip(columns[id_column], columns[others[0]], strict=True)
        if name is not None and cluster is not None
    }


def _rows(pool: Pool, questions: Any, answers: dict[str, str] | None) -> Iterator[list[str]]:
    for first, second in questions.pairs.tolist():
        chance = float(pool.posterior[first] @ pool.posterior[second])
        ids = str(pool.ids[first]), str(pool.ids[second])
        values = (cell for pair in zip(pool.values[first], pool.values[second], strict=True) for cell in pair)
        yield [*ids, _answer(answers, *ids), f"{chance:.3f}", *values]


def _answer(answers: dict[str, str] | None, first: str, second: str) -> str:
    if answers is None or first not in answers or second not in answers:
        return ""
    return "must" if answers[first] == answers[second] else "cannot"


def _write(file: IO[str], pool: Pool, rows: list[list[str]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    shown = [f"{name}_{end}" for name in pool.columns for end in ("a", "b")]
    writer.writerow([*_FIRST_COLUMNS, *shown])
    writer.writerows(rows)
