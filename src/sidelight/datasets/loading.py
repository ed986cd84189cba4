"""Loading a data set: from a folder, from the cache, from scikit-learn or from OpenML, checked before use."""

import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.datasets

from sidelight._typing import AnyArray
from sidelight.datasets.catalogue import CATALOGUE, Entry
from sidelight.exceptions import DatasetError

FOLDER_VARIABLE = "SIDELIGHT_DATA"


class Dataset(NamedTuple):
    """A table with its classes.

    Attributes
    ----------
    X : (n, d) data frame or array
        A data frame where features have names, an array where they are pixels.
    y : (n,)
        Names of the classes; integers where the names are numbers.
    description : str

    Examples
    --------
    >>> from sidelight.datasets import two_moons
    >>> X, y, description = two_moons(n=50, random_state=0)
    >>> X.shape, description
    ((50, 2), 'Two moons.')
    """

    X: Any
    y: AnyArray
    description: str


def load(name: str) -> Dataset:
    """Load a data set by name.

    Sets that scikit-learn does not ship are read from the folder that the environment variable SIDELIGHT_DATA names,
    else from the user's cache, else downloaded from OpenML into the cache. Whatever the source, shape and class counts
    are compared with the catalogue.

    Parameters
    ----------
    name : str
        One of ``sidelight.datasets.CATALOGUE``.

    Returns
    -------
    Dataset
        The table, the classes and a description.

    Examples
    --------
    >>> from sidelight.datasets import load
    >>> X, y, description = load("iris")
    >>> X.shape, description
    ((150, 4), 'Iris flowers.')
    """
    try:
        entry = CATALOGUE[name]
    except KeyError:
        raise DatasetError(
            f"name={name!r} is not in the catalogue of data sets; choose one of {', '.join(CATALOGUE)}."
        ) from None
    if entry.bundled is not None:
        X, y = _from_scikit_learn(entry.bundled)
        return Dataset(X, checked(entry, X, y, f"scikit-learn's {entry.bundled}"), entry.about)
    path = _find(name, entry)
    X, y = _read_arrays(path) if entry.stored == "npz" else _read_table(path)
    return Dataset(X, checked(entry, X, y, str(path)), entry.about)


def checked(entry: Entry, X: Any, y: AnyArray, source: str) -> AnyArray:
    """Return the classes, as integers where all names are numbers, if shape and class counts match the catalogue."""
    if X.shape != entry.shape:
        raise DatasetError(f"{source} has the shape {X.shape} and should have {entry.shape}: not the set it claims.")
    found = Counter(str(name) for name in y)
    if found != dict(entry.classes):
        raise DatasetError(
            f"{source} has the classes {dict(sorted(found.items()))} and should have {dict(entry.classes)}: "
            f"not the set it claims."
        )
    return y.astype(np.int64) if all(name.isdigit() for name in entry.classes) else y


def _from_scikit_learn(loader: str) -> tuple[Any, AnyArray]:
    as_frame = loader != "load_digits"  # pixels have no names
    bunch = getattr(sklearn.datasets, loader)(as_frame=as_frame)
    return bunch.data, np.asarray(bunch.target_names)[np.asarray(bunch.target)]


def _find(name: str, entry: Entry) -> Path:
    """Return the file of a data set; download it if there is none."""
    file = f"{name}.{entry.stored}"
    given = os.environ.get(FOLDER_VARIABLE)
    folders = [*([Path(given)] if given else []), cache_folder()]
    for folder in folders:
        if (folder / file).is_file():
            return folder / file
    tried = " or ".join(str(folder) for folder in folders)
    if entry.openml is None:
        form = "arrays X and y" if entry.stored == "npz" else "a table with the class in a last column, target"
        raise DatasetError(
            f"{file} is not in {tried}, and OpenML does not have it. Make it ({form}) from {entry.origin}, and name "
            f"its folder by {FOLDER_VARIABLE}."
        )
    try:
        return download(name, entry, cache_folder() / file)
    except OSError as error:
        raise DatasetError(
            f"{file} is not in {tried}, and OpenML cannot be reached ({error}): connect to the network, or put the "
            f"file in a folder and name that by {FOLDER_VARIABLE}."
        ) from error


def cache_folder() -> Path:
    """Return the folder of downloaded files."""
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(home) / "sidelight"


def _read_table(path: Path) -> tuple[Any, AnyArray]:
    try:
        import pandas as pd
    except ImportError:
        raise DatasetError(f"reading {path.name} needs pandas: pip install 'sidelight[table]'") from None
    try:
        frame = pd.read_csv(path, dtype={"target": str})
    except (OSError, EOFError, UnicodeError, ValueError) as error:
        raise DatasetError(f"{path} cannot be read ({error}); remove it to have it fetched again.") from error
    if "target" not in frame:
        raise DatasetError(f"{path} has no column target, which should hold the classes.")
    return frame.drop(columns="target"), np.asarray(frame["target"], dtype=str)


def _read_arrays(path: Path) -> tuple[Any, AnyArray]:
    import zipfile

    try:
        with np.load(path, allow_pickle=False) as stored:
            X = stored["X"] / float(stored["scale"]) if "scale" in stored else stored["X"]
            return X, stored["y"]
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DatasetError(f"{path} cannot be read ({error}); remove it to have it fetched again.") from error


def download(name: str, entry: Entry, path: Path) -> Path:
    """Fetch a data set from OpenML through scikit-learn, check it and store it at ``path``, which is returned."""
    try:
        with warnings.catch_warnings():
            # The error after the last attempt says the same.
            warnings.filterwarnings("ignore", message="A network error occurred")
            bunch = sklearn.datasets.fetch_openml(
                data_id=entry.openml, as_frame=True, data_home=path.parent / "openml", n_retries=1
            )
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
