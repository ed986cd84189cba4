"""Save a model to a folder, and load it again."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

from sidelight._version import __version__
from sidelight.estimators.registry import all_estimators
from sidelight.exceptions import ForeignFileError
from sidelight.files.checksums import CHECKSUMS, ChecksumError, SpecialFileError, read_checked, write_with_checksums
from sidelight.files.whole import left_behind, recover, whole_folder
from sidelight.persistence.archive import pack, unpack
from sidelight.persistence.decoding import Decoder
from sidelight.persistence.encoding import Encoder, is_estimator

FORMAT = 2
REMEDY = "take a copy that is whole, or save the model again"
_MODEL = "model.json"
_ARRAYS = "arrays.npz"
_FILES = {_MODEL, _ARRAYS, CHECKSUMS}


def save(model: Any, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Save an estimator, fitted or not, to a folder of its own.

    The folder holds ``model.json`` (parameters and structure), ``arrays.npz`` (numbers) and ``SHA256SUMS``. It is there
    whole or not at all.

    Parameters
    ----------
    model : estimator
        One of ``sidelight.all_estimators()``. Parameters and fitted state are saved, all of them. Live random
        generators and functions (callbacks, kernels of one's own) are refused.
    folder : path
        Where to; the folder around it must exist.
    overwrite : bool
        Replace a saved model. Folders that hold anything else are never replaced.

    See Also
    --------
    load : Load a saved estimator.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> import sidelight
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = sidelight.LabelledMixture(3, random_state=0).fit(X)
    >>> with TemporaryDirectory() as place:
    ...     sidelight.save(model, Path(place) / "iris")
    ...     again = sidelight.load(Path(place) / "iris")
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    path = Path(os.path.abspath(folder))  # noqa: PTH100 — Path.resolve would follow a link and replace what it points to
    recover(path)
    if os.path.lexists(path):
        _refuse_to_replace(path, overwrite)
    elif not path.parent.is_dir():
        raise FileNotFoundError(f"folder: {path.parent} does not exist; make it first.")
    files = _encoded(model)
    with whole_folder(path) as partial:
        write_with_checksums(partial, files)


def write_model(model: Any, folder: Path) -> None:
    """Write the files of a saved model to a new folder, in a place that is itself written whole or not at all.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    folder : Path
        Does not exist yet.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import sidelight
    >>> from sidelight.persistence import write_model
    >>> model = sidelight.LabelledMixture(2, random_state=0).fit([[0.0], [0.2], [9.0], [9.3]])
    >>> with TemporaryDirectory() as folder:
    ...     write_model(model, Path(folder) / "model")
    ...     sidelight.load(Path(folder) / "model").n_clusters_
    2
    """
    files = _encoded(model)
    folder.mkdir()
    write_with_checksums(folder, files)


def load(folder: str | os.PathLike[str]) -> Any:
    """Load a saved estimator.

    Nothing in the folder is run: only sidelight's own estimators and records can come out of it.

    Parameters
    ----------
    folder : path
        What `save` wrote.

    Returns
    -------
    estimator
        As it was saved.

    Raises
    ------
    ForeignFileError
        If the folder does not hold a saved model, is incomplete, has been changed, or has a later format.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import sidelight
    >>> model = sidelight.LabelledMixture(2, random_state=0).fit([[0.0], [0.2], [9.0], [9.3]])
    >>> with TemporaryDirectory() as folder:
    ...     sidelight.save(model, Path(folder) / "model")
    ...     again = sidelight.load(Path(folder) / "model")
    >>> bool((again.predict([[0.1], [9.1]]) == model.predict([[0.1], [9.1]])).all())
    True
    """
    path = Path(folder)
    if not path.is_dir():
        left = left_behind(path)
        hint = f"; an interrupted save has left {left[-1]} beside it, which is the model before" if left else ""
        problem = "is not a folder" if path.exists() else "does not exist"
        raise ForeignFileError(f"{path} {problem}; give the folder that sidelight.save wrote{hint}.")
    described = _described(path)
    content = _read(path, _ARRAYS)
    with _naming(path / _ARRAYS):
        arrays = unpack(content)
    all_estimators()  # imports the classes that models are made of, which the file calls by their tags
    decoder = Decoder(arrays, described["format"])
    with _naming(path / _MODEL):
        model = decoder.decode(described["model"])
        if not is_estimator(type(model)):
            raise ForeignFileError("it describes no estimator")
    if decoder.unused:
        raise ForeignFileError(
            f"{path / _ARRAYS} holds arrays that {_MODEL} does not name: {sorted(decoder.unused)}; {REMEDY}."
        )
    return model


def _encoded(model: Any) -> dict[str, bytes]:
    """Return the files of a saved model, by their names."""
    if not is_estimator(type(model)):
        known = ", ".join(name for name, _ in all_estimators())
        raise TypeError(f"model must be an estimator of sidelight, not {type(model).__name__}; one of {known}.")
    if hasattr(model, "_skl_callbacks"):
        # What watches a fit is not part of the model.
        model = copy(model).set_callbacks()
    encoder = Encoder()
    content = {"format": FORMAT, "sidelight": __version__, "model": encoder.encode(model, (type(model).__name__,))}
    described = json.dumps(content, allow_nan=False, indent=1).encode("ascii") + b"\n"
    return {_MODEL: described, _ARRAYS: pack(encoder.arrays)}


def _read(folder: Path, name: str) -> bytes:
    """Return the content of a file of a saved model, which must be what was written."""
    try:
        return read_checked(folder, name)
    except FileNotFoundError as error:
        raise ForeignFileError(
            f"{error.filename} is missing, so {folder} is not a whole saved model; give the folder that sidelight.save "
            "wrote, or a copy that is whole."
        ) from None
    except IsADirectoryError as error:
        raise ForeignFileError(f"{error.filename} is a folder, so {folder} is not a saved model.") from None
    except (ChecksumError, SpecialFileError) as error:
        raise ForeignFileError(f"{error}; {REMEDY}.") from None
    except OSError as error:
        raise ForeignFileError(
            f"{error.filename} cannot be read ({error.strerror}), so {folder} is not a saved model that can be used; "
            f"{REMEDY}."
        ) from error


def _described(path: Path) -> dict[str, Any]:
    """Return the content of a folder's JSON file, of a format that can be read."""
    content = _read(path, _MODEL)
    with _naming(path / _MODEL):
        described = json.loads(content)
        number, version = described["format"], described["sidelight"]
        if type(number) is not int or number < 1:
            raise ForeignFileError(f"its format is {number!r}")
    if number > FORMAT:
        raise ForeignFileError(
            f"{path / _MODEL} is of format {number}, written by sidelight {version}; this is sidelight {__version__}, "
            f"which reads formats up to {FORMAT}. Install sidelight {version} or newer."
        )
    return dict(described)


def _refuse_to_replace(path: Path, overwrite: bool) -> None:
    """Refuse to replace anything except a saved model."""
    if not overwrite:
        raise FileExistsError(f"folder: {path} exists already; choose another name, or pass overwrite=True.")
    if path.is_symlink() or not path.is_dir():
        raise FileExistsError(f"folder: {path} is not a folder, so it is not overwritten; choose another name.")
    found = {entry.name for entry in path.iterdir()}
    if found != _FILES:
        others = sorted(found - _FILES) or sorted(found)
        holds = f"holds {', '.join(others[:3])}{' and more' if len(others) > 3 else ''}" if others else "is empty"
        raise FileExistsError(
            f"folder: {path} {holds}, so it is not a saved model and is not overwritten; choose another name."
        )
    try:
        _read(path, _MODEL)
    except ForeignFileError as problem:
        raise FileExistsError(
            f"folder: {path} is not overwritten, since it is not a whole saved model ({problem}) Choose another name, "
            "or delete it first."
        ) from problem


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn any error about the content of a file into one that names the file.

    The content may come from anywhere, so any part of it may be missing, of another type or too large, and the parsers
    of NumPy, SciPy and the standard library answer with errors of many types.
    """
    try:
        yield
    except Exception as problem:
        reason = str(problem) if isinstance(problem, ForeignFileError) else "it is not as sidelight writes it"
        raise ForeignFileError(f"{path} cannot be read as a saved model: {reason}; {REMEDY}.") from problem
