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
for batch in range(0, 60_000, 3000):
    some = slice(batch, batch + 3000)
    stream.partial_fit(rows[some], y[some])
    means.append(stream.means_)
means = np.array(means)

figure, axis = plt.subplots(figsize=(6, 5))
axis.scatter(*rows[:3000, :2].T, s=2, color="lightgrey")
for cluster, name in enumerate(stream.cluster_names_):
    axis.plot(means[:, cluster, 0], means[:, cluster, 1], ".-", label=name)
axis.legend(frameon=False, title="mean after each batch")
axis.set(xlabel="first column", ylabel="second column")
plt.show()

# %%
# How far the means still move from batch to batch:

moves = np.linalg.norm(np.diff(means, axis=0), axis=2).max(axis=1)
print(np.round(moves[[0, 4, 9, 18]], 3))
