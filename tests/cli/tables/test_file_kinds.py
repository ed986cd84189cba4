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
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sidelight.cli.errors import Refusal
from sidelight.cli.statements import row_labels
from sidelight.cli.tables.features import find_features
from sidelight.cli.tables.files import open_table, row_ids
from systems import needs_posix

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


@needs_posix
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


def test_messages_and_report_name_standard_input(tmp_path):
    numbers = "\n".join(f"{n % 7},{n % 2 * 9}" for n in range(40))
    command = [sys.executable, "-m", "sidelight", "fit", "-", "-o", "out", "--model", "labelled", "--clusters", "2"]
    ran = subprocess.run(command, input=f"a,b\n{numbers}\n", cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "standard input: 40 rows." in ran.stderr
    assert "<h1>Clusters of standard input</h1>" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


STREAMED = ["table.csv.gz", "table.csv.zip", "table.csv.bz2", "table.tsv.xz", "table.parquet", "table.feather"]
STREAMED += ["table.parquet.gz", "table.xlsx"]


@pytest.mark.parametrize("name", STREAMED)
def test_a_stream_may_hold_every_kind_of_file(tmp_path, name):
    WRITERS[name](tmp_path / name)
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes((tmp_path / name).read_bytes()))
    writer.start()
    file = open_table(tmp_path / "pipe")
    writer.join()
    table = file.read(file.header)
    assert row_ids(file, table, "name").tolist() == FRAME["name"].tolist()


def test_a_compressed_file_whose_name_is_not_utf_8(tmp_path):
    path = os.fsencode(tmp_path) + b"/n\xff.csv.gz"
    with open(path, "wb") as file:  # noqa: PTH123 (a path of bytes)
        file.write(gzip.compress(FRAME.to_csv(index=False).encode()))
    assert open_table(Path(os.fsdecode(path))).header == ("name", "size", "colour")


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


HOLE = 20 << 30  # what the system stores as a hole, so that it takes no room on the disk


def with_hole(path, content):
    """Write a file that begins with some bytes and goes on with zero bytes."""
    path.write_bytes(content)
    os.truncate(path, HOLE)


TEXT = FRAME.to_csv(index=False)


@pytest.mark.parametrize(
    ("name", "encoding", "content"),
    [
        ("text.csv", "utf-8", TEXT.encode()),
        ("nothing.csv", "utf-8", b""),
        ("wide.csv", "utf-16", TEXT.encode("utf-16")),
        ("latin.csv", "latin-1", TEXT.encode()),
        ("columns.parquet", "utf-8", b"PAR1"),
        ("columns.feather", "utf-8", b"ARROW1"),
        ("sheet.xlsx", "utf-8", b"PK\x03\x04"),
    ],
)
def test_a_file_with_a_hole_is_refused_without_reading_it_whole(tmp_path, name, encoding, content):
    with_hole(tmp_path / name, content)
    with pytest.raises(Refusal, match=r"zero bytes|cannot be read as"):
        open_table(tmp_path / name, encoding)


@needs_posix
def test_a_stream_or_an_archive_of_zero_bytes_is_refused_at_the_first_ones(tmp_path):
    packed = gzip.compress(TEXT.encode()) + gzip.compress(bytes(1 << 20))
    (tmp_path / "table.csv.gz").write_bytes(packed)
    with pytest.raises(Refusal, match=r"table\.csv\.gz holds 4096 zero bytes in a row"):
        open_table(tmp_path / "table.csv.gz")
    # The writer never ends.
    zeros = subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE)
    command = [sys.executable, "-m", "sidelight", "fit", "-", "-o", str(tmp_path / "out")]
    ended = subprocess.run(command, stdin=zeros.stdout, capture_output=True, text=True, check=False)
    zeros.stdout.close()
    zeros.kill()
    zeros.wait()
    assert ended.returncode == 2
    assert "standard input holds 4096 zero bytes in a row" in ended.stderr


LABELS = ["cat", "NA", "dog", "nan", "cat", None, "dog", "NA", "cat", "dog", "?", "cat"]
LABELLED = pd.DataFrame({"size": [1.5, 2, 9, 2.5, 1, 1.25, 8, 9.5, 1.75, 8.5, 2.25, 9.25], "label": LABELS})


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.xlsx", "t.parquet", "t.feather"])
def test_labels_that_are_read_as_missing_are_counted_in_every_kind_of_file(tmp_path, name):
    write = {
        ".csv": partial(LABELLED.to_csv, index=False),
        ".gz": partial(LABELLED.to_csv, index=False),
        ".tsv": partial(LABELLED.to_csv, index=False, sep="\t"),
        ".xlsx": partial(LABELLED.to_excel, index=False),
        ".parquet": LABELLED.to_parquet,
        ".feather": LABELLED.to_feather,
    }
    write[(tmp_path / name).suffix](tmp_path / name)
    file = open_table(tmp_path / name)
    with pytest.warns(UserWarning, match="column 'label'") as caught:
        labels = row_labels(file, file.read(file.header), "label")
    assert labels == [None if label in ("NA", "nan") else label for label in LABELS]
    missing, doubtful = (str(warning.message) for warning in caught)
    assert "'NA' in 2 rows, 'nan' in 1 row are taken as missing" in missing
    assert "'?' in 1 row is taken as a name like any other" in doubtful


@pytest.mark.parametrize("name", ["t.xlsx", "t.parquet", "t.feather"])
def test_empty_text_among_labels_is_counted_too(tmp_path, name):
    frame = LABELLED.assign(label=["cat", "", "dog", " ", *["cat", "dog"] * 4])
    {"xlsx": partial(frame.to_excel, index=False), "parquet": frame.to_parquet, "feather": frame.to_feather}[
        name.removeprefix("t.")
    ](tmp_path / name)
    file = open_table(tmp_path / name)
    with pytest.warns(UserWarning, match="'' in . rows? is taken as missing"):
        labels = row_labels(file, file.read(file.header), "label")
    assert [row for row, label in enumerate(labels) if label is None] == [1, 3]


def test_numbers_as_labels_of_a_spreadsheet_lose_no_word_in_silence(tmp_path):
    frame = pd.DataFrame({"size": range(6), "label": [1, 2, "NA", 1, None, 2]})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    file = open_table(tmp_path / "t.xlsx")
    table = file.read(file.header)
    with pytest.warns(UserWarning, match="'NA' in 1 row is taken as missing"):
        assert row_labels(file, table, "label") == ["1", "2", None, "1", None, "2"]
    assert table["label"].to_pylist() == [1, 2, None, 1, None, 2]


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx", "t.parquet"])
def test_an_id_may_be_NA(tmp_path, name):
    frame = pd.DataFrame({"country": ["NA", "null", "DE", "FR"], "size": [1, 2, 3, 4]})
    {
        "csv": partial(frame.to_csv, index=False),
        "xlsx": partial(frame.to_excel, index=False),
        "parquet": frame.to_parquet,
    }[name.removeprefix("t.")](tmp_path / name)
    file = open_table(tmp_path / name)
    assert row_ids(file, file.read(file.header), "country").tolist() == ["NA", "null", "DE", "FR"]


@pytest.mark.parametrize("name", ["t.feather", "t.parquet"])
def test_names_of_columns_that_are_not_text_are_refused(tmp_path, name):
    path = tmp_path / name
    frame = FRAME.rename(columns={"size": "s__ze"})
    frame.to_feather(path, compression="uncompressed") if name == "t.feather" else frame.to_parquet(path)
    path.write_bytes(path.read_bytes().replace(b"s__ze", b"s\xc2_ze"))
    with pytest.raises(Refusal, match="cannot be read as"):
        open_table(path)
