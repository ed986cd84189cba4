"""Clusters that the command line starts."""

import pytest

from sidelight.cli.cluster import LOCAL_SETTINGS, connected

dask = pytest.importorskip("dask", reason="needs Dask: pip install sidelight[dask]")
distributed = pytest.importorskip("distributed", reason="needs Dask: pip install sidelight[dask]")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def settings():
    return {name: dask.config.get(name) for name in LOCAL_SETTINGS}


def test_workers_of_a_local_cluster_keep_no_records():
    before = settings()
    with connected("local"):
        found = distributed.get_client().run(settings)
    assert found
    assert all(one == LOCAL_SETTINGS for one in found.values())
    assert settings() == before
