"""Trials on disk, one line each as soon as it is finished, so that an interrupted run continues where it stopped."""

import csv
import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from sidelight.files.whole import whole_file
from sidelight.reproduce.framework.experiment import Experiment, Setting, Trial

Results = Mapping[Trial, Mapping[str, float]]


class JournalError(ValueError):
    """A file of trials that belongs to another experiment."""


def trials_path(experiment: Experiment, folder: Path) -> Path:
    """Return the path of the trials of an experiment."""
    return folder / f"{experiment.stored_as.name}.trials.csv"


class Journal:
    """A CSV of trials that grows line by line.

    An incomplete last line, left by an interrupted run, is dropped; every complete line counts.
    """

    def __init__(self, path: Path, experiment: Experiment) -> None:
        self.path = path
        self.experiment = experiment
        self.results: dict[Trial, Mapping[str, float]] = {}
        self._header = [*experiment.varied, "method", "seed", *experiment.measures]

    @classmethod
    def of(cls, experiment: Experiment, folder: Path) -> Self:
        """Open the journal of an experiment in a folder, with the trials of earlier runs."""
        path, experiment = trials_path(experiment, folder), experiment.stored_as
        journal = cls(path, experiment)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                file.write(_line(journal._header))
            return journal
        text = path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            with path.open("r+b") as file:
                file.truncate(len(whole))
        lines = list(csv.reader(io.StringIO(whole.decode("utf-8"))))
        if not lines or lines[0] != journal._header:
            raise JournalError(
                f"{path} has other columns than {experiment.name} measures; add --fresh to start anew, or choose "
                f"another folder."
            )
        journal.results = {journal._trial(line): journal._measures(line) for line in lines[1:]}
        return journal

    def add(self, trial: Trial, measured: Mapping[str, float]) -> None:
        """Write a trial; it is on disk when this returns."""
        line = self._cells(trial, measured)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(line))
            file.flush()
            os.fsync(file.fileno())
        # As read back from the file, so that an interrupted run gives the same results.
        self.results[trial] = self._measures(line)

    def sort(self) -> None:
        """Write the trials in the experiment's order, which is the same for every run; the file is replaced at once."""
        ordered = [trial for trial in self.experiment.trials(quick=False) if trial in self.results]
        lines = [self._cells(trial, self.results[trial]) for trial in ordered]
        with whole_file(self.path) as file:
            file.writelines(map(_line, [self._header, *lines]))

    def _cells(self, trial: Trial, measured: Mapping[str, float]) -> list[str]:
        numbers = [format(measured[name], ".6g") for name in self.experiment.measures]
        return [*map(str, trial.setting), trial.method, str(trial.seed), *numbers]

    def _trial(self, line: list[str]) -> Trial:
        n = len(self.experiment.varied)
        return Trial(_setting(self.experiment, line[:n]), line[n], int(line[n + 1]))

    def _measures(self, line: list[str]) -> dict[str, float]:
        numbers = line[len(self.experiment.varied) + 2 :]
        return dict(zip(self.experiment.measures, map(float, numbers), strict=True))


def _setting(experiment: Experiment, cells: list[str]) -> Setting:
    """Return the setting with these cells; as text where the experiment no longer has it."""
    for setting in experiment.settings:
        if [str(value) for value in setting] == cells:
            return setting
    return tuple(cells)


def _line(cells: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
