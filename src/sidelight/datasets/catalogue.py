"""The catalogue of data sets: where each comes from, its shape, its classes and its pitfalls."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """What a data set must look like.

    Parameters
    ----------
    shape : (rows, features)
    classes : mapping of str to int
        Rows of each class.
    about : str
        What the rows are, and what to beware of.
    bundled : str, optional
        Name of the loader, where scikit-learn ships the set.
    openml : int, optional
        Number of the set at OpenML, where it is available there.
    first_row : int, default 0
        The first row of OpenML's table that is used.
    stored : {"csv.gz", "npz"}, default "csv.gz"
        How it is stored: a table with the class in its last column, ``target``; or arrays ``X``, ``y`` and optionally
        ``scale``, by which ``X`` is divided.
    origin : str, optional
        Where to get it by hand, where OpenML does not have it.
    """

    shape: tuple[int, int]
    classes: Mapping[str, int]
    about: str
    bundled: str | None = None
    openml: int | None = None
    first_row: int = 0
    stored: str = "csv.gz"
    origin: str | None = None


def _counted(names: str, counts: tuple[int, ...]) -> dict[str, int]:
    return dict(zip(names.split(), counts, strict=True))


_LETTERS = "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z"

CATALOGUE: Mapping[str, Entry] = {
    "iris": Entry((150, 4), _counted("setosa versicolor virginica", (50, 50, 50)), "Iris flowers.", "load_iris"),
    "wine": Entry(
        (178, 13),
        _counted("class_0 class_1 class_2", (59, 71, 48)),
        "Wines of three cultivars; features of very different scales.",
        "load_wine",
    ),
    "digits": Entry(
        (1797, 64),
        _counted("0 1 2 3 4 5 6 7 8 9", (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)),
        "Handwritten digits, 8 by 8 pixels of 0 to 16.",
        "load_digits",
    ),
    "glass": Entry(
        (214, 9),
        _counted(
            "building_windows_float building_windows_non_float vehicle_windows_float containers tableware headlamps",
            (70, 76, 17, 13, 9, 29),
        ),
        "Glass found at scenes of crime (UCI).",
        openml=41,
    ),
    "yeast": Entry(
        (1484, 8),
        _counted("CYT NUC MIT ME3 ME2 ME1 EXC VAC POX ERL", (463, 429, 244, 163, 51, 44, 35, 30, 20, 5)),
        "Where yeast proteins are found in the cell (UCI). erl and pox hold one value nearly everywhere.",
        openml=181,
    ),
    "haberman": Entry(
        (306, 3),
        _counted("survived_5y died_within_5y", (225, 81)),
        "Survival after surgery for breast cancer (UCI). Six groups of equal rows differ in class.",
        openml=43,
    ),
    "thyroid": Entry(
        (215, 5),
        _counted("normal hyper hypo", (150, 35, 30)),
        "Functioning of the thyroid gland (UCI new-thyroid). Benchmarks with two classes take normal against the rest.",
        openml=40682,
    ),
    "mnist_test": Entry(
        (10000, 784),
        _counted("0 1 2 3 4 5 6 7 8 9", (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)),
        "The test images of MNIST, 28 by 28 pixels of 0 to 255.",
        openml=554,
        first_row=60000,
        stored="npz",
    ),
    "coil20": Entry(
        (1440, 1024),
        {str(number): 72 for number in range(1, 21)},
        "Twenty objects on a turntable, 32 by 32 pixels of 0 to 1 (Columbia University).",
        stored="npz",
        origin="COIL20.mat of the repository jundongl/scikit-feature",
    ),
    "ecoli": Entry(
        (336, 7),
        _counted("cp im pp imU om omL imL imS", (143, 77, 52, 35, 20, 5, 2, 2)),
        "Where proteins of E. coli are found in the cell (UCI). lip and chg hold one value nearly everywhere.",
        openml=39,
    ),
    "liver": Entry(
        (345, 6),
        _counted("1 2", (145, 200)),
        "Blood tests and drinks (UCI Liver Disorders). The class was meant as a split in training and test, not as a "
        "diagnosis; papers use it as the class nevertheless.",
        origin="bupa.data of the UCI repository, whose last column is the class",
    ),
    "pima": Entry(
        (768, 8),
        _counted("neg pos", (500, 268)),
        "Diabetes among Pima women. Zeros stand for missing values in glucose, pressure, triceps, insulin and mass.",
        openml=37,
    ),
    "breast_cancer_wisconsin": Entry(
        (683, 9),
        _counted("benign malignant", (444, 239)),
        "Cells of breast tissue (UCI Wisconsin Original), without the 16 rows that lack a value. 234 rows repeat "
        "earlier ones.",
        openml=15,
    ),
    "ionosphere": Entry(
        (351, 34),
        _counted("good bad", (225, 126)),
        "Radar returns (UCI). One feature is constant.",
        openml=59,
    ),
    "letter": Entry(
        (20000, 16),
        _counted(
            _LETTERS,
            (
                *(789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792),
                *(783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
            ),
        ),
        "Capital letters in many fonts (UCI). 1332 rows repeat earlier ones.",
        openml=6,
    ),
    "pendigits": Entry(
        (10992, 16),
        _counted("0 1 2 3 4 5 6 7 8 9", (1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055)),
        "Digits written on a tablet, eight points of the pen (UCI).",
        openml=32,
    ),
    "leukemia_yeoh": Entry(
        (248, 2526),
        _counted("TEL-AML Hyperdip>50 T-ALL E2A-PBX1 MLL BCR-ABL", (79, 64, 43, 27, 20, 15)),
        "Gene expression of childhood leukemia (Yeoh et al. 2002; filtered by de Souto et al. 2008). Raw values.",
        origin="yeoh-2002-v2_database.txt of the repository padilha/biclustlib, a row for each sample",
    ),
    "lung_bhattacharjee": Entry(
        (203, 1543),
        _counted("AD SQ COID NL SCLC", (139, 21, 20, 17, 6)),
        "Gene expression of lung tissue (Bhattacharjee et al. 2001; filtered by de Souto et al. 2008). Raw values.",
        origin="bhattacharjee-2001_database.txt of the repository padilha/biclustlib, a row for each sample",
    ),
}
