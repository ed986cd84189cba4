"""The results in the repository: complete, and explained where they depart from what was found before."""

import shutil
from pathlib import Path

import pytest

from sidelight.reproduce import paper
from sidelight.reproduce.framework.drawing import save_picture
from sidelight.reproduce.framework.page import departures, stored_summaries, write_page
from sidelight.reproduce.framework.reports import write_csv

RESULTS = Path(__file__).parents[2] / "docs" / "reproduction"
STORED = sorted(folder.name for folder in RESULTS.iterdir() if folder.is_dir())


@pytest.mark.parametrize("name", STORED)
def test_every_trial_is_stored(name):
    which = paper(name)
    stored = stored_summaries(which, RESULTS / name)
    assert set(stored) == {experiment.name for experiment in which.experiments}
    for experiment in which.experiments:
        draws = {len(cell.values[experiment.measures[0]]) for cell in stored[experiment.name].cells.values()}
        assert draws == {experiment.seeds}


@pytest.mark.parametrize("name", STORED)
def test_departures_from_what_was_found_before_are_explained(name):
    stored = stored_summaries(paper(name), RESULTS / name)
    assert [text for summary in stored.values() for text in departures(summary) if "not explained" in text] == []


def test_the_page_is_made_from_the_files(tmp_path):
    shutil.copytree(RESULTS, tmp_path / "reproduction")
    write_page(tmp_path / "reproduction", tmp_path / "page.md")
    shown = (RESULTS.parent / "reproduction.md").read_text(encoding="utf-8")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == shown


@pytest.mark.parametrize("name", STORED)
def test_curves_can_be_drawn_and_tables_are_what_the_trials_give(name, tmp_path):
    for experiment, summary in stored_summaries(paper(name), RESULTS / name).items():
        write_csv(summary, tmp_path / "table.csv")
        assert (tmp_path / "table.csv").read_bytes() == (RESULTS / name / f"{experiment}.csv").read_bytes()
        if summary.experiment.draw is not None:
            assert (RESULTS / name / f"{experiment}.png").exists()
            if summary.experiment.draw.__qualname__.startswith("curves."):  # the others fit models
                assert save_picture(summary, tmp_path / "curves.png")
