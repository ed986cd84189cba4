"""The command line on files that were changed: it ends with 0 or 2, and nothing half-written is left."""

import functools
import gzip
import shutil
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from click.testing import CliRunner

from sidelight.cli.main import main

_CELLS = (
    *(
        "",
        " ",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "1e400",
        "1e-400",
        "?",
        "k.A.",
        "0",
        "-0",
        "007",
        "1,5",
        "1.234,56",
        "$3.00",
    ),
    *(
        "12%",
        "=cmd|' /C calc'!A0",
        "\x1b[31mred",
        '"',
        '""',
        '"a',
        "a\nb",
        "31.12.2020",
        "2020-02-30",
        "\ufeff",
        "é",
        "\u202e",
    ),
    *("true", "-", "x" * 3000, "9" * 400, "0x1F", "1_000", "#N/A", "'", ";", "\t", "|", "\x00", "NULL", "[1, 2]"),
)
_KINDS = (".csv", ".tsv", ".parquet", ".feather", ".csv.gz", ".csv.zip", ".xlsx")
_QUICK = ("--model", "labelled", "--clusters", "2", "--no-report", "--quiet")
_OPTIONS = (
    ("--confidence", "nan"),
    ("--encoding", "latin-1"),
    ("--encoding", "utf-16"),
    ("--categorical", "spent"),
    ("--number", "colour"),
    ("--number", "spent"),
    ("--ordinal", "colour=red<green<blue"),
    ("--ordinal", "visits"),
    ("--date", "since"),
    ("--date", "since=%Y-%m-%d"),
    ("--log", "spent"),
    ("--ignore", "visits"),
    ("--noise",),
    ("--escape-formulas",),
    ("--json",),
)


def _table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    group = np.arange(30) % 2
    return pd.DataFrame(
        {
            "id": [f"r{row}" for row in range(30)],
            "label": np.where(np.arange(30) < 6, np.array(["a", "b"])[group], ""),
            "spent": np.exp(random.normal(3 + 2 * group)).round(2),
            "visits": random.poisson(2 + 6 * group),
            "colour": random.choice(["red", "green", "blue"], 30),
            "since": pd.date_range("2020-01-01", periods=30).strftime("%Y-%m-%d"),
        }
    )


@functools.cache
def whole_files() -> dict[str, bytes]:
    """Return a table in every kind of file, links, and the files of a result."""
    with tempfile.TemporaryDirectory() as name:
        folder, table = Path(name), _table()
        table.to_csv(folder / "t.csv", index=False)
        table.to_csv(folder / "t.tsv", index=False, sep="\t")
        table.to_parquet(folder / "t.parquet")
        table.to_feather(folder / "t.feather")
        table.to_excel(folder / "t.xlsx", index=False)
        content = (folder / "t.csv").read_bytes()
        (folder / "t.csv.gz").write_bytes(gzip.compress(content, mtime=0))
        with zipfile.ZipFile(folder / "t.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("t.csv", content)
        links = "id_a,id_b,relation,confidence\nr0,r2,must,1\nr0,r1,cannot,0.9\nr3,r5,must,\n"
        (folder / "links.csv").write_text(links)
        fitted = CliRunner().invoke(
            main, ["fit", str(folder / "t.csv"), "--id-column", "id", *_QUICK, "-o", str(folder / "result")]
        )
        if fitted.exit_code:
            raise RuntimeError(fitted.stderr)
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def changed(random: np.random.Generator, content: bytes, *, text: bool) -> bytes:
    """Return the content of a file with something changed; text by cells and lines, or by bytes as other files."""
    for _ in range(random.integers(1, 4)):
        change = _other_text if text and random.random() < 0.7 else _other_bytes
        content = change(random, content)
    return content


def _other_text(random: np.random.Generator, content: bytes) -> bytes:
    lines = content.decode("utf-8", errors="surrogateescape").split("\n")
    at = int(random.integers(len(lines)))
    match random.integers(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[random.integers(len(lines))])
        case 2:
            lines = lines[:at]
        case 3:
            lines.insert(at, "")
        case _:
            cells = lines[at].split(",")
            cells[random.integers(len(cells))] = str(_CELLS[random.integers(len(_CELLS))])
            lines[at] = ",".join(cells)
    return "\n".join(lines).encode("utf-8", errors="surrogateescape")


def _other_bytes(random: np.random.Generator, content: bytes) -> bytes:
    if not content:
        return bytes(random.integers(0, 256, 10, dtype=np.uint8))
    at = int(random.integers(len(content)))
    match random.integers(5):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + bytes(random.integers(0, 256, 5, dtype=np.uint8)) + content[at:]
        case 2:
            return content[at:] + content[:at]
        case _:
            return content[:at] + bytes([random.integers(256)]) + content[at + 1 :]


def complaint(number: int) -> str | None:
    """Return what is wrong with how the command of a number ends, None if nothing is."""
    random = np.random.default_rng(number)
    files = dict(whole_files())
    folder = Path(tempfile.mkdtemp())
    try:
        arguments = _command(random, files, folder)
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        before = {path.name for path in folder.iterdir()}
        ended = CliRunner().invoke(main, arguments)
        told = f"{' '.join(arguments[:1] + arguments[2:])}".replace(str(folder), "")
        if ended.exit_code not in (0, 2):
            return f"{told}: exit {ended.exit_code}: {ended.stderr[-300:]}"
        if ended.exit_code == 2 and "Traceback" in ended.stderr:
            return f"{told}: a traceback"
        new = {path.name for path in folder.iterdir()} - before
        wanted = {"out", "out.csv"} if ended.exit_code == 0 else set()
        if not new <= wanted:
            return f"{told}: exit {ended.exit_code}, and {sorted(new)} are left"
        return None
    finally:
        shutil.rmtree(folder)


def _command(random: np.random.Generator, files: dict[str, bytes], folder: Path) -> list[str]:
    """Draw a command, and change a file that it reads."""
    match random.integers(10):
        case 0 | 1:
            name = str(random.choice([name for name in files if name.startswith("result/")]))
            files[name] = changed(random, files[name], text=name.endswith((".csv", ".json")))
            asks = random.random() < 0.5
            table = [] if asks else [str(folder / "t.csv")]
            return [
                "ask" if asks else "predict",
                str(folder / "result"),
                *table,
                "-o",
                str(folder / "out.csv"),
                "--quiet",
            ]
        case 2:
            files["t.csv"] = changed(random, files["t.csv"], text=True)
            return ["predict", str(folder / "result"), str(folder / "t.csv"), "-o", str(folder / "out.csv"), "--quiet"]
        case 3:
            files["links.csv"] = changed(random, files["links.csv"], text=True)
            links = ["--links", str(folder / "links.csv"), "--model", "equivalence", "--clusters", "2"]
            quiet = ["--no-report", "--quiet", "-o", str(folder / "out")]
            return ["fit", str(folder / "t.csv"), "--id-column", "id", *links, *quiet]
        case _:
            name = "t" + str(random.choice(_KINDS))
            files[name] = changed(random, files[name], text=name in ("t.csv", "t.tsv"))
            options: list[str] = []
            for _ in range(random.integers(0, 3)):
                options.extend(_OPTIONS[random.integers(len(_OPTIONS))])
            if random.random() < 0.7:
                options.extend(("--id-column", "id"))
            if random.random() < 0.7:
                options.extend(("--label-column", "label"))
            return ["fit", str(folder / name), *options, *_QUICK, "-o", str(folder / "out")]
