"""The results in the repository: complete, and explained where they depart from what was found before."""

import shutil
from pathlib import Path

import pytest

from sidelight.reproduce import paper
from sidelight.reproduce.page import departures, stored_summaries, write_page

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
