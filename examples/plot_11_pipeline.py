"""
In a pipeline, with cross-validation
====================================

sidelight's estimators are steps of scikit-learn's pipelines. Labels may be strings, and may be missing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import LabelledMixture
from sidelight.selection import labelled_accuracy

wine = load_wine(as_frame=True)
X = wine.data
cultivar = np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)[wine.target]

# %%
# **Every row has a label.** ``predict`` answers in the words of ``y``, so that scikit-learn's own scorers work.
# The folds are given, because scikit-learn does not shuffle and stratify for estimators that also cluster.

pipeline = make_pipeline(StandardScaler(), LabelledMixture(random_state=0))
folds = StratifiedKFold(5, shuffle=True, random_state=0)
cross_val_score(pipeline, X, cultivar, cv=folds, scoring="accuracy")

# %%
# **A search over parameters** works as usual.

search = GridSearchCV(
    pipeline,
    {"labelledmixture__covariance_type": ["full", "tied", "diag", "spherical"], "labelledmixture__prior_rows": [1, 10]},
    cv=folds,
    scoring="accuracy",
).fit(X, cultivar)
search.best_estimator_

# %%

scores = search.cv_results_["mean_test_score"].reshape(4, 2)
figure, axis = plt.subplots(figsize=(5, 3.4), layout="constrained")
axis.imshow(scores, cmap="Blues", vmin=scores.min() - 0.02, aspect="auto")
axis.set_xticks(range(2), [1, 10])
axis.set_yticks(range(4), ["full", "tied", "diag", "spherical"])
axis.set(xlabel="prior_rows", ylabel="covariance_type", title="accuracy in five folds")
for (row, column), score in np.ndenumerate(scores):
    axis.text(column, row, f"{score:.3f}", ha="center", va="center", color="white" if score > 0.98 else "black")
plt.show()

# %%
# **Most rows have no label.** ``labelled_accuracy`` scores those that have one. The others still take part in ``fit``.

y = np.where(np.random.default_rng(0).random(len(X)) < 0.3, cultivar, None)
print(f"{sum(name is not None for name in y)} labels")
strata = np.array([str(name) for name in y])
partial = [(train, test) for train, test in folds.split(X, strata)]
cross_val_score(pipeline, X, y, cv=partial, scoring=labelled_accuracy)
