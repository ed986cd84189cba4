"""A server on a small table, shared by the tests of a module."""

import pytest
from serving import Client, Server, write_table


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    table = write_table(folder / "things.csv")
    with Server(table, "--id-column", "id", folder=folder) as running:
        running.folder, running.table = folder, table
        yield running


@pytest.fixture
def ada(server):
    return Client(server, "Ada")
