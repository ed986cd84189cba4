"""Saved models that were changed, with checksums that agree: each is refused, or loads and harms nobody."""

import copy
import functools
import hashlib
import io
import json
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import sidelight
from sidelight import all_estimators
from sidelight.exceptions import ForeignFileError

_STRANGE: tuple[Any, ...] = (
    *(None, True, -1, 0, 1e308, 10**30, 2**63, "", "x" * 1000, "\u0000", [], {}, [[[]]], {"a": {}}),
    *("NaN", "array", "1e999", "__class__", "os.system", 10**400, -(10**18), 0.5),
)
_NUMBERS = ("n_clusters", "n_classes", "n_processes", "n_components")


@functools.cache
def _whole(name: str) -> dict[str, bytes]:
    """Return the files of a saved model, fitted to a few rows."""
    estimator = dict(all_estimators())[name]
    known = estimator().get_params()
    parameters: dict[str, Any] = {each: 2 for each in _NUMBERS if each in known}
    parameters |= {"random_state": 0} if "random_state" in known else {}
    X = np.random.default_rng(0).normal(size=(24, 2)) + 8 * (np.arange(24) % 2)[:, None]
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        place = Path(folder) / "model"
        sidelight.save(estimator(**parameters).fit(X, np.where(np.arange(24) < 6, np.arange(24) % 2, -1)), place)
        return {path.name: path.read_bytes() for path in place.iterdir()}


def mutated(random: np.random.Generator) -> dict[str, bytes]:
    """Return the files of a saved model with something changed."""
    names = [name for name, _ in all_estimators()]
    files = dict(_whole(names[random.integers(len(names))]))
    match random.integers(5):
        case 0:
            name = str(random.choice(["model.json", "arrays.npz"]))
            files[name] = _other_bytes(random, files[name])
        case 1 | 2 | 3:
            described = json.loads(files["model.json"])
            for _ in range(random.integers(1, 4)):
                _change_value(random, described)
            files["model.json"] = json.dumps(described).encode()
        case 4:
            files["arrays.npz"] = _other_arrays(random, files["arrays.npz"])
    return files


def _other_bytes(random: np.random.Generator, content: bytes) -> bytes:
    changed = bytearray(content)
    for at in random.integers(0, len(content), random.integers(1, 5)):
        changed[at] = random.integers(256)
    return bytes(changed[: random.integers(1, len(changed))] if random.random() < 0.2 else changed)


def _change_value(random: np.random.Generator, value: Any) -> None:
    """Replace, remove or add something at a random place within a JSON value."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = keys[random.integers(len(keys))]
        inner = value[key]
        if isinstance(inner, dict | list) and inner and random.random() < 0.8:
            value = inner
            continue
        match random.integers(4):
            case 0:
                del value[key]
            case 1 if isinstance(value, list):
                value.extend(copy.deepcopy(value * int(random.integers(1, 30))))
            case 1:
                value["further"] = copy.deepcopy(inner)
            case _:
                value[key] = copy.deepcopy(_STRANGE[random.integers(len(_STRANGE))])
        return


def _other_arrays(random: np.random.Generator, content: bytes) -> bytes:
    with np.load(io.BytesIO(content)) as stored:
        arrays = {name: stored[name] for name in stored.files}
    name = list(arrays)[random.integers(len(arrays))]
    array = arrays[name]
    match random.integers(6):
        case 0:
            arrays[name] = np.full_like(array, np.nan) if array.dtype.kind == "f" else array * 0 - 1
        case 1:
            arrays[name] = np.repeat(array, 3, axis=0) if array.ndim else np.stack([array] * 3)
        case 2:
            arrays[name] = array.astype(str)
        case 3:
            arrays[name] = array[..., None]
        case 4:
            arrays[name] = array[:0] if array.ndim else array
        case 5:
            del arrays[name]
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()


def complaint(number: int) -> str | None:
    """Return what is wrong with how the changed model of a number loads, None if nothing is."""
    files = mutated(np.random.default_rng(number))
    place = Path(tempfile.mkdtemp())
    try:
        for name in ("arrays.npz", "model.json"):
            (place / name).write_bytes(files[name])
        sums = (f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in ("arrays.npz", "model.json"))
        (place / "SHA256SUMS").write_text("".join(sums), encoding="ascii")
        return _loaded(place)
    finally:
        shutil.rmtree(place)


def _loaded(place: Path) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = sidelight.load(place)
        except ForeignFileError:
            return None
        except Exception as error:
            return f"load: {type(error).__name__}: {error}"
        try:
            # A model of other numbers predicts other things, or cannot; it must not take all memory.
            if hasattr(model, "predict"):
                model.predict(np.zeros((3, 2)))
        except MemoryError as error:
            return f"predict: MemoryError: {error}"
        except Exception:
            return None
    return None
