"""Files of a folder with their SHA-256 checksums, as ``sha256sum --check SHA256SUMS`` reads them."""

import hashlib
import stat
from collections.abc import Mapping
from pathlib import Path

CHECKSUMS = "SHA256SUMS"


class SpecialFileError(OSError):
    """What should be a file is a pipe, a device or a socket, which need not end; the message names it."""


class ChecksumError(ValueError):
    """A file differs from its checksum, or has none; the message names the file."""


def write_with_checksums(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, by their names, and their checksums to a folder."""
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    for name, content in {**files, CHECKSUMS: "".join(lines).encode("ascii")}.items():
        (folder / name).write_bytes(content)


def read_checked(folder: Path, name: str) -> bytes:
    """Return the content of a file, which must agree with its checksum."""
    recorded = _recorded(folder / CHECKSUMS)
    if name not in recorded:
        raise ChecksumError(f"{folder / CHECKSUMS} has no checksum of {name}")
    content = _content(folder / name)
    if hashlib.sha256(content).hexdigest() != recorded[name]:
        raise ChecksumError(f"{folder / name} has been changed or damaged: it does not match {CHECKSUMS}")
    return content


def _content(path: Path) -> bytes:
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # reading a folder says what is wrong
        raise SpecialFileError(f"{path} is not a regular file")
    return path.read_bytes()


def _recorded(path: Path) -> dict[str, str]:
    content = _content(path)
    try:
        pairs = [line.split("  ") for line in content.decode("ascii").splitlines()]
        recorded = {name: checksum for checksum, name in pairs}
    except ValueError:
        recorded = {}
    if "".join(f"{recorded[name]}  {name}\n" for name in sorted(recorded)).encode("ascii") != content or not recorded:
        raise ChecksumError(f"{path} is not as sidelight writes it")
    return recorded
