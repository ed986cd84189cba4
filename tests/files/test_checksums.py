"""Checksums beside files find every change."""

import shutil
import subprocess

import pytest

from sidelight.files.checksums import ChecksumError, read_checked, write_with_checksums


def test_what_is_written_is_read(tmp_path):
    write_with_checksums(tmp_path, {"b.bin": b"\0\1", "a.txt": b"text"})
    assert read_checked(tmp_path, "a.txt") == b"text"
    assert read_checked(tmp_path, "b.bin") == b"\0\1"


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="the system has no sha256sum")
def test_sha256sum_reads_them(tmp_path):
    write_with_checksums(tmp_path, {"b.bin": b"\0\1", "a.txt": b"text"})
    assert subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path, check=False).returncode == 0


def test_changes_are_named(tmp_path):
    write_with_checksums(tmp_path, {"a.txt": b"text"})
    with pytest.raises(ChecksumError, match="SHA256SUMS has no checksum of b.txt"):
        read_checked(tmp_path, "b.txt")
    (tmp_path / "a.txt").write_bytes(b"test")
    with pytest.raises(ChecksumError, match="a.txt has been changed or damaged"):
        read_checked(tmp_path, "a.txt")
    (tmp_path / "SHA256SUMS").write_bytes(b"")
    with pytest.raises(ChecksumError, match="SHA256SUMS is not as sidelight writes it"):
        read_checked(tmp_path, "a.txt")
