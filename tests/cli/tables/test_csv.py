"""CSV files as people have them, and the line that is wrong in those that cannot be read."""

import pytest

from sidelight.cli.errors import Refusal
from sidelight.cli.tables.csv import open_csv
from sidelight.cli.tables.files import read_text, row_ids

WHOLE = "id,size,note\n007,1.5,small\n008,,\n009,2.25,large\n"
READ = {"id": ["007", "008", "009"], "size": [1.5, None, 2.25], "note": ["small", None, "large"]}
ALIKE = {
    "commas": WHOLE.encode(),
    "a mark before UTF-8": b"\xef\xbb\xbf" + WHOLE.encode(),
    "semicolons and decimal commas": WHOLE.replace(",", ";").replace(".", ",").encode(),
    "tabs": WHOLE.replace(",", "\t").encode(),
    "bars": WHOLE.replace(",", "|").encode(),
    "line ends of Windows": WHOLE.replace("\n", "\r\n").encode(),
    "empty lines": b"\n\n" + WHOLE.encode() + b"\n\n",
    "the delimiter in a line of its own": b"sep=;\n" + WHOLE.replace(",", ";").encode(),
    "old line ends": WHOLE.replace("\n", "\r").encode(),
    "mixed line ends": WHOLE.replace("\n", "\r\n", 2).encode(),
    "no line end at the end": WHOLE.rstrip("\n").encode(),
    "quotation marks": b'"id","size","note"\n"007","1.5","small"\n"008","",""\n"009","2.25","large"\n',
    "spaces around names": WHOLE.replace("size,note", " size , note").encode(),
}


def values(file, columns):
    """Return columns by their names, with the types that their cells have."""
    table = file.read(columns)
    return {name: file.convert(table[name], name).to_pylist() for name in columns}


def written(folder, content):
    path = folder / "table.csv"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("content", ALIKE.values(), ids=ALIKE)
def test_the_same_table_in_every_dress(tmp_path, content):
    file = open_csv(written(tmp_path, content), "utf-8")
    assert file.header == ("id", "size", "note")
    assert values(file, file.header) == READ


def test_other_encodings_are_read_when_named(tmp_path):
    file = open_csv(written(tmp_path, "id;stad\n1;Malmö\n2;Århus\n".encode("cp1252")), "cp1252")
    assert values(file, ["stad"]) == {"stad": ["Malmö", "Århus"]}


def test_ids_keep_their_zeros_and_lose_spaces(tmp_path):
    file = open_csv(written(tmp_path, b"id,x\n007,1\n 08 ,2\n"), "utf-8")
    assert row_ids(file, file.read(["id"]), "id").tolist() == ["007", "08"]
    assert read_text(file, ["x"]) == {"x": ["1", "2"]}


def test_columns_come_in_the_order_asked_for(tmp_path):
    file = open_csv(written(tmp_path, WHOLE.encode()), "utf-8")
    assert file.read(["note", "size"]).column_names == ["note", "size"]


def test_a_place_is_a_line_also_after_cells_of_several_lines(tmp_path):
    file = open_csv(written(tmp_path, b'id,note\n1,"one\ntwo\nthree"\n\n2,x\n'), "utf-8")
    assert [file.place(row) for row in (0, 1)] == ["line 2", "line 6"]


FAULTS = {
    "nothing": (b"", "is empty"),
    "blank lines": (b"\n\n\n", "is empty"),
    "a column without a name": (b"a,,c\n1,2,3\n", "column 2 of the header has no name"),
    "no header": (b"1,2.5\n3,4\n", "first line must hold the names"),
    "latin-1 in one line": (b"a,b\n1,x\n2,\xe9t\xe9\n3,y\n", r"line 3 is not utf-8: byte 0xe9.*--encoding"),
    "a character cut off": (b"a,b\n1,x\n2,x\xc3", "line 3 is not utf-8"),
    "UTF-16": ("a,b\n1,x\n".encode("utf-16"), "is written in UTF-16; say so with --encoding utf-16"),
    "zero bytes": ("a,b\n1,x\n".encode("utf-16-le"), "line 1 holds zero bytes"),
    "a mark never closed": (b'a,b\n1,x\n2,"open\n3,y\n', "row after line 2 is never closed"),
}


@pytest.mark.parametrize(("content", "told"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path, content, told):
    path = written(tmp_path, content)
    with pytest.raises(Refusal, match=told) as refusal:
        open_csv(path, "utf-8")
    assert refusal.value.message.startswith(str(path))
    assert refusal.value.exit_code == 2


def test_the_line_is_right_beyond_the_first_block(tmp_path):
    rows = b"12345678,abcdefgh\n" * 100_000
    path = written(tmp_path, b"a,b\n" + rows + b"1,\xff\n" + rows)
    with pytest.raises(Refusal, match="line 100002 is not utf-8: byte 0xff"):
        open_csv(path, "utf-8")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a,b\n1,2\n3\n4,5\n", "line 3 has 1 cell, but the header names 2 columns: mend the line"),
        (b"a,b\n1,2\n3,4,5\n6,7\n", "line 3 has 3 cells"),
        (b"a,b,c\n1,2,3\n4,5", "line 3 has 2 cells.* seems to be cut off"),
    ],
)
def test_lines_of_another_length_are_told(tmp_path, content, told):
    file = open_csv(written(tmp_path, content), "utf-8")
    with pytest.raises(Refusal, match=told):
        file.read(file.header)


@pytest.mark.parametrize(("before", "line"), [(b"sep=,\n", 4), (b"\n  \n", 5)])
def test_lines_before_the_header_are_counted(tmp_path, before, line):
    file = open_csv(written(tmp_path, before + b"a,b\n1,2\n3,4\n"), "utf-8")
    assert file.place(1) == f"line {line}"
    assert values(file, file.header) == {"a": [1, 3], "b": [2, 4]}


def test_a_first_column_without_a_name_is_taken_as_programs_write_it(tmp_path):
    file = open_csv(written(tmp_path, b",x\n0,1.5\n1,2.5\n"), "utf-8")
    assert file.header == ("column 1", "x")
    assert values(file, file.header) == {"column 1": [0, 1], "x": [1.5, 2.5]}


def test_an_inch_is_no_open_quotation_mark(tmp_path):
    file = open_csv(written(tmp_path, b'a,b\n1,5" pipe\n2,x\n'), "utf-8")
    assert values(file, ["b"]) == {"b": ['5" pipe', "x"]}


def test_unknown_encodings_are_told(tmp_path):
    with pytest.raises(Refusal, match="--encoding klingon is not known"):
        open_csv(written(tmp_path, WHOLE.encode()), "klingon")


# Cells of one column, and what arrow's reader makes of them in a file.
COLUMNS = {
    "whole numbers": ["1", " 2 ", "-3", None],
    "decimals": ["1.5", "2", None, "-1e-3"],
    "truth": ["true", "False", None, "TRUE"],
    "dates": ["2020-01-01", None, "2021-12-31", "2020-02-29"],
    "times": ["2020-01-01 10:00:00", "2020-01-01T10:00:01", None, None],
    "text": ["a,b", 'say ""so""', "two\nlines", " spaces "],
    "numbers and text": ["1", "2", "x", None],
    "missing": [None, None, None, None],
    "words for missing": ["NA", "null", "nan", "7"],
    "large": ["12345678901234567890123", "1", "2", "3"],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_are_those_of_the_reader_itself(tmp_path, name):
    import pyarrow.csv

    cells = ["" if cell is None else f'"{cell}"' for cell in COLUMNS[name]]
    path = written(tmp_path, ("a,b\n" + "".join(f"{cell},1\n" for cell in cells)).encode())
    expected = pyarrow.csv.read_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True),
    )["a"]
    file = open_csv(path, "utf-8")
    column = file.convert(file.read(["a"])["a"], "a")
    assert column.type == expected.type
    assert column.to_pylist() == expected.to_pylist()


def test_a_column_alone_keeps_its_missing_cells(tmp_path):
    file = open_csv(written(tmp_path, b"a,b\n,1\n2,\n,3\n"), "utf-8")
    assert values(file, ["a"]) == {"a": [None, 2, None]}
