"""Download a data set from OpenML and store it in the cache."""

import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._typing import AnyArray
from sidelight.datasets.catalogue import Entry
from sidelight.datasets.loading import checked
from sidelight.exceptions import DatasetError


def download(name: str, entry: Entry, path: Path) -> Path:
    """Fetch a data set from OpenML through scikit-learn, check it and store it; returns where.

    Parameters
    ----------
    name : str
    entry : Entry
    path : Path
        Where to store it; a set that differs from the catalogue is not stored.
    """
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # The error after the last attempt says the same.
            warnings.filterwarnings("ignore", message="A network error occurred")
            bunch = fetch_openml(data_id=entry.openml, as_frame=True, data_home=path.parent / "openml", n_retries=1)
    except ImportError:
        raise DatasetError(f"downloading {name} needs pandas: pip install 'sidelight[table]'") from None
    X, y = as_in_catalogue(entry, bunch.data, np.asarray(bunch.target, dtype=str), f"OpenML's data set {entry.openml}")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, suffix=f".{entry.stored}")
    os.close(handle)
    if entry.stored == "npz":
        np.savez_compressed(unfinished, X=X.to_numpy(dtype=np.uint8), y=y)
    else:
        X.assign(target=y).to_csv(unfinished, index=False)
    return Path(unfinished).replace(path)


def as_in_catalogue(entry: Entry, X: Any, y: AnyArray, source: str) -> tuple[Any, AnyArray]:
    """Return the rows and classes of a downloaded table in the form of the catalogue, checked.

    Rows before ``first_row`` and rows with missing cells are left out. Classes have their names in the catalogue; where
    the names at OpenML differ, classes are matched by their counts.
    """
    whole = np.asarray(X.notna().all(axis=1)) & (np.arange(len(X)) >= entry.first_row)
    X, y = X.loc[whole].reset_index(drop=True), y[whole]
    counts = Counter(str(name) for name in y)
    translation = _translation(counts, entry.classes, source)
    y = np.array([translation[str(name)] for name in y], dtype=str)
    checked(entry, X, y, source)
    return X, y


def _translation(found: Mapping[str, int], expected: Mapping[str, int], source: str) -> dict[str, str]:
    if set(found) == set(expected):
        return {name: name for name in found}
    by_count = {count: name for name, count in expected.items()}
    if len(by_count) < len(expected) or sorted(found.values()) != sorted(expected.values()):
        raise DatasetError(f"{source} has the classes {dict(found)} and should have {dict(expected)}.")
    return {name: by_count[count] for name, count in found.items()}
