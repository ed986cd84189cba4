"""
Some links are wrong: find them
===============================

People judge pairs of wines: same cultivar, or not. One judgement in ten is wrong. The model learns how often links
are wrong and says which ones it does not believe.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from sidelight import GuidedMixture, SideInformation
from sidelight.plots import ClustersDisplay

X, cultivar = load_wine(return_X_y=True, as_frame=True)
random = np.random.default_rng(3)
pairs = np.array([random.choice(len(X), 2, replace=False) for _ in range(120)])
same = cultivar.to_numpy()[pairs[:, 0]] == cultivar.to_numpy()[pairs[:, 1]]
wrong = random.random(len(pairs)) < 0.1
said_same = same ^ wrong
print(f"{wrong.sum()} of {len(pairs)} judgements are wrong")

# %%
# A link with a confidence below one may be wrong; the estimate of how many are is learned.

side = SideInformation.build(len(X), must_link=pairs[said_same], cannot_link=pairs[~said_same], confidence=0.9)
model = GuidedMixture(random_state=0).fit(X, side=side)
print(f"{model.n_clusters_} clusters, agreement with the cultivars {adjusted_rand_score(cultivar, model.labels_):.2f}")
print(f"a link is wrong with probability {model.link_error_:.2f}")

# %%
# The links that the clusters break are the ones to look at again. As a notebook shows them:

model.violations_

# %%
# How many of them are really wrong, and how many of the wrong links are among them:

suspected = {
    tuple(pair) for pair in np.concatenate([model.violations_.must_link, model.violations_.cannot_link]).tolist()
}
mistaken = {tuple(sorted(pair)) for pair in pairs[wrong].tolist()}
print(f"{len(suspected & mistaken)} of {len(suspected)} suspected links are wrong; {len(mistaken)} wrong links in all")

# %%
# Broken links are red.

ClustersDisplay.from_estimator(model, X, side=side)
plt.show()
