"""What is said of the steps of a fit, and of the time that is left."""

import numpy as np
import pytest

from sidelight import GuidedMixture
from sidelight.cli.steps import Steps
from sidelight.inference.progress import Progress


def steps(most, *moments):
    """Return the words of steps, whose clock stands at these moments."""
    return Steps(most, 0.5, iter(moments).__next__)


def test_the_time_of_a_step_is_that_of_the_steps_after_the_first():
    say = steps(10, 0, 60, 62, 64, 66)
    said = [say(Progress(number, -3.0, 0.1)) for number in (1, 2, 3)]
    assert said[0] == "step 1, bound -1.5 per row"
    assert said[1] == "step 2, bound -1.5 per row, at most 16 s left"
    assert said[2] == "step 3, bound -1.5 per row, at most 14 s left"
    assert say(Progress(4, -3.0, 0.1, "pruning")) == "step 4, bound -1.5 per row"


def test_rounds_of_experts_have_a_limit_too():
    say = steps(None, 0, 4, 6)
    assert say(Progress(1, -3.0, 0.1, "round", most=3)) == "round 1 of up to 3, at most 8 s left"
    assert say(Progress(2, -3.0, 0.1, "round", most=3)) == "round 2 of up to 3, at most 2 s left"
    assert steps(None, 0, 1)(Progress(1, -3.0, 0.1)) == "step 1, bound -1.5 per row"


@pytest.mark.parametrize(
    "said", [{"y": True}, {"y": True, "must_link": [(0, 2), (1, 3)]}, {"must_link": [(0, 2), (1, 3)]}]
)
@pytest.mark.parametrize("n_clusters", [None, 2, 3])
def test_a_guided_fit_takes_no_more_rounds_than_it_says(said, n_clusters):
    random = np.random.default_rng(0)
    truth = np.arange(60) % 3
    X = random.normal(size=(60, 3)) + 8 * truth[:, None]
    # The third class has no label.
    y = np.where((np.arange(60) < 24) & (truth < 2), truth, -1)
    heard = []
    model = GuidedMixture(n_clusters, random_state=0, callbacks=[heard.append])
    model.fit(X, **{**said, **({"y": y} if "y" in said else {})})
    assert len({progress.most for progress in heard}) == 1
    assert len(heard) <= heard[0].most
