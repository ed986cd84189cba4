"""sidelight's estimators as the clustering model of BERTopic."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidelight import LabelledMixture

WORDS = {0: "river water fish boat", 1: "engine wheel road car", 2: "bread flour oven dough"}


@pytest.mark.filterwarnings("ignore")
def test_topics_with_a_few_labels():
    bertopic = pytest.importorskip("bertopic", reason="bertopic is not installed: pip install 'sidelight[topics]'")
    from bertopic.dimensionality import BaseDimensionalityReduction

    X, subject = make_blobs(60, centers=[[0, 0, 0], [9, 0, 0], [0, 9, 9]], random_state=0)
    texts = [WORDS[number] for number in subject]
    y = np.where(np.arange(60) % 10 < 2, subject, -1)
    topics = bertopic.BERTopic(
        hdbscan_model=LabelledMixture(random_state=0),
        umap_model=BaseDimensionalityReduction(),
        embedding_model=None,
        calculate_probabilities=False,
    )
    found, _ = topics.fit_transform(texts, embeddings=X, y=y)
    assert len(set(zip(found, subject, strict=True))) == 3
    placed, _ = topics.transform(texts[:5], embeddings=X[:5])
    assert list(placed) == list(found[:5])
