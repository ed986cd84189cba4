"""GraphPropagation on a large table: elapsed time, including the neighbour graph.

python benchmarks/propagation.py [--rows 100000]
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_blobs

from sidelight import GraphPropagation
from sidelight.side import draw_labels

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    n = parser.parse_args().rows
    X, truth = make_blobs(n, n_features=10, centers=10, cluster_std=4.0, random_state=0)
    y = draw_labels(truth, number=500, random_state=0)
    start, cpu = time.perf_counter(), time.process_time()
    model = GraphPropagation(random_state=0, n_jobs=2).fit(X, y)
    print(
        f"{n} rows, 10 features, 10 neighbours, 10 classes, 500 labels: {time.perf_counter() - start:.1f} s elapsed, "
        f"{time.process_time() - cpu:.1f} s of CPU, {model.n_iter_} iterations, "
        f"{np.mean(model.labels_[y < 0] == truth[y < 0]):.3f} of the unlabelled rows right"
    )
