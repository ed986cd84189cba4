"""The page of results, made from the files of a run."""

from pathlib import Path

from sidelight.files.whole import whole_file
from sidelight.reproduce.framework.experiment import PAPERS, Paper, Summary, Verdict, paper
from sidelight.reproduce.framework.journal import Journal, trials_path
from sidelight.reproduce.framework.reports import markdown_table
from sidelight.reproduce.framework.running import summarise

_HEAD = """# The papers, run again

Made by `sidelight reproduce --page`, from the files beside it; change the experiments, not this page. Every row has the
paper's number, the same method and protocol here (mean ± standard deviation over draws, and the best of them), the same
on rows without side information, the score of putting everything in one cluster (on all rows, and on those), and the
method of sidelight that does best on the rows without side information, chosen by these same draws. "found before" is
the result of an independent implementation of the same protocol.
"""


def write_page(folder: Path, path: Path) -> list[str]:
    """Write the page of results from a folder with one for each paper; return the names of the experiments on it."""
    stored = {name: stored_summaries(paper(name), folder / name) for name in PAPERS}
    stored = {name: found for name, found in stored.items() if found}
    sections = [_section(paper(name), found, folder / name, path.parent) for name, found in stored.items()]
    with whole_file(path) as file:
        file.write("\n".join([_HEAD, _overview(stored), *sections]))
    return [f"{name} {experiment}" for name, found in stored.items() for experiment in found]


def stored_summaries(which: Paper, folder: Path) -> dict[str, Summary]:
    """Return summaries of the experiments with stored trials."""
    found = {}
    for experiment in which.experiments:
        if trials_path(experiment, folder).exists():
            results = Journal.of(experiment, folder).results
            summary = summarise(experiment, results, experiment.trials(quick=False))
            if summary.cells:
                found[experiment.name] = summary
    return found


def departures(summary: Summary) -> list[str]:
    """Return, in words, where a mean is further than two standard errors from the derived number."""
    experiment, name = summary.experiment, summary.experiment.measures[0]
    found = []
    for (setting, method), number in experiment.derived.items():
        if (setting, method) not in summary.cells:
            continue
        cell = summary.cells[setting, method]
        reached = cell.best(name) if number.is_best else cell.mean(name)
        # Both are means of as many draws, so both have this error; the best of few draws varies like one of them.
        error = cell.sd(name) if number.is_best else 2**0.5 * cell.standard_error(name)
        agrees = abs(reached - number.value) <= 2 * error + 0.0005
        if not agrees:
            why = experiment.explained.get((setting, method), "not explained")
            where = ", ".join(str(value) for value in setting)
            found.append(f"{method} on {where}: {reached:.3f} here, {number.value:g} before: {why}")
    return found


def _overview(stored: dict[str, dict[str, Summary]]) -> str:
    """Return how many claims of each paper hold, with the command that runs it again."""
    lines = ["| paper | trials | claims that hold | in part | that do not |", "|---|---|---|---|---|"]
    for name, found in stored.items():
        outcomes = [verdict.outcome for _, verdict in _verdicts(paper(name), found)]
        counts = " | ".join(str(outcomes.count(outcome)) for outcome in ("holds", "holds in part", "does not hold"))
        lines.append(f"| `sidelight reproduce {name}` | {_n_trials(found)} | {counts} |")
    return "\n".join(lines) + "\n"


def _n_trials(found: dict[str, Summary]) -> int:
    own = [summary for summary in found.values() if summary.experiment.part_of is None]
    return sum(len(cell.values[s.experiment.measures[0]]) for s in own for cell in s.cells.values())


def _section(which: Paper, found: dict[str, Summary], folder: Path, base: Path) -> str:
    lines = [f"## {which.reference}\n", which.protocol.strip() + "\n"]
    verdicts = _verdicts(which, found)
    if verdicts:
        lines += ["### Claims\n", "| claim | verdict | because |", "|---|---|---|"]
        lines += [f"| {text} | {outcome} | {because} |" for text, (outcome, because) in verdicts]
        lines.append("")
    for summary in found.values():
        lines += _experiment(summary, folder, base)
    return "\n".join(lines)


def _verdicts(which: Paper, found: dict[str, Summary]) -> list[tuple[str, Verdict]]:
    """Return the claims that the stored experiments can judge, with verdicts."""
    return [
        (claim.text, claim.judge(*(found[name] for name in claim.needs)))
        for claim in which.claims
        if set(claim.needs) <= set(found)
    ]


def _experiment(summary: Summary, folder: Path, base: Path) -> list[str]:
    experiment = summary.experiment
    lines = [f"### {experiment.name.replace('-', ' ').capitalize()}: {experiment.title}\n"]
    picture = folder / f"{experiment.name}.png"
    if picture.exists():
        lines.append(f"![{experiment.title}]({picture.resolve().relative_to(base.resolve()).as_posix()})\n")
    lines.append(markdown_table(summary))
    said = departures(summary)
    if said:
        lines += ["Further than two standard errors from what was found before:\n", *(f"- {text}" for text in said), ""]
    return lines
