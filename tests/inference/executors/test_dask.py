"""Fits on a real cluster of processes: the same parameters and labels as in memory, whatever is killed."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import sidelight as sl
from sidelight.cli.main import main
from sidelight.inference.executors.dask import join, join_all
from sidelight.tables.dask import DaskSource, shared_out
from sidelight.tables.schema import Schema
from systems import needs_posix

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install sidelight[dask]")
dask_array = pytest.importorskip("dask.array", reason="needs Dask: pip install sidelight[dask]")
dask_frame = pytest.importorskip("dask.dataframe", reason="needs Dask: pip install sidelight[dask]")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

N = 1200


def new_cluster(n_workers=2):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    )


@pytest.fixture(scope="module")
def client():
    with new_cluster() as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def case():
    """A table with missing cells, and labels, links across partitions, blocks and weights."""
    random = np.random.default_rng(0)
    classes = random.integers(3, size=N)
    X = random.normal(size=(N, 3)) + 4 * np.eye(3)[classes]
    X[random.random(X.shape) < 0.03] = np.nan
    blocks = np.full(N, -1)
    blocks[[7, 700, 1100]] = 0
    classes[[700, 1100]] = classes[7]
    X[[700, 1100]] = X[7]
    side = sl.SideInformation.build(
        N,
        y=np.where(np.arange(N) % 90 == 0, classes, -1),
        must_link=[(a, N - 1 - a) for a in range(20) if classes[a] == classes[N - 1 - a]],
        cannot_link=[(a, N - 1 - a) for a in range(20) if classes[a] != classes[N - 1 - a]],
        blocks=blocks,
    )
    return X, side, random.uniform(0.5, 2, size=N)


def model():
    return sl.BayesianMixture(3, covariance_type="full", random_state=0, keep_posterior=True, tol=1e-3)


def fitted(X, case, **more):
    _, side, weights = case
    return model().set_params(**more).fit(X, side=side, sample_weight=weights)


def tables(X, folder):
    np.save(folder / "t.npy", X)
    frame = pd.DataFrame(X, columns=list("abc"))
    (folder / "parquet").mkdir()
    for number, part in enumerate(np.array_split(np.arange(len(X)), 4)):
        frame.iloc[part].to_parquet(folder / "parquet" / f"{number}.parquet", index=False)
    yield "memory map", np.load(folder / "t.npy", mmap_mode="r")
    yield "Parquet", folder / "parquet"
    for n_parts in (3, 7, 20):
        yield f"Dask array, {n_parts}", dask_array.from_array(X, chunks=(-(-len(X) // n_parts), 2))
    yield "Dask data frame", dask_frame.from_pandas(frame, npartitions=6, sort=False)


def test_without_a_cluster_the_remedy_is_named():  # before any test has one
    with pytest.raises(ValueError, match=r"no cluster to work on it.*client = Client\(\)"):
        sl.LabelledMixture(2).fit(dask_array.ones((10, 2)))


def test_one_table_in_seven_forms_is_one_fit(client, case, tmp_path):
    X = case[0]
    expected = fitted(X, case)
    assert expected.violations_.n_statements > 30
    for name, table in tables(X, tmp_path):
        found = fitted(table, case)
        for attribute in ("means_", "covariances_", "weights_"):
            np.testing.assert_allclose(
                getattr(found, attribute), getattr(expected, attribute), rtol=1e-9, atol=1e-12, err_msg=name
            )
        assert abs(found.lower_bound_ - expected.lower_bound_) < 1e-9, name
        np.testing.assert_array_equal(np.asarray(found.labels_), expected.labels_, err_msg=name)
        np.testing.assert_allclose(np.asarray(found.posterior_), expected.posterior_, atol=1e-9, err_msg=name)
        assert str(found.violations_) == str(expected.violations_)


def test_results_have_the_partitions_of_the_input(client, tmp_path):
    X = np.random.default_rng(4).normal(size=(300, 2)) + 6 * (np.arange(300) % 2)[:, None]
    full = dask_frame.from_pandas(pd.DataFrame(X, columns=list("ab")), npartitions=3, sort=False)
    empty = dask_frame.from_pandas(pd.DataFrame(X[:0], columns=list("ab")), npartitions=1)
    table = dask_frame.concat([full, empty])
    assert table.npartitions == 4  # one without rows, which results leave out
    found, expected = (sl.LabelledMixture(2, random_state=0).fit(given) for given in (table, X))
    assert found.labels_.chunks == ((100, 100, 100),)
    # There when fit returns: the cluster may be closed.
    assert {future.status for future in distributed.futures_of(found.labels_)} == {"finished"}
    for method in ("predict", "predict_proba", "score_samples"):
        result = getattr(found, method)(table)
        assert result.chunks[0] == (100, 100, 100)
        np.testing.assert_allclose(result.compute(), getattr(expected, method)(X), rtol=1e-9, atol=1e-12)
    sl.save(found, tmp_path / "model")
    np.testing.assert_array_equal(sl.load(tmp_path / "model").labels_, expected.labels_)


def test_rows_are_shared_out_among_the_workers(client):
    first, second = client.nthreads()
    parts = [
        dask_array.from_delayed(client.submit(np.ones, (50, 2), workers=first, pure=False), (50, 2), float)
        for _ in range(8)
    ]
    table = DaskSource(dask_array.concatenate(parts)).encoded(Schema.uniform("gaussian", 2))
    assert {worker for worker, _ in table.groups()} == {first, second}
    assert sorted(number for _, numbers in table.groups() for number in numbers) == list(range(8))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 5))
def test_no_thread_has_a_part_more_than_its_share(seed, n_parts, n_workers):
    random = np.random.default_rng(seed)
    threads = {f"worker-{number}": int(random.integers(1, 4)) for number in range(n_workers)}
    sizes = random.integers(1, 100, size=n_parts).tolist()
    places = [random.choice(list(threads), size=random.integers(3)).tolist() for _ in sizes]
    share = sum(sizes) / sum(threads.values())
    found = shared_out(places, sizes, threads)
    for worker, number in threads.items():
        taken = sum(size for size, place in zip(sizes, found, strict=True) if place == worker)
        assert taken <= share * number + max(sizes)


def test_parts_stay_where_they_are_if_workers_have_their_share():
    threads = {"a": 1, "b": 1}
    assert shared_out([["b"], ["a"], ["a"], ["b"]], [10, 10, 10, 10], threads) == ["b", "a", "a", "b"]
    assert shared_out([["a"], ["a"], ["a"], ["gone"]], [10, 10, 10, 10], threads) == ["a", "a", "b", "b"]


@pytest.mark.parametrize("name", ["EquivalenceMixture", "ClassMixture"])
def test_other_mixtures_on_a_cluster(client, name):
    random = np.random.default_rng(1)
    classes = random.integers(3, size=600)
    X = random.normal(size=(600, 2)) + 5 * np.array([[0, 0], [1, 0], [0, 1]])[classes]
    estimator = getattr(sl, name)(3, random_state=0)
    known = {"y": np.where(np.arange(600) % 60 == 0, classes, -1)} if "labels" in estimator.takes else {}
    if "must_link" in estimator.takes:
        known["must_link"] = [(a, 599 - a) for a in range(40) if classes[a] == classes[599 - a]]
    expected = vars(estimator.fit(X, **known)).copy()
    found = estimator.fit(dask_array.from_array(X, chunks=(130, 2)), **known)
    np.testing.assert_allclose(found.means_, expected["means_"], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(np.asarray(found.labels_), expected["labels_"])


def test_guided_mixture_on_a_cluster(client, case):
    X, side, _ = case
    table = dask_array.from_array(X, chunks=(500, 3))
    expected, found = (sl.GuidedMixture(random_state=0).fit(given, side=side) for given in (X, table))
    assert found.labels_.chunks == ((500, 500, 200),)
    np.testing.assert_array_equal(found.labels_.compute(), expected.labels_)
    np.testing.assert_allclose(found.posterior_.compute(), expected.posterior_, atol=1e-9)
    assert str(found.violations_) == str(expected.violations_)
    np.testing.assert_array_equal(found.predict(table).compute(), expected.predict(X))
    np.testing.assert_allclose(found.predict_proba(table).compute(), expected.predict_proba(X), atol=1e-9)
    opinions = found.expert_probabilities(table)
    np.testing.assert_allclose(opinions["linear"].compute(), expected.expert_probabilities(X)["linear"], atol=1e-9)
    assert found.score(table, side.labels) == expected.score(X, side.labels)


class InBatches(sl.LabelledMixture):
    """A mixture to which a small table is large."""

    def _batch_rows(self, n_rows, n_columns):
        return n_rows // 2


def test_steps_on_batches_are_the_same_on_a_cluster(client):
    X = np.random.default_rng(7).normal(size=(3000, 2)) + 3 * (np.arange(3000) % 2)[:, None]
    y = np.where(np.arange(3000) % 300 < 2, np.arange(3000) % 2, -1)
    one, other = (
        InBatches(2, covariance_type="full", random_state=0).fit(given, y)
        for given in (X, dask_array.from_array(X, chunks=(700, 2)))
    )
    np.testing.assert_allclose(other.means_, one.means_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(other.labels_.compute(), one.labels_)


@pytest.mark.filterwarnings("ignore:The bound was still rising")
def test_the_scheduler_forgets_passes(client):
    def records(dask_scheduler):
        spans = dask_scheduler.extensions["spans"].spans.values()
        return len(dask_scheduler.tasks), sum(len(span.groups) for span in spans)

    X = dask_array.from_array(np.random.default_rng(0).normal(size=(400, 2)), chunks=(100, 2))
    seen = []
    sl.LabelledMixture(
        2, max_iter=30, tol=0, random_state=0, callbacks=[lambda _: seen.append(client.run_on_scheduler(records))]
    ).fit(X)
    tasks, groups = np.transpose(seen)
    assert len(set(groups[1:])) == 1
    assert tasks[15:].max() <= tasks[:15].max() + 3  # those of one pass may wait to be forgotten


def test_mixed_columns_and_powers_on_a_cluster(client):
    random = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "price": np.exp(random.normal(size=400) + 2 * (np.arange(400) % 2)),
            "visits": random.poisson(2 + 6 * (np.arange(400) % 2)),
            "colour": np.array(["red", "blue"])[(np.arange(400) + (random.random(400) < 0.1)) % 2],
        }
    )
    new = sl.BayesianMixture(2, covariance_type="full", power="auto", random_state=0)
    expected = vars(new.fit(frame)).copy()
    table = dask_frame.from_pandas(frame, npartitions=3)
    found = new.fit(table)
    assert list(found.column_powers_) == ["price"]
    np.testing.assert_array_equal(np.asarray(found.labels_), expected["labels_"])
    np.testing.assert_allclose(found.score_samples(table).compute(), found.score_samples(frame), rtol=1e-9)
    with pytest.warns(UserWarning, match="'colour' has categories that it did not have"):
        found.predict(dask_frame.from_pandas(frame.assign(colour="violet"), npartitions=2))


class Begun(distributed.SchedulerPlugin):
    """Counts the tasks of passes that workers were given, again and again where one was lost."""

    name = "begun"

    def __init__(self):
        self.n_tasks = 0

    def transition(self, key, start, finish, *args, **kwargs):
        self.n_tasks += finish == "processing" and str(key).startswith("('sums-")


def tasks_begun(dask_scheduler):
    return dask_scheduler.plugins["begun"].n_tasks


@needs_posix
@pytest.mark.filterwarnings("ignore:The bound was still rising")
def test_a_worker_killed_in_a_pass_costs_at_most_that_pass(client):
    X = np.random.default_rng(3).normal(size=(60_000, 4))
    table = dask_array.from_array(X, chunks=(8_000, 4))
    settings = {"max_iter": 12, "tol": 0, "random_state": 0}
    client.register_plugin(Begun())
    expected = sl.LabelledMixture(12, **settings).fit(table)
    n_undisturbed = client.run_on_scheduler(tasks_begun)
    assert n_undisturbed > 2 * 12
    killed = []

    def kill_one_that_works():
        while not killed:
            busy = [worker for worker, tasks in client.processing().items() if any("sums" in str(one) for one in tasks)]
            if busy:
                os.kill(pids[busy[0]], signal.SIGKILL)
                killed.append(busy[0])
            time.sleep(0.002)

    pids = client.run(os.getpid)
    watcher = threading.Thread(target=kill_one_that_works, daemon=True)
    found = sl.LabelledMixture(12, **settings, callbacks=[lambda _: watcher.ident or watcher.start()]).fit(table)
    assert killed
    np.testing.assert_array_equal(found.means_, expected.means_)
    np.testing.assert_array_equal(np.asarray(found.labels_), np.asarray(expected.labels_))
    # A pass is a task for each of the two workers.
    assert client.run_on_scheduler(tasks_begun) - n_undisturbed <= n_undisturbed + 2


def test_the_command_line_on_a_cluster(client, tmp_path, monkeypatch):
    X = np.random.default_rng(5).normal(size=(200, 2)) + 7 * (np.arange(200) < 80)[:, None]
    (tmp_path / "t" / "more").mkdir(parents=True)
    # Dask by itself would read these files in another order, and also the last one.
    for number, name in enumerate(["more/9.parquet", "more/10.parquet", "0.parquet", "_old.parquet"]):
        part = pd.DataFrame(X[60 * number : 60 * number + 60 + 20 * (number == 2)], columns=["a", "b"])
        part.to_parquet(tmp_path / "t" / name, index=False)
    monkeypatch.chdir(tmp_path)  # the workers are elsewhere
    for name, options in (("here", []), ("there", ["--cluster", client.scheduler.address])):
        given = ["fit", "t", "--clusters", "2", *options, "--checkpoint", str(tmp_path / f"{name}.c")]
        result = CliRunner().invoke(main, [*given, "-o", str(tmp_path / name)])
        assert result.exit_code == 0, result.output
        assert list((tmp_path / f"{name}.c").glob("pass-*"))
    assert (tmp_path / "here" / "clusters.csv").read_text() == (tmp_path / "there" / "clusters.csv").read_text()
    for name, options in (("here", []), ("there", ["--cluster", client.scheduler.address])):
        given = ["predict", str(tmp_path / "here"), "t", *options, "-o", str(tmp_path / f"{name}.csv")]
        result = CliRunner().invoke(main, given)
        assert result.exit_code == 0, result.output
    assert (tmp_path / "here.csv").read_text() == (tmp_path / "there.csv").read_text()
    guided = ["fit", str(tmp_path / "t"), "--cluster", client.scheduler.address, "-o", str(tmp_path / "guided")]
    assert CliRunner().invoke(main, guided).exit_code == 0
    assert sl.load(tmp_path / "guided" / "model").n_clusters_ == 2
    refused = CliRunner().invoke(main, ["fit", str(tmp_path / "t" / "0.parquet"), "--cluster", "local"])
    assert refused.exit_code == 2
    assert "--cluster is for a folder" in refused.output


class TestErrors:
    def test_a_bad_cell_is_named(self, client):
        X = np.random.default_rng(0).normal(size=(100, 2))
        X[77, 1] = np.inf
        with pytest.raises(ValueError, match=r"infinity in row 77 \(row 17 of partition 2\), column 1"):
            sl.BayesianMixture(2).fit(dask_array.from_array(X, chunks=(30, 2)))

    def test_a_partition_with_other_columns_is_named(self, client):
        from dask import delayed

        frames = [pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]}), pd.DataFrame({"a": [1.0]})]
        table = dask_frame.from_delayed([delayed(frame) for frame in frames], meta=frames[0], verify_meta=False)
        with pytest.raises(ValueError, match="partition 1 has the columns 'a', but the collection declares"):
            sl.BayesianMixture(2).fit(table)

    def test_an_array_with_other_columns_is_named(self, client):
        from dask import delayed

        parts = [np.ones((4, 2)), np.ones((4, 3)), np.ones((4, 2))]
        table = dask_array.concatenate([dask_array.from_delayed(delayed(part), (4, 2), float) for part in parts])
        with pytest.raises(ValueError, match="partition 1 has 3 columns, but the collection declares 2 columns"):
            sl.BayesianMixture(2).fit(table)

    def test_text_among_numbers_is_named(self, client):
        from dask import delayed

        frames = [pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]}), pd.DataFrame({"a": [1.0], "b": ["n/a"]})]
        table = dask_frame.from_delayed([delayed(frame) for frame in frames], meta=frames[0], verify_meta=False)
        with pytest.raises(ValueError, match="partition 1 has text in column 'b'"):
            sl.BayesianMixture(2).fit(table)

    def test_a_partition_that_cannot_be_made_is_named(self, client):
        from dask import delayed

        def refuse():
            raise ValueError("the file is damaged")

        pieces = [
            dask_array.from_delayed(made, (4, 2), float) for made in (delayed(np.ones)((4, 2)), delayed(refuse)())
        ]
        with pytest.raises(ValueError, match="partition 1 cannot be used: the file is damaged"):
            sl.BayesianMixture(2).fit(dask_array.concatenate(pieces))

    def test_no_rows(self, client):
        with pytest.raises(ValueError, match="no rows in any partition"):
            sl.BayesianMixture(2).fit(dask_array.empty((0, 2), chunks=(1, 2)))

    def test_estimators_that_need_memory(self, client):
        with pytest.raises(ValueError, match=r"SeededKMeans needs its table in memory.*\.compute\(\)"):
            sl.SeededKMeans(2).fit(dask_array.ones((10, 2), chunks=(5, 2)), [0, 1] * 5)


class Number:
    def __init__(self, text):
        self.text = text

    def __add__(self, other):
        return Number(f"({self.text}{other.text})")


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7, 20])
def test_the_tree_of_sums_is_the_same_whoever_has_the_parts(n_parts):
    leaves = {(0, part): Number(chr(97 + part)) for part in range(n_parts)}
    (whole,) = join(leaves, n_parts).values()
    random = np.random.default_rng(n_parts)
    for _ in range(5):
        owner = random.integers(4, size=n_parts)
        sums = [
            join({node: leaf for node, leaf in leaves.items() if owner[node[1]] == worker}, n_parts)
            for worker in range(4)
        ]
        (found,) = join_all([join_all(sums[:2], n_parts), *sums[2:]], n_parts).values()
        assert found.text == whole.text


@needs_posix
@pytest.mark.filterwarnings("ignore:The bound was still rising")
def test_a_new_cluster_goes_on_from_the_checkpoint(tmp_path):
    """All workers are gone with their cluster; another one ends the fit, with the same bytes."""
    X = np.random.default_rng(6).normal(size=(600, 2))
    labels = np.where(np.arange(600) % 50 == 0, np.arange(600) // 50 % 2, -1)

    def fit(**more):
        estimator = sl.LabelledMixture(3, max_iter=8, tol=0, random_state=0)
        return estimator.set_params(**more).fit(
            dask_array.from_array(X, chunks=(150, 2)), labels, checkpoint=tmp_path / "c"
        )

    steps = []
    with new_cluster(1) as cluster, distributed.Client(cluster) as own:

        def lose(progress):
            steps.append(progress)
            if len(steps) == 3:
                for pid in own.run(os.getpid).values():
                    os.kill(pid, signal.SIGKILL)
                cluster.close()

        with pytest.raises(Exception):  # noqa: B017  Dask has several for a cluster that is gone
            fit(callbacks=[lose])
    n_passes = len(list((tmp_path / "c").glob("pass-*")))
    assert n_passes == len(steps) == 3
    with new_cluster(2) as cluster, distributed.Client(cluster):
        found = fit()
        (tmp_path / "c").rename(tmp_path / "used")
        expected = fit()
        np.testing.assert_array_equal(found.means_, expected.means_)
        np.testing.assert_array_equal(found.labels_.compute(), expected.labels_.compute())
