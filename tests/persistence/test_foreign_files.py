"""Folders that are not a whole saved model are refused, with the file, the reason and what to do."""

import hashlib
import io
import json
import os
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

from sidelight import LabelledMixture, load, save
from sidelight.persistence import ForeignFileError
from systems import needs_posix

FILES = ("SHA256SUMS", "arrays.npz", "model.json")


@pytest.fixture(scope="module")
def model():
    return LabelledMixture(2, random_state=0).fit(np.random.default_rng(0).normal(size=(12, 2)))


@pytest.fixture
def folder(model, tmp_path):
    """Return the folder of a saved model."""
    save(model, tmp_path / "model")
    return tmp_path / "model"


def seal(folder):
    """Write checksums that agree with the files, as somebody who means harm would."""
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in FILES[1:]]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="ascii")


def rewrite(folder, change):
    """Change the described model by a function, and seal the folder."""
    described = json.loads((folder / "model.json").read_bytes())
    change(described)
    (folder / "model.json").write_text(json.dumps(described), encoding="ascii")
    seal(folder)


def attributes(described):
    return described["model"]["object"][1]


def put_arrays(folder, entries, compression=zipfile.ZIP_STORED):
    """Replace the arrays file by one of these entries, and seal the folder."""
    with zipfile.ZipFile(folder / "arrays.npz", "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    seal(folder)


def entries_of(folder):
    with zipfile.ZipFile(folder / "arrays.npz") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def npy(array, **options):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


def refusal(folder):
    with pytest.raises(ForeignFileError) as caught:
        load(folder)
    message = str(caught.value)
    assert str(folder) in message
    return message


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_anywhere_is_found(folder, name):
    content = (folder / name).read_bytes()
    for place in np.linspace(0, len(content) - 1, 40).astype(int):
        (folder / name).write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert "take a copy that is whole, or save the model again" in refusal(folder)
    (folder / name).write_bytes(content)
    load(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("length", [0, 1, 100])
def test_a_file_cut_short_is_found(folder, name, length):
    (folder / name).write_bytes((folder / name).read_bytes()[:length])
    assert "take a copy that is whole" in refusal(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    assert f"{name} is missing" in refusal(folder)
    (folder / name).mkdir()
    assert f"{name} is a folder" in refusal(folder)


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("no model")
    assert "not a whole saved model" in refusal(tmp_path)
    assert "is not a folder" in refusal(tmp_path / "notes.txt")
    assert "does not exist; give the folder that sidelight.save wrote" in refusal(tmp_path / "nowhere")


def test_a_later_format_says_which_version_reads_it(folder):
    rewrite(folder, lambda described: described.update(format=3, sidelight="7.3.0"))
    assert "is of format 3, written by sidelight 7.3.0" in refusal(folder)
    assert "Install sidelight 7.3.0 or newer" in refusal(folder)


@pytest.mark.parametrize("number", [0, -1, True, 1.0, "1", None, [1]])
def test_a_format_that_is_no_number_of_a_format_is_refused(folder, number):
    rewrite(folder, lambda described: described.update(format=number))
    assert "its format is" in refusal(folder)


@pytest.mark.parametrize(
    "address",
    [
        "os:system",
        "subprocess:Popen",
        "sidelight.__main__:Main",
        "sidelight.cli.main:Context",
        "sidelight.side.information:os",
        "sidelight.side.information:Any",
        "sidelight.side.nothing:Record",
        "sidelight.side.information:Closure",
        "sidelight.side.information:SideInformation.build",
        "sidelight.estimators.base.mixture:MixtureEstimator",
        "sidelight.estimators.base.history:Recorder",
        "sidelight.side.information:SideInformation",
        "Closure",
        "Recorder",
        "SideInformation.build",
        "sidelight",
        "",
    ],
)
def test_only_estimators_and_records_of_sidelight_are_made(folder, address):
    rewrite(folder, lambda described: described["model"]["object"].__setitem__(0, address))
    assert f"it names {address!r}" in refusal(folder)


def test_a_record_is_no_model(folder):
    gamma = ["Gamma", {"shape": 1.0, "rate": 1.0}]
    rewrite(folder, lambda described: described["model"].update(object=gamma))
    assert "it describes no estimator" in refusal(folder)


def test_nothing_foreign_is_imported(folder, tmp_path, monkeypatch):
    (tmp_path / "planted.py").write_text("class Model: pass")
    monkeypatch.syspath_prepend(tmp_path)
    rewrite(folder, lambda described: described["model"]["object"].__setitem__(0, "planted:Model"))
    assert "it names 'planted:Model'" in refusal(folder)
    assert "planted" not in sys.modules


@pytest.mark.parametrize(
    "value",
    [
        {"unknown": 1},
        {"tuple": [], "dict": []},
        {},
        {"tuple": 3},
        {"dict": [[1]]},
        {"dict": [[[], 1]]},
        {"float": "1e3"},
        {"int": "ten"},
        {"bytes": "%"},
        {"scalar": ["O", 1]},
        {"scalar": ["<f16", 1.0]},
        {"scalar": ["i8,i8", 1]},
        {"scalar": ["<i8", "one"]},
        {"array": "absent"},
        {"array": []},
        {"strings": [[2], ["a"]]},
        {"strings": [[1], [3]]},
        {"objects": [[3], []]},
        {"sparse": ["eval", [1, 1], 0, 0, 0]},
        {"sparse": ["csr_array", [2, 2], {"array": "labels_"}, {"array": "labels_"}, {"array": "labels_"}]},
        {"object": []},
        {"object": ["Gamma", {"shape": 1.0}]},
        {"object": ["Gamma", {"shape": 1.0, "rate": 1.0, "more": 1}]},
        {"object": ["Gamma", 3]},
        {"object": ["LabelledMixture", {"depth": 3}]},
        json.loads("[" * 500 + "]" * 500),
    ],
)
def test_forms_that_stand_for_nothing_are_refused(folder, value):
    described = json.loads((folder / "model.json").read_bytes())
    described["model"]["object"][1]["tol"] = value
    if isinstance(value, list):
        # Deeper than the interpreter goes, and than json can write.
        text = json.dumps(described | {"model": None}).replace("null", "[" * 100_000 + "]" * 100_000)
    else:
        text = json.dumps(described)
    (folder / "model.json").write_text(text, encoding="ascii")
    seal(folder)
    assert "model.json cannot be read as a saved model" in refusal(folder)


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[]", b"{}", b"3", b'{"format": 1}', b'{"format": 1, "sidelight": ""}']
)
def test_json_of_something_else_is_refused(folder, content):
    (folder / "model.json").write_bytes(content)
    seal(folder)
    assert "model.json cannot be read as a saved model" in refusal(folder)


class TestArrays:
    def test_an_array_too_many_or_too_few(self, folder):
        entries = entries_of(folder)
        put_arrays(folder, entries | {"more.npy": npy(np.zeros(1))})
        assert "holds arrays that model.json does not name: ['more']" in refusal(folder)
        del entries["labels_.npy"]
        put_arrays(folder, entries)
        assert "names the array 'labels_', which the arrays file does not hold" in refusal(folder)

    def test_something_that_is_no_array(self, folder):
        entries = entries_of(folder)
        put_arrays(folder, entries | {"labels_.npy": b"no array"})
        assert "'labels_.npy' in it does not begin as an array does" in refusal(folder)
        put_arrays(folder, entries | {"notes.txt": b""})
        assert "'notes.txt', which is not an array" in refusal(folder)
        (folder / "arrays.npz").write_bytes(b"PK" * 50)
        seal(folder)
        assert "not a whole .npz file" in refusal(folder)

    def test_pickled_objects(self, folder):
        planted = npy(np.array([print], dtype=object), allow_pickle=True)
        put_arrays(folder, entries_of(folder) | {"labels_.npy": planted})
        assert "is of type object" in refusal(folder)

    def test_a_shape_that_is_not_there(self, folder):
        content = npy(np.zeros(12, dtype=np.int32)).replace(b"(12,), }              ", b"(1200000000000,), }   ")
        assert b"1200000000000" in content
        put_arrays(folder, entries_of(folder) | {"labels_.npy": content})
        assert "declares a shape of (1200000000000,), but is of another size" in refusal(folder)

    def test_compressed_entries(self, folder):
        put_arrays(folder, entries_of(folder) | {"labels_.npy": npy(np.zeros(2_000_000))}, zipfile.ZIP_DEFLATED)
        assert (folder / "arrays.npz").stat().st_size < 200_000
        assert "is compressed" in refusal(folder)

    def test_entries_that_declare_more_than_there_is(self, folder):
        put_arrays(folder, {"labels_.npy": npy(np.zeros(4))})
        content = bytearray((folder / "arrays.npz").read_bytes())
        directory = content.rindex(b"PK\x01\x02")
        # The compressed and the plain size in the central directory.
        content[directory + 20 : directory + 28] = (2_000_000_000).to_bytes(4, "little") * 2
        (folder / "arrays.npz").write_bytes(content)
        seal(folder)
        assert "declare more bytes than it has" in refusal(folder)

    def test_two_arrays_of_one_name(self, folder):
        with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(folder / "arrays.npz", "a") as archive:
            archive.writestr("labels_.npy", npy(np.zeros(12, dtype=np.int32)))
        seal(folder)
        assert "two arrays of one name" in refusal(folder)

    @pytest.mark.parametrize(("dtype", "shape"), [("|S0", (10**12,)), ("<f8", (0, 10**30)), ("|S0", (-1, -(10**9)))])
    def test_a_shape_that_takes_no_room_in_the_file(self, folder, dtype, shape):
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": shape})
        put_arrays(folder, entries_of(folder) | {"labels_.npy": header.getvalue()})
        assert str(folder / "arrays.npz") in refusal(folder)

    @pytest.mark.parametrize("described", ["{'descr': '<f8', 'fortran_order': False, 'shape': (3L,", "(" * 500, '"""'])
    def test_a_header_that_is_no_description(self, folder, described):
        text = described.encode("ascii") + b"\n"
        header = np.lib.format.magic(1, 0) + len(text).to_bytes(2, "little") + text
        put_arrays(folder, entries_of(folder) | {"labels_.npy": header})
        assert str(folder / "arrays.npz") in refusal(folder)


def test_strings_that_would_take_far_more_room_than_the_file(folder):
    """Two hundred kilobytes of JSON would become 1.6 GB."""
    cells = ["x" * 200_000, *["y"] * 1_999]
    rewrite(folder, lambda described: attributes(described).update(cluster_names_={"strings": [[2000], cells]}))
    tracemalloc.start()
    assert "more room than the file" in refusal(folder)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_names_of_very_different_lengths_come_back(tmp_path):
    names = np.array(["short", "x" * 2_000_000, *(f"name {number}" for number in range(20))])
    model = LabelledMixture(2).fit(np.arange(12.0)[:, None])
    model.cluster_names_ = names
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").cluster_names_.tolist() == names.tolist()


@pytest.mark.parametrize(
    "value",
    [
        {"float": "1e999999999"},
        {"scalar": ["<i1", 10**400]},
        {"scalar": ["<f8", 10**400]},
        {"objects": [[10**30], []]},
        {"sparse": ["csr_array", [2**70, 3], {"array": "means_"}, {"array": "means_"}, {"array": "means_"}]},
        {"object": ["SideInformation", {"n_rows": 10**30}]},
    ],
)
def test_numbers_beyond_what_arrays_hold(folder, value):
    rewrite(folder, lambda described: attributes(described).update(extra_=value))
    assert str(folder / "model.json") in refusal(folder)


@needs_posix
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["pipe", "link to a device", "link to itself"])
def test_what_is_not_a_regular_file_is_not_read(folder, name, kind):
    path = folder / name
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "link to a device" else name)
    message = refusal(folder)
    assert str(path) in message
    assert "take a copy that is whole" in message
