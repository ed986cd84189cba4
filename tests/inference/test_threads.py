"""Threads: every part once, in order, and never many results that wait to be taken."""

import threading

import pytest

from sidelight.inference.executors.threads import Threads


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_part_is_worked_on_once_and_results_come_in_order(n_threads):
    workers = []

    def make_worker():
        workers.append(object())
        return workers[-1]

    found = list(Threads(n_threads).run(lambda worker, part: (workers.index(worker), part), range(40), make_worker))
    assert [part for _, part in found] == list(range(40))
    assert len(workers) == n_threads


def test_few_results_wait_to_be_taken():
    done, lock = [], threading.Lock()

    def work(_, part):
        with lock:
            done.append(part)
        return part

    most = 0
    for taken, _ in enumerate(Threads(2).run(work, range(500), object), 1):
        most = max(most, len(done) - taken)
    assert most <= 10
    assert sorted(done) == list(range(500))


def test_an_error_reaches_the_caller():
    def work(_, part):
        if part == 7:
            raise ValueError("part 7")

    with pytest.raises(ValueError, match="part 7"):
        list(Threads(3).run(work, range(20), object))
