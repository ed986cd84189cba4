"""Running, stopping, going on, and reporting: with real runs of a quick experiment."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sidelight.cli.commands.reproduce import reproduce
from sidelight.reproduce import PAPERS, paper
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Experiment, ReferenceValue, Trial, graded
from sidelight.reproduce.framework.journal import Journal, JournalError, trials_path
from sidelight.reproduce.framework.page import departures, write_page
from sidelight.reproduce.framework.reports import HEADINGS, compact, rows_of
from sidelight.reproduce.framework.running import summarise
from systems import needs_posix

ASKED = ["echraibi", "--figure", "5", "--quick"]


def experiment(**changes):
    given = {
        "name": "table-9",
        "title": "numbers",
        "varied": ("set", "labels"),
        "settings": [("a", 0.0), ("a", 0.5)],
        "quick": [("a", 0.5)],
        "published": ("theirs",),
        "ours": ("mine", "theirs"),
        "measures": ("score", "score, free"),
        "measure": lambda setting, method, seed: {"score": 0.5, "score, free": 0.25},
        "seeds": 3,
        "quick_seeds": 1,
    }
    return Experiment(**(given | changes))


def results_of(which, score=lambda trial: 0.1 * trial.seed):
    return {trial: {"score": score(trial), "score, free": score(trial) / 2} for trial in which.trials(quick=False)}


def test_trials_are_all_methods_of_a_draw_before_the_next():
    trials = experiment().trials(quick=False)
    assert len(trials) == 2 * 3 * 3
    assert trials[:3] == [Trial(("a", 0.0), name, 0) for name in ("theirs", "mine", ONE_CLUSTER)]
    assert experiment().trials(quick=True) == [Trial(("a", 0.5), name, 0) for name in ("theirs", "mine", ONE_CLUSTER)]
    without = experiment(applies=lambda setting, method: method != "mine")
    assert {trial.method for trial in without.trials(quick=False)} == {"theirs", ONE_CLUSTER}
    with pytest.raises(ValueError, match="a quick run must be part of the full one"):
        experiment(quick_seeds=4)


def test_a_journal_is_read_back_and_a_torn_line_is_dropped(tmp_path):
    which = experiment()
    journal = Journal.of(which, tmp_path)
    first, second, third = which.trials(quick=False)[:3]
    journal.add(second, {"score": 1 / 3, "score, free": 0.0})
    journal.add(first, {"score": 1e-9, "score, free": -2.0})
    path = trials_path(which, tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole + b"a,0.0,one clus")
    again = Journal.of(which, tmp_path)
    assert again.results == journal.results
    assert again.results[second]["score"] == 0.333333
    assert path.read_bytes() == whole
    again.add(third, {"score": 1.0, "score, free": 1.0})
    again.sort()
    assert list(Journal.of(which, tmp_path).results) == [first, second, third]


def test_a_file_of_something_else_is_refused(tmp_path):
    which = experiment()
    trials_path(which, tmp_path).write_text("set,method,seed,score\n")
    with pytest.raises(JournalError, match=r"table-9.trials.csv has other columns than table-9 measures; add --fresh"):
        Journal.of(which, tmp_path)


def test_an_experiment_that_is_part_of_another_shares_its_trials(tmp_path):
    whole = experiment()
    part = experiment(name="figure-2", settings=[("a", 0.5)], part_of=whole)
    assert trials_path(part, tmp_path) == trials_path(whole, tmp_path)
    journal = Journal.of(whole, tmp_path)
    for trial, measured in results_of(whole).items():
        journal.add(trial, measured)
    shared = Journal.of(part, tmp_path)
    assert set(part.trials(quick=False)) < set(shared.results)
    shared.sort()
    assert set(Journal.of(whole, tmp_path).results) == set(whole.trials(quick=False))


def test_rows_have_the_papers_number_the_trivial_one_and_the_best():
    which = experiment(printed={(("a", 0.5), "theirs"): ReferenceValue(0.9, is_best=True)})
    gain = {"theirs": 0.3, "mine": 0.5, ONE_CLUSTER: 0.1}
    summary = summarise(
        which, results_of(which, lambda trial: gain[trial.method] + 0.01 * trial.seed), which.trials(quick=False)
    )
    rows = rows_of(summary)
    assert [row.setting for row in rows] == [("a", "0.0"), ("a", "0.5")]
    assert rows[1].best_name == "mine"
    cells = dict(zip([*which.varied, *HEADINGS], rows[1].cells, strict=True))
    assert cells["paper"] == "0.9 (best)"
    assert (cells["mean"], cells["sd"], cells["best"]) == ("0.3100", "0.0100", "0.3200")
    assert (cells["free mean"], cells["one cluster"], cells["its free mean"]) == ("0.1550", "0.1100", "0.2550")
    headings, lines = compact(summary)
    assert "found before" not in headings
    assert lines[0][headings.index("paper")] == ""


def test_departures_from_what_was_found_before_are_told():
    key, other = (("a", 0.0), "theirs"), (("a", 0.5), "theirs")
    which = experiment(
        derived={key: ReferenceValue(0.1), other: ReferenceValue(0.9)},
        explained={other: "the draws are of another kind"},
    )
    summary = summarise(which, results_of(which), which.trials(quick=False))
    assert departures(summary) == ["theirs on a, 0.5: 0.100 here, 0.9 before: the draws are of another kind"]


def test_verdicts_by_how_many_hold():
    assert [graded(shares, 0.9, "").outcome for shares in ([1.0, 0.9], [1.0, 0.8], [0.2])] == [
        "holds",
        "holds in part",
        "does not hold",
    ]
    with pytest.raises(ValueError, match="needs at least one number"):
        graded([], 0.5, "")


def test_every_paper_is_complete():
    for name in PAPERS:
        which = paper(name)
        assert which.name == name
        assert which.claims
        assert len(which.protocol) > 300
        known = {experiment.name for experiment in which.experiments}
        for claim in which.claims:
            assert set(claim.needs) <= known
        for each in which.experiments:
            assert set(each.derived) <= {(setting, method) for setting in each.settings for method in each.methods}
            assert set(each.printed) <= {(setting, method) for setting in each.settings for method in each.methods}
    with pytest.raises(ValueError, match="paper='smith' must be one of echraibi, yu"):
        paper("smith")


def test_protocols_are_part_of_the_package():
    root = Path(__file__).parents[2]
    built = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert built["wheel"] == {"packages": ["src/sidelight"]}  # all files in there, of whatever kind
    for name in PAPERS:
        assert files("sidelight.reproduce").joinpath(name, "protocol.md").is_file()
        assert f"\n{paper(name).protocol}" in (root / "docs" / "reproduction.md").read_text(encoding="utf-8")


def command(folder, *more):
    call = "from sidelight.cli.commands.reproduce import reproduce; reproduce()"
    return [sys.executable, "-c", call, *ASKED, "-o", str(folder), *more]


@needs_posix
def test_a_run_that_is_killed_goes_on_and_ends_with_the_same_bytes(tmp_path):
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    trials = stopped / "echraibi" / "figure-5.trials.csv"
    process = subprocess.Popen(
        command(stopped, "--jobs", "2"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while process.poll() is None and not (trials.exists() and trials.read_text().count("\n") > 3):
        time.sleep(0.05)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = trials.read_bytes()
    lines = before[: before.rfind(b"\n")].split(b"\n")
    assert len(lines) < 1 + 2 * 3 * 5

    subprocess.run(command(stopped, "--jobs", "2"), check=True, capture_output=True)
    subprocess.run(command(whole, "--jobs", "1"), check=True, capture_output=True)
    for name in ("figure-5.trials.csv", "figure-5.csv", "figure-5.png"):
        assert (stopped / "echraibi" / name).read_bytes() == (whole / "echraibi" / name).read_bytes()
    assert set(lines) <= set(trials.read_bytes().split(b"\n"))

    page = tmp_path / "results.md"
    assert write_page(whole, page) == ["echraibi figure-5"]
    text = page.read_text()
    assert "](whole/echraibi/figure-5.png)" in text
    assert "Partial labels lead to the view they encode" in text
    assert "With partial labels three clusters" not in text  # what was not run is not judged


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--table", "1"], "--table and --figure go with one paper"),
        (["echraibi", "yu", "--figure", "4"], "--table and --figure go with one paper"),
        (["echraibi", "--table", "7"], "echraibi has no table-7; there are"),
        (["smith"], "'smith' is not one of"),
        (["--page", "page.md", "-o", "nowhere"], "nowhere is not a folder of results"),
    ],
)
def test_wrong_calls(asked, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(reproduce, asked)
    assert result.exit_code == 2
    assert message in result.output
    assert list(tmp_path.iterdir()) == []


def test_labels_are_the_same_for_every_method():
    from sidelight.reproduce.echraibi.tables import draw_labels_of

    first, second = (draw_labels_of("iris", 0.2, 3) for _ in range(2))
    np.testing.assert_array_equal(first.known, second.known)
    assert (first.known >= 0).sum() == 30
