"""
A table that does not fit in memory
===================================

Two ways: a table on disk that is read piece by piece, and a stream of batches. Here 60 000 rows play the part of a
large table.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

from sidelight import BayesianMixture, LabelledMixture

random = np.random.default_rng(0)
centres = np.array([[-4.0, 0, 0, 2], [4, 0, 2, 0], [0, 6, 0, 0]])
kind = random.integers(0, 3, 60_000)
rows = centres[kind] + random.normal(size=(60_000, 4))
y = np.full(60_000, None)
y[:30] = np.array(["left", "right", "top"], dtype=object)[kind[:30]]

# %%
# **From disk.** A ``numpy.memmap`` is a file that looks like an array. The fit passes over it in chunks, and does not
# load it.

with TemporaryDirectory() as folder:
    path = Path(folder) / "rows.npy"
    np.save(path, rows)
    table = np.load(path, mmap_mode="r")
    model = LabelledMixture(random_state=0).fit(table, y)
    names = model.predict(table[:5])
    del table
print(names, model.n_iter_, "iterations")

# %%
# **Batch by batch.** The first batch has the labels. Each further batch is one step; the model can be used after each.

stream, means = BayesianMixture(3, prune=False, random_state=0), []
for batch in range(0, 60_000, 600):
    some = slice(batch, batch + 600)
    stream.partial_fit(rows[some], y[some])
    means.append(stream.means_)

# %%
# The dashed line is the distance that the mean of all rows seen so far would have. The model keeps no batch, and later
# batches count more than earlier ones, so that it can follow a stream that changes; its means come closer more slowly.

order = [["left", "right", "top"].index(name) for name in stream.cluster_names_]
distances = np.linalg.norm(np.array(means) - centres[order], axis=2)
seen = 600 * np.arange(1, 101)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for cluster, name in enumerate(stream.cluster_names_):
    inside = rows[:2000][stream.predict(rows[:2000]) == name]
    left.scatter(*inside[:, :2].T, s=4, label=name)
    right.loglog(seen, distances[:, cluster], label=name)
right.loglog(seen, 2 / np.sqrt(seen / 3), color="grey", linestyle="--", label="2 / √(rows of a cluster)")
left.set(xlabel="first column", ylabel="second column", title="2 000 of the rows, after the last batch")
right.set(xlabel="rows seen", ylabel="distance of the mean from the true centre", title="a batch of 600 rows at a time")
right.legend(frameon=False)
plt.show()
