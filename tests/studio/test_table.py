"""Cells as they are shown: differences, long texts, and images that never leave their folder."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sidelight import SideInformation
from sidelight.studio.table import MOST_CHARACTERS, Settings, StudioTable


def table_of(tmp_path, **columns):
    n = len(next(iter(columns.values())))
    cells = pa.table(
        {name: pa.array([None if cell is None else str(cell) for cell in cells]) for name, cells in columns.items()}
    )
    features = pd.DataFrame({name: cells for name, cells in columns.items() if name == "size"})
    settings = Settings("t", "id", None, {"size": "gaussian"}, {}, images=str(tmp_path / "images"))
    ids = np.array([f"r{row}" for row in range(n)])
    return StudioTable(
        settings,
        ids,
        cells,
        features,
        np.zeros((n, 1)),
        SideInformation.build(n, y=["a", *[None] * (n - 1)], must_link=[(0, 1)]),
        b"{}",
    )


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "a.png").write_bytes(b"\x89PNG")
    (folder / "page.html").write_text("<script>")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "disguised.png").symlink_to(folder / "page.html")
    return folder


@pytest.mark.parametrize(
    ("cell", "served"),
    [
        ("a.png", True),
        ("./a.png", True),
        ("../secret.png", False),
        ("link.png", False),
        ("disguised.png", False),
        ("none.png", False),
        ("http://elsewhere.invalid/a.png", False),
        ("file:///etc/passwd.png", False),
        ("a\x00.png", False),
        ("page.html", False),
    ],
)
def test_only_images_of_the_folder_are_served(tmp_path, images, cell, served):
    table = table_of(tmp_path, picture=[cell, "a.png", "a.png"], size=[1.0, 2.0, 3.0])
    assert table.image_columns == {"picture"}
    assert (table.image(0, "picture") is not None) == served
    (picture,) = (one for one in table.compare(0, 1) if one.column == "picture")
    assert picture.images[0] == served
    assert table.image(1, "size") is None


def test_local_addresses_of_files_are_served(tmp_path, images):
    table = table_of(tmp_path, picture=[(images / "a.png").as_uri()] * 2, size=[1.0, 2.0])
    assert table.image(0, "picture") == images / "a.png"


def test_differences_come_first_and_alike_columns_last(tmp_path):
    table = table_of(
        tmp_path,
        kind=["a", "a", "b", "b"],
        size=[0.0, 0.01, 10.0, 9.0],
        text=["x" * 1_000_000, "short", None, ""],
    )
    near, far = table.compare(0, 1), table.compare(0, 2)
    assert [(one.column, one.alike) for one in near] == [("text", False), ("size", True), ("kind", True)]
    assert far[0].column == "size"
    assert far[0].places is not None
    assert far[0].places[0] < 0.01 < 0.99 < far[0].places[1]
    assert len(near[0].cells[0]) < MOST_CHARACTERS + 40
    assert near[0].cells[0].endswith("(1000000 characters)")


def test_a_table_is_the_same_after_it_was_stored(tmp_path):
    table = table_of(tmp_path, kind=["a", None], size=[0.5, np.nan])
    again = StudioTable.from_parts(table.parts())
    pd.testing.assert_frame_equal(again.features, table.features)
    assert again.cells.equals(table.cells)
    assert again.settings == table.settings
    assert again.side == table.side
