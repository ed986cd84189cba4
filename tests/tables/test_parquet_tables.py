"""Parquet files and folders as tables: the same cells, the same kinds, the same fit as in memory."""

import warnings

import numpy as np
import pandas as pd
import pytest

import sidelight as sl
from sidelight.tables import parquet, schema_sample
from sidelight.tables.parquet import ParquetTable
from sidelight.tables.schema import Schema, learn_schema
from sidelight.tables.table import CHUNK_ROWS
from sidelight.tables.validation import as_frame

MIXTURES = [
    sl.BayesianMixture(6, random_state=0),
    sl.LabelledMixture(random_state=0),
    sl.EquivalenceMixture(3, random_state=0),
    sl.PairwiseMixture(3, random_state=0),
    sl.PosteriorConstraintMixture(3, random_state=0),
    sl.ClassMixture(3, random_state=0),
]


def numbers(n, seed=0, missing=0.0):
    random = np.random.default_rng(seed)
    classes = random.integers(3, size=n)
    X = random.normal(size=(n, 3)) + 5 * np.eye(3)[classes]
    X[random.random(X.shape) < missing] = np.nan
    return X, classes


def write(folder, frame, rows_per_file, row_group_size=None):
    """Write a frame as files whose names sort otherwise by letters than by numbers."""
    folder.mkdir(exist_ok=True)
    for number, start in enumerate(range(0, len(frame), rows_per_file)):
        frame[start : start + rows_per_file].to_parquet(
            folder / f"part-{number}.parquet", index=False, row_group_size=row_group_size
        )
    return folder


def mixed(n, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "length": random.normal(size=n),
            "count": random.poisson(3, size=n),
            "name": random.choice(["red", "green", "blue"], size=n),
            "flag": random.random(n) < 0.3,
            "size": pd.Categorical(random.choice(["s", "m", "l"], size=n), categories=["s", "m", "l"], ordered=True),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(300, size=n), unit="D"),
        }
    )
    frame.loc[random.random(n) < 0.05, "length"] = np.nan
    frame.loc[random.random(n) < 0.05, "name"] = None
    return frame


def test_rows_come_as_they_stand(tmp_path):
    X, _ = numbers(3 * CHUNK_ROWS + 100, missing=0.1)
    folder = write(tmp_path / "t", pd.DataFrame(X, columns=list("abc")), 2500, row_group_size=700)
    table = ParquetTable(folder).encoded(Schema.uniform("gaussian", 3))
    assert table.shape == X.shape
    for chunk in table.chunks():
        np.testing.assert_array_equal(table.take(chunk), X[chunk])
        inner = np.arange(chunk.start, chunk.stop, 7)
        np.testing.assert_array_equal(table.take(inner), X[inner])
        table.release(chunk)
    scattered = np.array([20_000, 3, 9_999, 3])
    np.testing.assert_array_equal(table.gather(scattered), X[scattered])
    np.testing.assert_array_equal(table.take(scattered), X[scattered])
    table.hold(np.array([3, 9_999]))
    table.hold(scattered)
    np.testing.assert_array_equal(table.take(scattered), X[scattered])
    assert table.take(np.empty(0, dtype=np.int64)).shape == (0, 3)
    doubled = table.mapped(lambda rows: 2 * rows)
    np.testing.assert_array_equal(doubled.take(table.chunks()[1]), 2 * X[table.chunks()[1]])


def test_single_precision_stays_and_columns_are_chosen(tmp_path):
    X, _ = numbers(50)
    frame = pd.DataFrame(X.astype(np.float32), columns=list("abc"), index=np.arange(50) + 7)
    frame.to_parquet(tmp_path / "t.parquet")
    table = ParquetTable(tmp_path / "t.parquet", columns=["c", "a"])
    assert repr(table) == "ParquetTable(50 rows, 2 columns, 1 file)"
    values = table.encoded(Schema.uniform("gaussian", 2)).take(slice(0, 50))
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values, X.astype(np.float32)[:, [2, 0]])
    assert ParquetTable(tmp_path / "t.parquet").columns == ("a", "b", "c")  # the index is not a column


@pytest.mark.parametrize("estimator", MIXTURES, ids=lambda model: type(model).__name__)
def test_every_mixture_gives_the_bytes_of_an_array(tmp_path, estimator):
    n = CHUNK_ROWS + 900
    X, classes = numbers(n)
    frame = pd.DataFrame(X, columns=list("abc"))
    folder = write(tmp_path / "t", frame, 4000)
    links = [(row, n - 1 - row) for row in range(30) if classes[row] == classes[n - 1 - row]]
    known = {"must_link": links} if "must_link" in estimator.takes else {}
    labels = np.where(np.arange(n) % 1000 == 0, classes, -1) if "labels" in estimator.takes else None
    in_memory = estimator.fit(X, labels, **known).__dict__.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = estimator.set_params(n_jobs=2).fit(str(folder), labels, **known)
    np.testing.assert_array_equal(fitted.labels_, in_memory["labels_"])
    np.testing.assert_array_equal(fitted.means_, in_memory["means_"])
    assert fitted.lower_bounds_ == in_memory["lower_bounds_"]
    np.testing.assert_array_equal(fitted.predict(folder), fitted.predict(frame))
    np.testing.assert_allclose(fitted.score_samples(folder), fitted.score_samples(frame), rtol=1e-12)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("told", ["labels and links", "nothing"])
def test_guided_mixture_gives_what_an_array_gives(tmp_path, told):
    n = 900
    X, classes = numbers(n)
    folder = write(tmp_path / "t", pd.DataFrame(X, columns=list("abc")), 400)
    # Experts do not look at rows that count nothing, as they do not at most rows of a large table.
    known = {"sample_weight": np.where(np.arange(n) % 3 == 0, 1.0, 0.0)}
    if told != "nothing":
        known["y"] = np.where(np.arange(n) % 50 == 0, classes, -1)
        known["cannot_link"] = [(row, n - 1 - row) for row in range(30) if classes[row] != classes[n - 1 - row]]
    in_memory, found = (sl.GuidedMixture(random_state=0).fit(given, **known) for given in (X, folder))
    np.testing.assert_array_equal(found.labels_, in_memory.labels_)
    np.testing.assert_array_equal(found.posterior_, in_memory.posterior_)
    assert str(found.violations_) == str(in_memory.violations_)
    np.testing.assert_array_equal(found.predict(folder), in_memory.predict(X))
    np.testing.assert_array_equal(found.predict_proba(folder), in_memory.predict_proba(X))
    for name, opinion in found.expert_probabilities(folder).items():
        np.testing.assert_array_equal(opinion, in_memory.expert_probabilities(X)[name])


def test_mixed_columns_give_the_bytes_of_a_frame(tmp_path):
    frame = mixed(2000)
    folder = write(tmp_path / "t", frame, 600)
    in_memory = sl.BayesianMixture(4, power="auto", random_state=0).fit(frame)
    fitted = sl.BayesianMixture(4, power="auto", random_state=0).fit(folder)
    assert fitted._schema.kinds == in_memory._schema.kinds
    np.testing.assert_array_equal(fitted.labels_, in_memory.labels_)
    np.testing.assert_array_equal(fitted.posterior_, in_memory.posterior_)
    new = mixed(50, seed=1)
    np.testing.assert_array_equal(fitted.predict_proba(new), in_memory.predict_proba(new))


def test_an_array_on_disk_goes_by_its_path(tmp_path):
    X, _ = numbers(500)
    np.save(tmp_path / "t.npy", X)
    by_path = sl.LabelledMixture(3, random_state=0).fit(tmp_path / "t.npy")
    np.testing.assert_array_equal(by_path.means_, sl.LabelledMixture(3, random_state=0).fit(X).means_)


def test_rare_cells_decide_the_kinds_of_large_tables(tmp_path, monkeypatch):
    random = np.random.default_rng(2)
    frame = mixed(5000).assign(
        rare=np.where(np.arange(5000) == 4321, 1.0, 0.0), grade=random.choice([1, 2, 5], size=5000, p=[0.2, 0.2, 0.6])
    )
    frame["hours"] = frame["grade"].astype(float)
    frame.loc[1235, "hours"] = 2.5
    frame.loc[1234, "grade"] = 4
    frame.loc[17, "name"] = "violet"
    frame.loc[18, "count"] = -1
    folder = write(tmp_path / "t", frame, 1300)
    monkeypatch.setattr(parquet, "WHOLE_ROWS", 100)
    monkeypatch.setattr(parquet, "SAMPLE_ROWS", 100)
    sample = ParquetTable(folder).sample()
    assert len(sample) < 200
    found, whole = learn_schema(as_frame(sample), "auto"), learn_schema(as_frame(frame), "auto")
    assert found.categories == whole.categories
    assert "ignored" not in found.kinds
    for name in ("count", "grade", "hours"):
        assert found.kinds[frame.columns.get_loc(name)] == whole.kinds[frame.columns.get_loc(name)]
    assert whole.kinds[frame.columns.get_loc("hours")] == "gaussian"


def test_rows_of_an_array_that_show_something_new():
    few, part = np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([[0.0, 9.0], [np.nan, 0.0], [3.0, 1.0], [4.0, 1.0]])
    shows_new = schema_sample.array_shows_new(few)
    np.testing.assert_array_equal(shows_new(part), part[2:3])
    assert schema_sample.array_shows_new(part) is None


def test_labels_of_a_large_table_are_not_in_memory(tmp_path, monkeypatch):
    from sidelight.estimators.base import results

    X, _ = numbers(3000)
    folder = write(tmp_path / "t", pd.DataFrame(X, columns=list("abc")), 1000)
    plain = sl.LabelledMixture(3, random_state=0).fit(folder)
    monkeypatch.setattr(results, "LARGEST_KEPT", 100)
    fitted = sl.LabelledMixture(3, keep_posterior=True, random_state=0).fit(folder)
    assert isinstance(fitted.labels_, np.memmap)
    assert isinstance(fitted.posterior_, np.memmap)
    np.testing.assert_array_equal(fitted.labels_, plain.labels_)
    np.testing.assert_array_equal(fitted.posterior_.argmax(axis=1), plain.labels_)
    assert type(sl.LabelledMixture(3, random_state=0).fit(X).labels_) is np.ndarray
    sl.save(fitted, tmp_path / "model")
    np.testing.assert_array_equal(sl.load(tmp_path / "model").labels_, plain.labels_)


def test_parts_are_the_table_in_order(tmp_path):
    X, _ = numbers(1000)
    folder = write(tmp_path / "t", pd.DataFrame(X, columns=list("abc")), 400, row_group_size=150)
    table = ParquetTable(folder, columns=["b", "a"])
    parts = table.parts(2 * 300)
    assert [part.shape for part in parts] == [(300, 2), (250, 2), (250, 2), (200, 2)]
    np.testing.assert_array_equal(pd.concat([part.frame() for part in parts]), X[:, [1, 0]])
    assert [part.shape[0] for part in table.parts(1)] == [150, 150, 100, 150, 150, 100, 150, 50]


class TestErrors:
    def folder(self, tmp_path, frames):
        for number, frame in enumerate(frames):
            frame.to_parquet(tmp_path / f"{number}.parquet", index=False)
        return tmp_path

    def test_a_bad_cell_is_named(self, tmp_path):
        X, _ = numbers(400)
        X[333, 1] = np.inf
        folder = write(tmp_path / "t", pd.DataFrame(X, columns=list("abc")), 150)
        with pytest.raises(ValueError, match=r"infinity in row 333 \(row 33 of .*2\.parquet\), column 'b'"):
            sl.BayesianMixture(3).fit(folder)
        X[333, 1] = np.nan
        folder = write(tmp_path / "t", pd.DataFrame(X, columns=list("abc")), 150)
        with pytest.raises(ValueError, match=r"NaN .* in row 333 \(row 33 of .*\), column 'b'"):
            sl.EquivalenceMixture(3).fit(folder)

    def test_files_must_have_the_same_columns(self, tmp_path):
        folder = self.folder(tmp_path, [pd.DataFrame({"a": [1.0], "b": [2.0]}), pd.DataFrame({"a": [1.0]})])
        with pytest.raises(ValueError, match=r"1\.parquet has no column 'b'"):
            ParquetTable(folder)
        assert ParquetTable(folder, columns=["a"]).shape == (2, 1)

    def test_columns_must_be_of_one_sort(self, tmp_path):
        folder = self.folder(tmp_path, [pd.DataFrame({"a": [1.0]}), pd.DataFrame({"a": ["x"]})])
        with pytest.raises(ValueError, match=r"1\.parquet: column 'a' holds .*string"):
            ParquetTable(folder)

    @pytest.mark.parametrize("cells", [[[1.5], [3]], [[3], [1.5]], [[None], [3], [1.5]], [[3], [None], [1.5]]])
    def test_whole_numbers_beside_floats_and_files_without_cells(self, tmp_path, cells):
        frames = [pd.DataFrame({"a": cells[0]}), pd.DataFrame({"a": [2.0]})[:0]]
        table = ParquetTable(self.folder(tmp_path, [*frames, *(pd.DataFrame({"a": one}) for one in cells[1:])]))
        values = table.encoded(Schema.uniform("gaussian", 1)).take(slice(0, len(cells)))
        np.testing.assert_array_equal(values, np.array(cells, dtype=float))

    def test_words_of_several_types(self, tmp_path):
        words = [["x", "y"], [None, None], ["z", "x"]]
        frames = [pd.DataFrame({"a": [1.0, 2.0], "b": pd.Series(words[0], dtype="category")})]
        folder = self.folder(tmp_path, [*frames, *(pd.DataFrame({"a": [1.0, 2.0], "b": one}) for one in words[1:])])
        assert ParquetTable(folder).frame()["b"].astype(object).fillna("-").tolist() == ["x", "y", "-", "-", "z", "x"]

    def test_nothing_to_read(self, tmp_path):
        with pytest.raises(ValueError, match=r"holds no file whose name ends in \.parquet"):
            ParquetTable(tmp_path)
        with pytest.raises(FileNotFoundError, match="nowhere does not exist"):
            ParquetTable(tmp_path / "nowhere")
        with pytest.raises(ValueError, match="has no rows"):
            ParquetTable(self.folder(tmp_path, [pd.DataFrame({"a": [1.0]})[:0]]))

    def test_a_damaged_file_is_named(self, tmp_path):
        folder = self.folder(tmp_path, [pd.DataFrame({"a": [1.0]}), pd.DataFrame({"a": [2.0]})])
        content = (folder / "1.parquet").read_bytes()
        (folder / "1.parquet").write_bytes(content[: len(content) // 2])
        with pytest.raises(ValueError, match=r"1\.parquet cannot be read as Parquet"):
            ParquetTable(folder)

    def test_columns_that_no_family_describes(self, tmp_path):
        folder = self.folder(tmp_path, [pd.DataFrame({"a": [1.0, 2.0], "b": [[1], [2, 3]]})])
        with pytest.raises(ValueError, match=r"column 'b' holds list.*columns="):
            ParquetTable(folder)
        with pytest.raises(ValueError, match="columns names 'z'"):
            ParquetTable(folder, columns=["z"])
        with pytest.raises(TypeError, match=r"write columns=\['a'\]"):
            ParquetTable(folder, columns="a")

    @pytest.mark.parametrize("name", ["LatentProcessDecomposition", "SeededKMeans"])
    def test_estimators_that_need_memory_name_the_remedy(self, tmp_path, name):
        folder = self.folder(tmp_path, [pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 1.0]})])
        with pytest.raises(ValueError, match=f"{name} needs its table in memory.*Read it first"):
            getattr(sl, name)().fit(str(folder), [0, 1])
