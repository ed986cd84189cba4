"""The same table in every kind of file that people have, each made by a program that they use."""

import bz2
import csv
import gzip
import lzma
import os
import shutil
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sidelight.cli.errors import Refusal
from sidelight.cli.tables.features import find_features
from sidelight.cli.tables.files import open_table, row_ids

FRAME = pd.DataFrame(
    {
        "name": [f"row {n}" for n in range(6)],
        "size": [1.5, 2.5, None, 4.25, 5.0, 6.75],
        "colour": ["red", "blue", "red", "blue", "red", "blue"],
    }
)


def as_zip(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__MACOSX/._table.csv", "nothing")
        archive.writestr("table.csv", FRAME.to_csv(index=False))


def as_spreadsheet(path):
    pytest.importorskip("openpyxl")
    FRAME.to_excel(path, index=False)


def exported_by_libreoffice(options):
    """Return a writer of CSV as LibreOffice exports it; the options say which marks, encoding and language."""

    def write(path):
        if shutil.which("soffice") is None:
            pytest.skip("LibreOffice is not installed (Debian: apt-get install libreoffice-calc-nogui)")
        folder = path.parent / "spreadsheet"
        folder.mkdir()
        as_spreadsheet(folder / "table.xlsx")
        command = ["soffice", f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--convert-to"]
        command += [f"csv:Text - txt - csv (StarCalc):{options}", "--outdir", folder, folder / "table.xlsx"]
        subprocess.run(command, check=True, capture_output=True)
        (folder / "table.csv").rename(path)

    return write


WRITERS = {
    "table.csv": lambda path: FRAME.to_csv(path, index=False),
    "polars.csv": lambda path: pl.from_pandas(FRAME).write_csv(path),
    "semicolons and decimal commas.csv": lambda path: FRAME.to_csv(path, index=False, sep=";", decimal=","),
    "a mark and quotes.csv": lambda path: FRAME.to_csv(path, index=False, encoding="utf-8-sig", quoting=csv.QUOTE_ALL),
    "table.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "table.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "table.csv.zip": as_zip,
    "from pandas.csv.zip": lambda path: FRAME.to_csv(path, index=False, compression="zip"),
    "table.csv.bz2": lambda path: path.write_bytes(bz2.compress(FRAME.to_csv(index=False).encode())),
    "table.tsv.xz": lambda path: path.write_bytes(lzma.compress(FRAME.to_csv(index=False, sep="\t").encode())),
    "table.parquet": lambda path: FRAME.to_parquet(path),
    "polars.parquet": lambda path: pl.from_pandas(FRAME).write_parquet(path),
    "table.parquet.gz": lambda path: path.write_bytes(gzip.compress(FRAME.to_parquet())),
    "table.feather": lambda path: FRAME.to_feather(path),
    "polars.arrow": lambda path: pl.from_pandas(FRAME).write_ipc(path),
    "table.xlsx": as_spreadsheet,
    "LibreOffice.csv": exported_by_libreoffice("44,34,76,1,,1033"),
    "LibreOffice in German.csv": exported_by_libreoffice("59,34,ANSI,1,,1031"),
}


@pytest.mark.parametrize(("name", "write"), WRITERS.items(), ids=WRITERS)
def test_the_same_table_in_every_kind_of_file(tmp_path, name, write):
    write(tmp_path / name)
    file = open_table(tmp_path / name)
    assert file.header == ("name", "size", "colour")
    table = file.read(file.header)
    assert row_ids(file, table, "name").tolist() == FRAME["name"].tolist()
    frame, features = find_features(file, table, ["size", "colour"])
    np.testing.assert_array_equal(frame["size"], FRAME["size"])
    assert frame["colour"].tolist() == FRAME["colour"].tolist()
    assert features.missing == {"size": 1, "colour": 0}


def test_a_pipe_is_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text(FRAME.to_csv(index=False)))
    writer.start()
    file = open_table(tmp_path / "pipe")
    writer.join()
    assert file.read(["name"])["name"].to_pylist() == FRAME["name"].tolist()


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input(name):
    script = (
        "import sys; from pathlib import Path; from sidelight.cli.tables.files import open_table\n"
        "file = open_table(Path(sys.argv[1])); print(file.read(['name'])['name'].to_pylist())"
    )
    command = [sys.executable, "-c", script, name]
    ran = subprocess.run(command, input=FRAME.to_csv(index=False), capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str(FRAME["name"].tolist())


def test_blank_lines_before_the_header(tmp_path):
    (tmp_path / "table.csv").write_text("\n" * 300 + "a,b\n1,2\n3,x\n")
    file = open_table(tmp_path / "table.csv")
    assert file.header == ("a", "b")
    assert file.read(["b"])["b"].to_pylist() == ["2", "x"]


def test_columns_of_one_name_are_told_apart(tmp_path):
    (tmp_path / "table.csv").write_text("x,x,x (2),x\n1,2,3,4\n5,6,7,8\n")
    with (
        pytest.warns(UserWarning, match="several columns 'x'; that in place 2 is called 'x [(]3[)]' here"),
        pytest.warns(UserWarning, match="in place 4 is called 'x [(]4[)]'"),
    ):
        file = open_table(tmp_path / "table.csv")
    assert file.header == ("x", "x (3)", "x (2)", "x (4)")
    assert file.read(["x (3)", "x (2)"]).to_pydict() == {"x (3)": ["2", "6"], "x (2)": ["3", "7"]}


def test_a_repeated_id_stops_only_what_needs_ids(tmp_path):
    (tmp_path / "table.csv").write_text("id,x\na,1\nb,2\na,3\n")
    file = open_table(tmp_path / "table.csv")
    with pytest.raises(Refusal, match="'a' .* twice, in line 2 and line 4"):
        row_ids(file, file.read(["id"]), "id")
    with pytest.warns(UserWarning, match="'a' .* twice.*; links and sidelight ask need ids that differ"):
        ids = row_ids(file, file.read(["id"]), "id", needed=False)
    assert ids.tolist() == ["a", "b", "a"]


@pytest.mark.parametrize("name", ["table.csv.gz", "table.csv.bz2", "table.csv.xz", "table.csv.zip", "table.feather"])
def test_files_that_are_not_what_they_seem(tmp_path, name):
    (tmp_path / name).write_bytes(b"id,x\n1,2\n")
    with pytest.raises(Refusal, match=name):
        open_table(tmp_path / name)


def test_the_sheet_that_is_read_is_named(tmp_path):
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        FRAME.to_excel(book, sheet_name="people", index=False)
        FRAME[:2].to_excel(book, sheet_name="notes", index=False)
    with pytest.warns(UserWarning, match="book.xlsx has 2 sheets; the first one, 'people', is read"):
        file = open_table(tmp_path / "book.xlsx")
    assert file.read(file.header).num_rows == len(FRAME)


def test_a_damaged_spreadsheet_is_refused_or_read(tmp_path):
    path = tmp_path / "table.xlsx"
    as_spreadsheet(path)
    whole, outcomes = path.read_bytes(), set()
    for at in range(40, len(whole), 211):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            outcomes.add(open_table(path).header)
        except Refusal as refusal:
            outcomes.add(refusal.message.partition(":")[0])
    assert outcomes == {("name", "size", "colour"), f"{path} cannot be read as a spreadsheet"}


@pytest.mark.parametrize("name", ["table.feather", "table.parquet"])
def test_text_that_is_not_text_is_refused(tmp_path, name):
    path = tmp_path / name
    write = {"table.feather": FRAME.to_feather, "table.parquet": FRAME.to_parquet}[name]
    write(path, compression="uncompressed" if name.endswith("feather") else None)
    path.write_bytes(path.read_bytes().replace(b"blue", b"bl\x95e"))
    with pytest.raises(Refusal, match=rf"{name} is damaged: .*UTF8.*; write it again"):
        open_table(path).read(["colour"])


def test_an_archive_of_two_tables(tmp_path):
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        archive.writestr("b.csv", "x\n1\n")
    with pytest.raises(Refusal, match="holds 2 files; it must hold one table"):
        open_table(tmp_path / "both.zip")
