"""
How many clusters?
==================

Three answers to the same question, on a table of wines whose three cultivars are not shown to the models.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from sidelight import BayesianMixture, LabelledMixture
from sidelight.plots import ClustersDisplay, SelectionDisplay
from sidelight.selection import select_n_components

X, cultivar = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)[:, [0, 6, 9, 12]]

# %%
# **Let the model find it.** A Bayesian mixture starts with many components and keeps those that the table needs.

model = BayesianMixture(random_state=0).fit(X)
print(f"{model.n_clusters_} clusters, agreement with the cultivars {adjusted_rand_score(cultivar, model.labels_):.2f}")

# %%
# **Try numbers and compare.** BIC weighs the fit against the number of parameters; the ring marks the choice.

found = select_n_components(LabelledMixture(covariance_type="full", random_state=0), X, range(1, 7))
SelectionDisplay.from_result(found)
plt.show()

# %%
# **Ask rows that were held out.** The likelihood of rows that the fit has not seen needs no count of parameters.

held_out = select_n_components(
    LabelledMixture(covariance_type="full", random_state=0), X, range(1, 7), criterion="held_out", cv=3
)
SelectionDisplay.from_result(held_out)
plt.show()

# %%
# The clusters of the first answer:

ClustersDisplay.from_estimator(model, X)
plt.show()
