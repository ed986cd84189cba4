"""From frames and arrays of all sorts to numbers, with what does not fit refused by name."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn.base import BaseEstimator

from sidelight import EquivalenceMixture, SeededKMeans
from sidelight.exceptions import IgnoredColumnWarning
from sidelight.tables.encoding import encode
from sidelight.tables.schema import learn_schema
from sidelight.tables.survey import survey_columns
from sidelight.tables.table import ArrayTable
from sidelight.tables.validation import admit_table, read_table

NAN = np.nan
COUNTS = [0, 3, 1, 0, 2, 5]


def read(X, family="auto"):
    columns = learn_schema(X, family)
    return encode(X, columns), columns


def check(X, family="auto"):
    table, columns = read(X, family)
    return survey_columns(ArrayTable(table), None, columns)


PANDAS = pd.DataFrame(
    {
        "width": [0.5, NAN, 1.5, 2.0, 1.0, 0.0],
        "city": ["Rome", None, "Oslo", "Rome", "Oslo", "Rome"],
        "size": pd.Categorical(["big", "small", None, "small", "big", "big"], categories=["small", "huge", "big"]),
        "visits": pd.array([0, 3, None, 0, 2, 5], dtype="Int64"),
        "member": pd.array([True, None, False, True, True, False], dtype="boolean"),
        "paid": [True, None, False, True, True, False],
        "year": [1999, 2003, 2010, 2001, 2020, 2004],
        "price": [Decimal("1.5"), None, Decimal("2"), Decimal("3"), Decimal("1"), Decimal("1")],
    }
)
POLARS = pl.DataFrame(
    {
        "width": [0.5, None, 1.5, 2.0, 1.0, 0.0],
        "city": ["Rome", None, "Oslo", "Rome", "Oslo", "Rome"],
        "size": pl.Series(["big", "small", None, "small", "big", "big"], dtype=pl.Categorical),
        "visits": [0, 3, None, 0, 2, 5],
        "member": [True, None, False, True, True, False],
        "paid": pl.Series([1, None, 0, 1, 1, 0], dtype=pl.UInt8),
        "year": [1999, 2003, 2010, 2001, 2020, 2004],
        "price": pl.Series(["1.5", None, "2", "3", "1", "1"]).cast(pl.Decimal(8, 2)),
    }
)
KINDS = ("gaussian", "categorical", "categorical", "poisson", "bernoulli", "bernoulli", "gaussian", "gaussian")
ENCODED = np.array(
    [
        [0.5, 1, 0, 0, 1, 1, 1999, 1.5],
        [NAN, NAN, 1, 3, NAN, NAN, 2003, NAN],
        [1.5, 0, NAN, NAN, 0, 0, 2010, 2],
        [2.0, 1, 1, 0, 1, 1, 2001, 3],
        [1.0, 0, 0, 2, 1, 1, 2020, 1],
        [0.0, 1, 0, 5, 0, 0, 2004, 1],
    ]
)


class TestKindsOfColumns:
    @pytest.mark.parametrize("frame", [PANDAS, POLARS], ids=["pandas", "polars"])
    def test_a_frame_says_what_its_columns_are(self, frame):
        table, columns = read(frame)
        assert columns.kinds == KINDS
        assert columns.names == tuple(PANDAS.columns)
        assert columns.categories[1:3] == (("Oslo", "Rome"), ("big", "small"))
        np.testing.assert_array_equal(table, ENCODED)

    def test_an_array_of_objects_is_read_column_by_column(self):
        X = PANDAS.drop(columns=["price"]).to_numpy(dtype=object)
        table, columns = read(X)
        assert columns.kinds == KINDS[:-1]
        assert columns.names is None
        np.testing.assert_array_equal(table, ENCODED[:, :-1])

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            ([0, 1, 1, 0], "bernoulli"),
            (COUNTS, "poisson"),
            ([2015, 2016, 2011, 2020], "gaussian"),  # years
            ([23, 45, 31, 64], "gaussian"),  # ages
            ([1, 5, 4, 4, 3, 5], "gaussian"),  # ratings
            ([0, 5, 4, 4, 5, 5, 4, 5, 4, 4, 3, 5], "ordinal"),  # ratings from 0
            ([2007, 2008, 2009] * 5, "ordinal"),  # years
            ([0] * 20 + [1] * 9 + [2, 3, 7, 9, 20, 30], "negative_binomial"),
            ([-1, 0, 2, 1], "gaussian"),
            (range(100), "gaussian"),  # row numbers
        ],
    )
    def test_integers_are_counts_where_they_look_like_counts(self, values, kind):
        assert learn_schema(pl.DataFrame({"x": list(values)}), "auto").kinds == (kind,)
        assert learn_schema(np.array(values, dtype=float)[:, None], "auto").kinds == ("gaussian",)

    def test_arrays_of_booleans_are_bernoulli(self):
        table, columns = read(np.array([[True, False], [False, True]]))
        assert columns.kinds == ("bernoulli", "bernoulli")
        np.testing.assert_array_equal(table, [[1.0, 0.0], [0.0, 1.0]])

    def test_arrays_of_numbers_are_looked_through_for_usual_values_only(self):
        random = np.random.default_rng(0)
        zeros = np.where(random.random(300) < 0.7, 0.0, random.gamma(2.0, size=300))
        X = np.column_stack([zeros, random.normal(size=300), random.poisson(3, 300), random.integers(2, size=300)])
        for dtype in (np.float64, np.float32):
            columns = learn_schema(X.astype(dtype), "auto")
            assert columns.kinds == ("atom", "gaussian", "gaussian", "gaussian")
            assert columns.usual == (0.0, None, None, None)
        assert learn_schema(X, "gaussian").usual is None
        frame = pd.DataFrame(X, columns=list("abcd")).astype({"c": int, "d": int})
        assert learn_schema(frame, "auto").kinds == ("atom", "gaussian", "poisson", "bernoulli")
        assert learn_schema(frame, {"b": "atom"}).usual[1] in X[:, 1]

    def test_integers_with_a_usual_value_are_atoms_unless_they_are_counts(self):
        random = np.random.default_rng(1)
        balance = np.where(random.random(500) < 0.5, 0, random.integers(100, 9000, size=500))
        frame = pl.DataFrame({"balance": balance, "visits": random.poisson(2, size=500)})
        assert learn_schema(frame, "auto").kinds == ("atom", "poisson")

    def test_of_large_arrays_some_rows_are_looked_at_and_constants_are_made_sure_of(self, tmp_path):
        n = 60_000
        random = np.random.default_rng(2)
        often = np.where(np.arange(n) % 3 == 0, 5.0, random.normal(size=n))
        X = np.column_stack([random.normal(size=n), often, *np.ones((3, n))])
        X[7, 3], X[:, 4] = 2.0, NAN
        np.save(tmp_path / "table.npy", X)
        with pytest.warns(IgnoredColumnWarning, match="column 2, column 4 held"):
            columns = learn_schema(np.load(tmp_path / "table.npy", mmap_mode="r"), "auto")
        assert columns.kinds == ("gaussian", "atom", "ignored", "atom", "ignored")
        assert columns.usual == (None, 5.0, None, 1.0, None)

    def test_integers_with_gaps_are_integers_in_every_frame(self):
        random = np.random.default_rng(0)
        columns = {"member": random.integers(2, size=60).tolist(), "grade": random.choice([1, 1, 4, 5], 60).tolist()}
        for name in columns:
            columns[name][7] = None
        pandas, polars = pd.DataFrame(columns), pl.DataFrame(columns)
        assert {dtype.kind for dtype in pandas.dtypes} == {"f"}
        assert learn_schema(pandas, "auto").kinds == learn_schema(polars, "auto").kinds == ("bernoulli", "ordinal")

    def test_whole_floats_of_many_values_stay_numbers(self):
        """New rows may hold fractions."""
        visits = pd.DataFrame({"visits": np.random.default_rng(0).geometric(0.1, size=60) - 1.0})
        assert learn_schema(visits, "auto").kinds == ("gaussian",)
        assert learn_schema(visits.astype(int), "auto").kinds == ("negative_binomial",)

    def test_what_is_said_goes_before_what_is_seen(self):
        X = np.array([[3.0, 1.5, 7.0], [5.0, 0.0, 2.0], [3.0, NAN, 1.0]])
        table, columns = read(X, {0: "categorical", 2: "poisson"})
        assert columns.kinds == ("categorical", "gaussian", "poisson")
        np.testing.assert_array_equal(table[:, 0], [0.0, 1.0, 0.0])
        np.testing.assert_array_equal(X[:, 0], [3.0, 5.0, 3.0])
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        for family in ({"a": "categorical", "c": "poisson"}, {0: "categorical", "c": "poisson", "b": "auto"}):
            assert learn_schema(frame, family).kinds == columns.kinds
        assert learn_schema(frame, "poisson").kinds == ("poisson",) * 3

    def test_categories_may_be_anything_that_can_be_sorted(self):
        frame = pd.DataFrame({"bin": pd.cut([1.0, 5.0, 9.0, NAN], 3), "code": pd.Categorical([10, 9, 10, None])})
        table, columns = read(frame)
        np.testing.assert_array_equal(table, [[0, 1], [1, 0], [2, 1], [NAN, NAN]])
        assert columns.categories[1] == (9, 10)
        np.testing.assert_array_equal(encode(frame.assign(code=[9, 9, 10, 10]), columns)[:, 1], [0, 0, 1, 1])

    def test_an_order_that_is_declared_is_kept(self):
        sizes, levels = ["big", None, "small", "big"], ["small", "huge", "big"]
        ordered = pd.DataFrame({"size": pd.Categorical(sizes, categories=levels, ordered=True)})
        for frame in (ordered, pl.DataFrame({"size": pl.Series(sizes, dtype=pl.Enum(levels))})):
            table, columns = read(frame)
            assert columns.kinds == ("ordinal",)
            assert columns.categories == (("small", "huge", "big"),)
            np.testing.assert_array_equal(table[:, 0], [2, NAN, 0, 2])
            assert learn_schema(frame, "categorical").categories == (("big", "small"),)

    def test_numbers_that_are_ordinal_have_the_order_of_numbers(self):
        frame = pd.DataFrame({"legs": [4, 2, 0, 8, 4], "dose": [0.5, 1.0, NAN, 2.5, 0.5]})
        table, columns = read(frame, "ordinal")
        assert columns.categories == ((0, 2, 4, 8), (0.5, 1, 2.5))
        np.testing.assert_array_equal(table, [[2, 0], [1, 1], [0, NAN], [3, 2], [2, 0]])
        later = frame.assign(legs=[2, 2, 6, 0, 0])
        with pytest.warns(UserWarning, match="column 'legs' has categories .* fitted: 6"):
            np.testing.assert_array_equal(encode(later, columns)[:, 0], [1, 1, NAN, 0, 0])

    def test_text_without_an_order_is_not_ordinal(self):
        with pytest.raises(ValueError, match="'city' is to be ordinal, but its text has no order; make it an ordered"):
            learn_schema(PANDAS, {"city": "ordinal"})

    @pytest.mark.parametrize(
        ("family", "message"),
        [
            ("normal", "family='normal' is not known"),
            (3, "family=3 is not known"),
            ({"width": "normal"}, r"family\['width'\]='normal' is not known"),
            ({"length": "gaussian"}, "family names column 'length', but X has columns 'width', 'city'"),
            ({17: "gaussian"}, "family names column 17"),
            ({"width": "multinomial"}, "describes whole rows; use 'poisson'"),
            ("gaussian", "column 'city' is to be gaussian, which takes numbers, but holds 'Rome' in row 0"),
        ],
    )
    def test_families_that_do_not_fit_are_refused(self, family, message):
        with pytest.raises(ValueError, match=message):
            learn_schema(PANDAS, family)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (pd.period_range("2020-01", periods=3, freq="M"), "column 'x' mixes values of types 'Period'"),
            ([datetime.date(2020, 1, 1), 3, None], "column 'x' mixes values of types 'date', 'int'"),
            ([1, "a", 2.5], "column 'x' mixes values of types 'float', 'int', 'str'"),
            ([{"a": 1}, None, None], "column 'x' mixes values of types 'dict'"),
        ],
    )
    def test_columns_without_a_family_are_refused(self, values, message):
        with pytest.raises(ValueError, match=message):
            learn_schema(pd.DataFrame({"x": values}), "auto")

    @pytest.mark.parametrize(
        "form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y", "%d %b %Y", "%B %d, %Y", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M"]
    )
    @pytest.mark.parametrize("n_days", [3, 60])
    def test_text_that_looks_like_dates_is_refused_with_the_remedy(self, form, n_days):
        days = np.resize(pd.date_range("2020-01-25", periods=n_days).strftime(form), 60).astype(object)
        days[7] = None
        for X in (
            pd.DataFrame({"x": days}),
            pl.DataFrame({"x": days.tolist()}),
            pd.DataFrame({"x": days}).astype("category"),
        ):
            with pytest.raises(ValueError, match=r"column 'x' holds text that looks like dates.*pandas\.to_datetime"):
                learn_schema(X, "auto")
            assert learn_schema(X, {"x": "categorical"}).kinds == ("categorical",)
        with pytest.raises(ValueError, match=r"column 1 holds text that looks like dates"):
            learn_schema(np.array([np.arange(60), days], dtype=object).T, "auto")
        # The remedy works.
        assert learn_schema(pd.DataFrame({"x": pd.to_datetime(pd.Series(days), format=form)}), "auto").kinds == (
            "date",
        )

    def test_all_columns_that_cannot_be_used_are_named_at_once(self):
        names, days = [f"name {row}" for row in range(60)], pd.date_range("2020-01-25", periods=60).strftime("%Y-%m-%d")
        X = pd.DataFrame({"who": names, "x": np.arange(60) % 7, "when": days})
        with pytest.raises(ValueError, match="column 'who' has 60 different.*\nX: column 'when' holds text") as caught:
            learn_schema(X, "auto")
        assert str(caught.value).count("\n") == 1
        many = pd.DataFrame({f"name {number}": names for number in range(20)})
        with pytest.raises(ValueError, match=r"\n… \(20 columns in all\)$"):
            learn_schema(many, "auto")

    def test_dates_with_a_few_words_between_them_are_dates(self):
        days = [*pd.date_range("2020-01-25", periods=9).strftime("%Y-%m-%d"), "unknown"]
        with pytest.raises(ValueError, match="looks like dates, such as '2020-01-25'"):
            learn_schema(pd.DataFrame({"x": days * 3}), "auto")

    @pytest.mark.parametrize(
        "values", [["1.2.3", "1.10.2"], ["B 12", "12-A"], ["555-1234", "555-9876"], ["12:30", "13:40"], ["May", "June"]]
    )
    def test_other_text_is_not_taken_for_dates(self, values):
        assert learn_schema(pd.DataFrame({"x": values * 3}), "auto").kinds == ("categorical",)

    def test_lists_in_cells_are_refused(self):
        with pytest.raises(ValueError, match="column 'x' holds List"):
            learn_schema(pl.DataFrame({"x": [[1], [2]]}), "auto")

    def test_names_are_no_categories_unless_said_so(self):
        frame = pl.DataFrame({"name": [f"person {i}" for i in range(50)]})
        with pytest.raises(ValueError, match="column 'name' has 50 different values in 50 rows, such as 'person 0'"):
            learn_schema(frame, "auto")
        assert len(learn_schema(frame, {"name": "categorical"}).categories[0]) == 50


class TestDates:
    DAYS = (18264.0, NAN, 18753.5)  # since 1970-01-01
    MOMENTS = (datetime.datetime(2020, 1, 3), None, datetime.datetime(2021, 5, 6, 12))

    def days(self, frame, family="auto"):
        table, columns = read(frame, family)
        assert columns.kinds == ("date",)
        return table[:, 0]

    def test_they_are_days_since_1970_in_every_frame(self):
        frames = [
            pd.DataFrame({"when": pd.to_datetime(list(self.MOMENTS))}),
            pd.DataFrame({"when": pd.Series(self.MOMENTS, dtype=object)}),
            pl.DataFrame({"when": self.MOMENTS}),
            np.array([[moment] for moment in self.MOMENTS], dtype=object),
        ]
        for frame in frames:
            np.testing.assert_allclose(self.days(frame), self.DAYS, rtol=1e-15)
        whole = [datetime.date(2020, 1, 3), None, datetime.date(1969, 12, 31)]
        for frame in (pd.DataFrame({"when": whole}), pl.DataFrame({"when": whole})):
            np.testing.assert_array_equal(self.days(frame, {"when": "date"}), [18264.0, NAN, -1.0])

    def test_time_zones_are_taken_to_greenwich(self):
        vienna = pd.to_datetime(["2020-01-03 01:00", None, "2021-05-06 14:00"]).tz_localize("Europe/Vienna")
        zoned = pd.DataFrame({"when": vienna})
        np.testing.assert_allclose(self.days(zoned), self.DAYS, rtol=1e-15)
        np.testing.assert_allclose(self.days(zoned.astype(object)), self.DAYS, rtol=1e-15)
        np.testing.assert_allclose(self.days(pl.from_pandas(zoned)), self.DAYS, rtol=1e-15)

    def test_durations_are_days_and_times_of_day_are_hours(self):
        durations = [datetime.timedelta(hours=36), None, datetime.timedelta(seconds=-864)]
        times = [datetime.time(6, 30), None, datetime.time(23, 0, 36)]
        frames = [
            pd.DataFrame({"took": pd.to_timedelta(durations), "at": times}),
            pd.DataFrame({"took": durations, "at": times}, dtype=object),
            pl.DataFrame({"took": durations, "at": times}),
        ]
        for frame in frames:
            table, columns = read(frame)
            assert columns.kinds == ("gaussian", "gaussian")
            np.testing.assert_allclose(table, [[1.5, 6.5], [NAN, NAN], [-0.01, 23.01]], rtol=1e-12)

    def test_dates_and_numbers_do_not_stand_for_each_other(self):
        dates, numbers = pl.DataFrame({"x": [datetime.date(2020, 1, 3)]}), pl.DataFrame({"x": [18264.5]})
        with pytest.raises(ValueError, match="column 'x' is to be gaussian, but holds dates; give it the family 'dat"):
            learn_schema(dates, "gaussian")
        with pytest.raises(ValueError, match="column 'x' is to be date, but holds numbers; make them dates"):
            learn_schema(numbers, "date")
        with pytest.raises(ValueError, match="column 'x' is to be date, but holds numbers"):
            encode(numbers, learn_schema(dates, "auto"))
        with pytest.raises(ValueError, match="column 'x' is to be gaussian, but holds dates"):
            encode(dates, learn_schema(numbers, "auto"))
        nothing = pl.DataFrame({"x": pl.Series([None], dtype=pl.Float64)})
        assert np.isnan(encode(nothing, learn_schema(dates, "auto"))).all()

    def test_they_are_described_with_the_other_numbers(self):
        columns = learn_schema(pl.DataFrame({"a": [1.5], "when": [datetime.date(2020, 1, 3)], "b": ["x"]}), "auto")
        assert columns.families == ("gaussian", "gaussian", "categorical")
        np.testing.assert_array_equal(columns.of_family("gaussian"), [0, 1])
        np.testing.assert_array_equal(columns.of_kind("gaussian"), [0])


class TestLaterTables:
    def test_categories_keep_their_codes_and_new_ones_are_missing_with_a_warning(self):
        columns = learn_schema(PANDAS, "auto")
        later = PANDAS.assign(city=["Oslo", "Bern", None, "Oslo", "Ulm", "Rome"])
        with pytest.warns(UserWarning, match="column 'city' has categories .* fitted: 'Bern', 'Ulm'. .* missing"):
            table = encode(later, columns)
        np.testing.assert_array_equal(table[:, 1], [0, NAN, NAN, 0, NAN, 1])
        np.testing.assert_array_equal(np.delete(table, 1, axis=1), np.delete(ENCODED, 1, axis=1))

    def test_whether_counts_look_like_counts_is_not_asked_again(self):
        columns = learn_schema(PANDAS, "auto")
        later = PANDAS.assign(visits=40, member=True, paid=None)
        table = encode(later, columns)
        np.testing.assert_array_equal(table[:, 3:6], [[40, 1, NAN]] * 6)

    def test_text_where_there_were_numbers_is_refused(self):
        columns = learn_schema(PANDAS, "auto")
        with pytest.raises(ValueError, match="column 'width' is to be gaussian, .* holds 'wide' in row 0"):
            encode(PANDAS.assign(width="wide"), columns)

    def test_a_column_of_text_without_any_cell_is_missing_where_there_were_numbers(self):
        columns = learn_schema(POLARS, "auto")
        table = encode(POLARS.with_columns(width=pl.lit(None, dtype=pl.String)), columns)
        assert np.isnan(table[:, 0]).all()


class TestCellsThatDoNotFit:
    @pytest.mark.parametrize(
        ("X", "family", "message"),
        [
            (
                [[1.0], [-2.0]],
                "poisson",
                r"-2 in row 1, column 0, which is poisson and takes counts 0, 1, 2, …; .*family",
            ),
            ([[1.0], [2.5]], "poisson", "2.5 in row 1, column 0"),
            ([[1.0], [2.0]], "bernoulli", "2 in row 1, column 0, which is bernoulli and takes 0 and 1"),
            ([[1.0, 0.0], [2.0, NAN]], "multinomial", "nan in row 1, column 1, .* none of them missing"),
            ([[1.0], [np.inf]], "auto", "infinity in row 1, column 0"),
            ([[1.0, 0.0], [2.0, -np.inf]], "auto", "infinity in row 1, column 1"),
            ([[1.0], [1e160]], "auto", "1e[+]160 in row 1, column 0, too large to square"),
        ],
    )
    def test_they_are_refused_by_place(self, X, family, message):
        with pytest.raises(ValueError, match=message):
            check(np.array(X), family)

    def test_a_frames_columns_are_called_by_name(self):
        frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3, -1]})
        with pytest.raises(ValueError, match="-1 in row 1, column 'b', which is poisson"):
            check(frame, {"b": "poisson"})

    @pytest.mark.parametrize("value", [-1.0, 0.5, NAN, np.inf])
    def test_sparse_tables_are_looked_through(self, value):
        X = csr_array(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, value]]))
        with pytest.raises(ValueError, match="in row 2, column 2"):
            check(X, "multinomial")

    def test_missing_cells_of_all_columns_are_taken(self):
        found = check(PANDAS)
        np.testing.assert_allclose(found.mean, np.nanmean(ENCODED, axis=0))
        np.testing.assert_allclose(found.variance, np.nanvar(ENCODED, axis=0))


class TestAdmission:
    @pytest.mark.parametrize(
        "X",
        [
            np.arange(12.0).reshape(4, 3),
            np.arange(12, dtype=np.float32).reshape(4, 3),
            np.arange(12).reshape(4, 3),
            np.array([[1, 2.5], [3, 4]], dtype=object),
            [[1, 2], [3, 4]],
            pd.DataFrame({"a": [1.5, 2.5], "b": [3, 40]}),
            pd.DataFrame({"a": [1.5, 2.5], "b": [3.0, 4.0]}, dtype="float32"),
            pl.DataFrame({"a": [1.5, None, 2.5], "b": [3, 40, 5]}),
        ],
    )
    def test_plain_numbers_are_read_as_ever(self, X):
        plain, mixed = BaseEstimator(), BaseEstimator()
        expected = read_table(plain, X, reset=True)
        table, columns = read(admit_table(mixed, X, sparse=False, reset=True))
        np.testing.assert_array_equal(table, expected)
        assert table.dtype == expected.dtype
        assert columns.kinds == ("gaussian",) * expected.shape[1]
        assert mixed.n_features_in_ == plain.n_features_in_
        assert list(getattr(mixed, "feature_names_in_", [])) == list(getattr(plain, "feature_names_in_", []))

    def test_mapped_tables_stay_mapped(self, tmp_path):
        path = tmp_path / "table.npy"
        np.save(path, np.ones((5, 2), dtype=np.float32))
        table, _ = read(admit_table(BaseEstimator(), np.load(path, mmap_mode="r"), sparse=False, reset=True))
        assert np.shares_memory(table, table.base)
        assert ArrayTable(table)._mapped is not None

    def test_columns_must_be_those_of_the_fit(self):
        estimator = BaseEstimator()
        admit_table(estimator, PANDAS, sparse=False, reset=True)
        admit_table(estimator, POLARS, sparse=False, reset=False)
        with pytest.raises(ValueError, match="must be in the same order"):
            admit_table(estimator, PANDAS[PANDAS.columns[::-1]], sparse=False, reset=False)
        with pytest.raises(ValueError, match="seen at fit time, yet now missing"):
            admit_table(estimator, PANDAS.drop(columns=["city"]), sparse=False, reset=False)

    def test_lists_with_text_keep_their_numbers(self):
        admitted = admit_table(BaseEstimator(), [[1.5, "a"], [2.5, "b"]], sparse=False, reset=True)
        table, columns = read(admitted)
        assert columns.kinds == ("gaussian", "categorical")
        np.testing.assert_array_equal(table, [[1.5, 0.0], [2.5, 1.0]])

    def test_sparse_tables_are_taken_where_they_mean_something(self):
        X = coo_array(([1.0, 2.0, 3.0], ([0, 1, 1], [2, 0, 0])), shape=(2, 3))
        with pytest.raises(TypeError, match="Sparse data was passed"):
            admit_table(BaseEstimator(), X, sparse=False, reset=True)
        table, columns = read(admit_table(BaseEstimator(), X, sparse=True, reset=True), "multinomial")
        assert columns.kinds == ("multinomial",) * 3
        assert isinstance(table, csr_array)
        assert table.has_canonical_format
        np.testing.assert_array_equal(table.toarray(), [[0, 0, 1], [5, 0, 0]])

    @pytest.mark.parametrize("X", [np.array(["a", "b"]), np.ones(3), np.empty((0, 2)), PANDAS[:0], PANDAS[[]]])
    def test_what_is_no_table_is_refused(self, X):
        with pytest.raises(ValueError, match="2D|0 sample|0 rows|0 columns|0 feature"):
            admit_table(BaseEstimator(), X, sparse=False, reset=True)


@pytest.mark.parametrize("estimator", [SeededKMeans, EquivalenceMixture])
def test_a_cell_of_text_among_numbers_is_named(estimator):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": pd.Series([1, "2.5", "many"], dtype=object)})
    with pytest.raises(ValueError, match="X: column 'y' holds 'many' in row 2, which is not a number"):
        estimator(2).fit(frame)
    for table in (frame.to_numpy(dtype=object), frame.to_numpy(dtype=object).tolist(), frame.to_numpy(dtype=str)):
        with pytest.raises(ValueError, match="X: column 1 holds 'many' in row 2, which is not a number"):
            estimator(2).fit(table)
