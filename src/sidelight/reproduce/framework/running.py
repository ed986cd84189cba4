"""Running an experiment: the missing trials, on all cores, one line on disk for each."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from sidelight.reproduce.framework.experiment import Cell, Experiment, Setting, Summary, Trial, paper
from sidelight.reproduce.framework.journal import Journal, Results


def run(
    paper_name: str,
    experiment_name: str,
    folder: Path,
    *,
    quick: bool = False,
    n_jobs: int = -1,
    advance: Callable[[int, int], None] | None = None,
) -> Summary:
    """Run the trials that are not in the folder yet, and return the summary of all.

    Parameters
    ----------
    paper_name, experiment_name : str
        The first author, and the name of a table or figure.
    folder : Path
        Its file of trials is read and written.
    quick : bool, default False
        Whether to run the quick part only.
    n_jobs : int, default -1
        Processes; -1 for one per core. Results do not depend on it.
    advance : callable, optional
        Called with the number of finished trials and of all trials, at the start and after every trial.

    Returns
    -------
    Summary
        Of all trials that the folder has now.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sidelight.reproduce import run
    >>> with TemporaryDirectory() as folder:
    ...     summary = run("echraibi", "figure-5", Path(folder), quick=True, n_jobs=1)
    """
    experiment = paper(paper_name).experiment(experiment_name)
    journal = Journal.of(experiment, folder)
    trials = experiment.trials(quick=quick)
    missing = [trial for trial in trials if trial not in journal.results]
    report = advance or (lambda finished, all_: None)
    report(len(trials) - len(missing), len(trials))
    for count, (trial, measured) in enumerate(_measured(paper_name, experiment.name, missing, n_jobs), start=1):
        journal.add(trial, measured)
        report(len(trials) - len(missing) + count, len(trials))
    journal.sort()
    return summarise(experiment, journal.results, trials)


def summarise(experiment: Experiment, results: Results, trials: list[Trial]) -> Summary:
    """Gather trials into cells, draws in the order of their seeds."""
    gathered: dict[tuple[Setting, str], list[Mapping[str, float]]] = {}
    for trial in trials:
        if trial in results:
            gathered.setdefault((trial.setting, trial.method), []).append(results[trial])
    cells = {
        key: Cell({name: np.array([draw[name] for draw in draws]) for name in experiment.measures})
        for key, draws in gathered.items()
    }
    return Summary(experiment, cells)


def _measured(
    paper_name: str, experiment_name: str, trials: list[Trial], n_jobs: int
) -> Iterator[tuple[Trial, Mapping[str, float]]]:
    """Yield trials as they are finished."""
    tasks = (delayed(measure_trial)(paper_name, experiment_name, trial) for trial in trials)
    # Few trials are dispatched ahead, so that an interrupted run loses little.
    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)(tasks)


def measure_trial(paper_name: str, experiment_name: str, trial: Trial) -> tuple[Trial, Mapping[str, float]]:
    """Measure one trial, with one thread so that the numbers are the same everywhere."""
    experiment = paper(paper_name).experiment(experiment_name)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # published settings need not converge; their results are reported as they are
        return trial, experiment.measure(*trial)
