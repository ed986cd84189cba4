"""``sidelight ask``: the most informative pairs."""

import csv
from collections import Counter
from pathlib import Path

import click

from sidelight._wording import count, printable
from sidelight.cli import options
from sidelight.cli.console import Terminal
from sidelight.cli.errors import Refusal, refusing
from sidelight.cli.output import WritesText, check_table_output, output_text
from sidelight.cli.result.folder import Pool, open_result
from sidelight.cli.tables.files import check_columns, open_table, read_text, some

_FIRST_COLUMNS = ("id_a", "id_b", "relation")
_CHANCE = "chance_same"
# Answers that are probably wrong take at most this share of the questions.
_MOST_AGAIN = 0.25


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
@click.option(
    "--show-chance",
    is_flag=True,
    help="Add the model's own guess, column chance_same; it influences people who answer.",
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
    show_chance: bool,
    output: Path | None,
    seed: int,
    encoding: str,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the pairs of rows whose answer would teach the model of RESULT most.

    Fill in the column "relation" with must or cannot (or same, different; empty or ? where you do not know), and give
    the file to sidelight fit with --links. The columns after it show the two rows. Answers that are probably wrong, by
    the table and the other answers, are asked again.
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
        again = pool.doubtful[: int(_MOST_AGAIN * number)]
        new = informative_pairs(
            pool.posterior, pool.side, n_pairs=number - len(again), X=pool.positions, random_state=seed
        )
    pairs = [*new.pairs.tolist(), *again.tolist()]
    rows = [_row(pool, first, second, answers, show_chance=show_chance) for first, second in pairs]
    with output_text(output) as text:
        _write(text, pool, rows, show_chance=show_chance)
    if len(again):
        named = some([f"{pool.ids[first]} and {pool.ids[second]}" for first, second in again.tolist()])
        terminal.note(
            f"{count(len(again), 'pair')} asked again, since the earlier answer is probably wrong: {named}. Where the "
            "answer changes, delete the earlier one."
        )
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
    columns = read_text(file, others, ids=[id_column])
    return {
        name: cluster
        for name, cluster in zip(columns[id_column], columns[others[0]], strict=True)
        if name is not None and cluster is not None
    }


def _row(pool: Pool, first: int, second: int, answers: dict[str, str] | None, *, show_chance: bool) -> list[str]:
    ids = str(pool.ids[first]), str(pool.ids[second])
    chance = [f"{float(pool.posterior[first] @ pool.posterior[second]):.3f}"] if show_chance else []
    values = (cell for pair in zip(pool.values[first], pool.values[second], strict=True) for cell in pair)
    return [*ids, _answer(answers, *ids), *chance, *values]


def _answer(answers: dict[str, str] | None, first: str, second: str) -> str:
    if answers is None or first not in answers or second not in answers:
        return ""
    return "must" if answers[first] == answers[second] else "cannot"


def _write(file: WritesText, pool: Pool, rows: list[list[str]], *, show_chance: bool) -> None:
    writer = csv.writer(file, lineterminator="\n")
    shown = [f"{name}_{end}" for name in pool.columns for end in ("a", "b")]
    writer.writerow([*_FIRST_COLUMNS, *((_CHANCE,) if show_chance else ()), *shown])
    writer.writerows(rows)
