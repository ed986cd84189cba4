"""What a refit says to the reader of the page."""

import numpy as np
import pandas as pd
import pyarrow as pa

from sidelight import SideInformation
from sidelight.studio.fitting import Job, refit
from sidelight.studio.identity import Identity
from sidelight.studio.judging import PairAnswer
from sidelight.studio.pooling import Extra
from sidelight.studio.table import Settings, StudioTable


def test_answers_that_are_probably_wrong_are_named_by_ids():
    random = np.random.default_rng(0)
    group = np.arange(60) % 3
    sizes = 8.0 * group + random.normal(size=60)
    ids = np.array([f"r{row}" for row in range(60)])
    settings = Settings("things.csv", "id", None, {"size": "gaussian"}, {})
    cells, features = pa.table({"size": sizes.round(2).astype(str)}), pd.DataFrame({"size": sizes})
    table = StudioTable(settings, ids, cells, features, sizes[:, None], SideInformation.build(60), b"{}")
    pairs = [(row, row + step) for row in range(0, 48, 2) for step in (1, 3)]
    wrong = set(pairs[::11])
    answers = [PairAnswer(*pair, "Ada", (pair[0] % 3 == pair[1] % 3) != (pair in wrong)) for pair in pairs]
    job = Job(1, len(answers), answers, Extra([], {}, [], []), {}, {}, {}, 20)
    fit, _ = refit(table, job, Identity(np.empty(0, dtype=np.int64), {}), None)
    (doubt,) = fit.summary.doubts
    assert doubt.startswith(f"{len(wrong)} of {len(pairs)} links are probably wrong")
    assert all(f"r{first} and r{second}" in doubt for first, second in wrong)
    assert "violations_" not in doubt
