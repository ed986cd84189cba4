"""
Texts: what is this paragraph about?
====================================

Help texts of four libraries, a few hundred short paragraphs. The words of a text are counted, reduced to fifty
directions, and clustered with five labels per library. Nothing needs to be downloaded: the texts come with the
libraries.
"""

import inspect
import re

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import scipy
import sklearn
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from sidelight import GuidedMixture


def paragraphs(modules, most=110):
    """Return the first paragraphs of the help texts of functions and classes."""
    texts = []
    for module in modules:
        for name, thing in sorted(vars(module).items()):
            if name.startswith("_") or not callable(thing):
                continue
            words = re.sub(r"[^a-zA-Z ]+", " ", " ".join((inspect.getdoc(thing) or "").split()[:60]))
            if len(words.split()) >= 25:
                texts.append(words)
    return texts[:most]


import matplotlib.axes
import scipy.linalg
import scipy.signal
import scipy.stats
import sklearn.cluster
import sklearn.linear_model
import sklearn.metrics

subjects = {
    "statistics": paragraphs([scipy.stats]),
    "signals": paragraphs([scipy.signal]),
    "learning": paragraphs([sklearn.metrics, sklearn.cluster, sklearn.linear_model]),
    "pictures": paragraphs([matplotlib.pyplot]),
}
texts = [text for group in subjects.values() for text in group]
subject = np.repeat(np.array(list(subjects), dtype=object), [len(group) for group in subjects.values()])
print(len(texts), "texts; one of them:", texts[0][:110], "…")

# %%

vectors = make_pipeline(
    TfidfVectorizer(stop_words="english", min_df=2), TruncatedSVD(50, random_state=0), Normalizer()
).fit_transform(texts)
random = np.random.default_rng(0)
labelled = np.concatenate([random.permutation(np.flatnonzero(subject == name))[:5] for name in subjects])
y = np.full(len(texts), None)
y[labelled] = subject[labelled]
model = GuidedMixture(new_classes=False, random_state=0).fit(vectors, y)

# %%
# Which subject is taken for which, on the texts without a label.

others = np.setdiff1d(np.arange(len(texts)), labelled)
ConfusionMatrixDisplay.from_predictions(subject[others], model.cluster_names_[model.labels_][others], cmap="Blues")
plt.show()

# %%
# The texts that the model is least sure of are short of telling words.

for row in others[np.argsort(model.posterior_[others].max(axis=1))[:3]]:
    print(f"{subject[row]} or {model.cluster_names_[model.labels_[row]]}? {texts[row][:100]} …")
