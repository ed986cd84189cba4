"""Fetch 27 further public tables, on which no default was chosen, from packages of Debian and PyPI.

    python benchmarks/further_tables.py FOLDER        # FOLDER/soybean.csv.gz and so on
    SIDELIGHT_DATA=FOLDER python benchmarks/quality.py --further

Packages are downloaded and unpacked, not installed; R (Debian: r-base-core) reads what is in R's own formats. The class
is the column `target`. Columns that name rows are left out, and so are those that give the class away.
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pandas as pd
from scipy.io import arff

R_LIBRARY = Path("usr/lib/R/site-library")


# --- where a table comes from -----------------------------------------------------------------------------------------


class Folders(NamedTuple):
    """Where packages are unpacked, and a place for files in between."""

    packages: Path
    scratch: Path


@dataclass(frozen=True)
class FromR:
    """A table in a package of R; ``expression`` is a data frame, with the data of the package in view."""

    package: str
    expression: str
    file: str | None = None

    def read(self, folders: Folders) -> pd.DataFrame:
        """Return the data frame, which R writes as text."""
        unpacked = debian(f"r-cran-{self.package.lower()}", folders)
        data = next(unpacked.glob(f"usr/lib/R/*library/{self.package}/data"))
        load = f'load("{data / self.file}")' if self.file else f'lazyLoad("{data / "Rdata"}")'
        written = folders.scratch / "table.csv"
        write = f'write.csv({self.expression}, "{written}", row.names=FALSE, na="")'
        subprocess.run(["Rscript", "--vanilla", "-e", f"invisible({load}); {write}"], check=True)
        return pd.read_csv(written)


@dataclass(frozen=True)
class FromWeka:
    """A file of examples of Weka."""

    file: str

    def read(self, folders: Folders) -> pd.DataFrame:
        """Return the data frame; ``?`` is a missing cell."""
        path = debian("weka", folders) / "usr/share/doc/weka/examples" / self.file
        records, _ = arff.loadarff(path)
        frame = pd.DataFrame(records)
        texts = frame.select_dtypes(object).columns
        frame[texts] = frame[texts].apply(lambda column: column.str.decode("utf-8").replace("?", None))
        return frame


@dataclass(frozen=True)
class FromOrange:
    """A table of Orange: two lines about the columns follow their names."""

    file: str

    def read(self, folders: Folders) -> pd.DataFrame:
        """Return the data frame without the columns that only describe rows."""
        wheel = next(pypi("Orange3", folders).glob("*.whl"))
        with ZipFile(wheel) as archive, archive.open(f"Orange/datasets/{self.file}") as stream:
            frame = pd.read_csv(stream, sep="\t", skiprows=[1, 2], na_values=["?"])
        return frame.rename(columns=str.strip)


@dataclass(frozen=True)
class FromText:
    """A table of the package ddalpha: numbers in columns, the last one the class."""

    file: str

    def read(self, folders: Folders) -> pd.DataFrame:
        """Return the data frame."""
        path = debian("r-cran-ddalpha", folders) / R_LIBRARY / "ddalpha/data" / self.file
        return pd.read_csv(path, sep=r"\s+")


def debian(package: str, folders: Folders) -> Path:
    """Return the folder of an unpacked package of Debian."""
    unpacked = folders.packages / package
    if not unpacked.exists():
        subprocess.run(["apt-get", "download", "-qq", package], cwd=folders.scratch, check=True)
        archive = next(folders.scratch.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", archive, unpacked], check=True)
    return unpacked


def pypi(package: str, folders: Folders) -> Path:
    """Return a folder with the wheel of a package of PyPI."""
    folder = folders.packages / package
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, package]
        subprocess.run(command, check=True)
    return folder


# --- the tables -------------------------------------------------------------------------------------------------------


class Source(NamedTuple):
    """Where a table comes from, its class (a column, or several that make it together), and columns left out."""

    table: FromR | FromWeka | FromOrange | FromText
    target: str | tuple[str, ...]
    without: tuple[str, ...] = ()


TISSUES = "with(tissue_gene_expression, data.frame(x, tissue=y))"
SOURCES = {
    "soybean": Source(FromR("mlbench", "Soybean", "Soybean.rda"), "Class"),
    "dna": Source(FromR("mlbench", "DNA", "DNA.rda"), "Class"),
    "vowel": Source(FromR("mlbench", "Vowel", "Vowel.rda"), "Class", ("V1",)),
    "votes": Source(FromR("mlbench", "HouseVotes84", "HouseVotes84.rda"), "Class"),
    "shuttle": Source(FromR("mlbench", "Shuttle", "Shuttle.rda"), "Class"),
    "spam": Source(FromR("kernlab", "spam", "spam.rda"), "type"),
    "musk": Source(FromR("kernlab", "musk", "musk.rda"), "Class"),
    "promoters": Source(FromR("kernlab", "promotergene", "promotergene.rda"), "Class"),
    "crabs": Source(FromR("MASS", "crabs"), ("sp", "sex"), ("index",)),
    "banknotes": Source(FromR("mclust", "banknote"), "Status"),
    "reaven_diabetes": Source(FromR("mclust", "diabetes"), "class"),
    "tissues": Source(FromR("dslabs", TISSUES), "tissue"),
    "olive_oils": Source(FromR("dslabs", "olive"), "area", ("region",)),
    "cell_images": Source(FromR("caret", "segmentationData", "segmentationData.RData"), "Class", ("Cell", "Case")),
    "cooking_oils": Source(FromR("caret", "data.frame(fattyAcids, type=oilType)", "oil.RData"), "type"),
    "dhfr": Source(FromR("caret", "dhfr", "dhfr.RData"), "Y"),
    "scat": Source(FromR("caret", "scat", "scat.RData"), "Species"),
    "fish": Source(FromR("rrcov", "fish", "fish.rda"), "Species"),
    "olitos": Source(FromR("rrcov", "olitos", "olitos.rda"), "grp"),
    "melons": Source(FromR("rrcov", "fruit", "fruit.rda"), "cultivar"),
    "body": Source(FromR("gclus", "body", "body.RData"), "Gender"),
    "vertebrae": Source(FromText("vertebral_column.txt.gz"), "C"),
    "credit": Source(FromWeka("credit-g.arff"), "class"),
    "recurrence": Source(FromWeka("breast-cancer.arff"), "Class"),
    "labor": Source(FromWeka("labor.arff"), "class"),
    "heart": Source(FromOrange("heart_disease.tab"), "diameter narrowing"),
    "yeast_genes": Source(FromOrange("brown-selected.tab"), "function", ("gene",)),
}


def table(source: Source, folders: Folders) -> pd.DataFrame:
    """Return a table with its class as the column ``target``, without rows that have none."""
    frame = source.table.read(folders)
    names = [source.target] if isinstance(source.target, str) else list(source.target)
    target = frame[names].astype("string").agg(" ".join, axis=1) if len(names) > 1 else frame[names[0]]
    found = frame.drop(columns=[*names, *source.without]).assign(target=target)
    return found[found["target"].notna()]


def main() -> None:
    """Fetch the tables that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as packages, tempfile.TemporaryDirectory() as scratch:
        for name, source in SOURCES.items():
            path = folder / f"{name}.csv.gz"
            if not path.exists():
                found = table(source, Folders(Path(packages), Path(scratch)))
                found.to_csv(path, index=False)
                classes = found["target"].nunique()
                print(f"{name}: {len(found)} rows, {found.shape[1] - 1} columns, {classes} classes")


if __name__ == "__main__":
    main()
