"""
Cross-validation with links
===========================

Folds that are drawn row by row cut most links. ``LinkedKFold`` keeps linked rows together, and ``LinkScorer`` asks
how many of the links of a test fold the predictions keep.
"""

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import HMRFKMeans, SideInformation
from sidelight.selection import LinkedKFold, LinkScorer
from sidelight.side import draw_links

X, cultivar = load_wine(return_X_y=True)
ids = np.array([f"bottle {number}" for number in range(len(X))])
links = draw_links(cultivar, n_must=60, n_cannot=60, random_state=0)
side = SideInformation.build(len(X), must_link=ids[links.must_link], cannot_link=ids[links.cannot_link], sample_id=ids)
side

# %%
# How many links are whole, in the training rows or in the test rows, with either kind of fold?


def whole(folds):
    """Return the share of links that no fold cuts, on average."""
    pairs = np.concatenate([side.must_link, side.cannot_link])
    return np.mean([(np.isin(pairs, test).sum(axis=1) != 1).mean() for _, test in folds])


print(f"rows at random: {whole(KFold(5, shuffle=True, random_state=0).split(X)):.2f}")
print(f"LinkedKFold:    {whole(LinkedKFold(5, side=side).split(X)):.2f}")

# %%
# With metadata routing on, ``side`` and ``sample_id`` go to the fit, to the folds and to the scorer. Rows are found by
# their ids, so that a link means the same bottles everywhere.

with sklearn.config_context(enable_metadata_routing=True):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), HMRFKMeans(random_state=0)),
        {"hmrfkmeans__n_clusters": [2, 3, 4, 5, 6]},
        cv=LinkedKFold(4),
        scoring=LinkScorer(),
    ).fit(X, side=side, sample_id=ids)
search.best_params_

# %%

found = search.cv_results_
figure, axis = plt.subplots(figsize=(6, 4))
axis.errorbar([2, 3, 4, 5, 6], found["mean_test_score"], yerr=found["std_test_score"], marker="o", capsize=3)
axis.set(xlabel="n_clusters", ylabel="share of held-back links that are kept", xticks=[2, 3, 4, 5, 6])
plt.show()
