"""``sidelight demo``: how far a few labels and links help, on a real table."""

from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from sidelight._typing import AnyArray, FloatArray
from sidelight.cli import options
from sidelight.files.whole import whole_file

_LABELS = 50
_LINKS = 40
_COMPONENTS = 15
_DRAWS = 5


class Draw(NamedTuple):
    """One draw of labels and links, the two fits, and their scores on the rows without statements."""

    labels: AnyArray
    uninformed: Any
    informed: Any
    free: AnyArray
    scores: FloatArray


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("sidelight-demo"),
    show_default=True,
    help="Folder for the picture and the table.",
)
@options.force
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Seed of the draws.")
def demo(output: Path, force: bool, seed: int) -> None:
    """Cluster handwritten digits without and with a handful of labels and links.

    Both models see the same 1797 images. One has no side information; the other has the labels of 50 images and 40
    pairs that show the same digit. Scores are taken on the images without labels and links.
    """
    files = {"picture": output / "digits.png", "table": output / "digits.csv"}
    standing = [str(path) for path in files.values() if path.exists()]
    if standing and not force:
        raise click.UsageError(f"{', '.join(standing)} exists; add --force to overwrite, or choose another --output.")
    try:
        import matplotlib  # noqa: F401  (looked for before the work starts, not after it)
    except ImportError:
        raise click.UsageError("the picture needs matplotlib: pip install 'sidelight[plot]'") from None

    from rich.console import Console
    from rich.progress import track
    from rich.table import Table
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA

    console = Console()
    images, truth = load_digits(return_X_y=True)
    X = PCA(_COMPONENTS, random_state=0).fit_transform(images)
    seeds = range(seed, seed + _DRAWS)
    draws = [_fit_both(X, truth, s) for s in track(seeds, "fitting", console=Console(stderr=True), transient=True)]

    scores = np.stack([draw.scores for draw in draws])
    table = Table(title=f"{len(X)} digits, 10 clusters: images without labels or links, mean ± sd of {_DRAWS} draws")
    for heading in ("given", "accuracy", "adjusted Rand index"):
        table.add_column(heading, justify="left" if heading == "given" else "right")
    for row, given in enumerate(("nothing", f"{_LABELS} labels, {_LINKS} links")):
        cells = [f"{scores[:, row, i].mean():.3f} ± {scores[:, row, i].std():.3f}" for i in range(2)]
        table.add_row(given, *cells)
    console.print(table)

    output.mkdir(parents=True, exist_ok=True)
    _save_picture(files["picture"], X, draws[0])
    _save_table(files["table"], truth, draws[0])
    console.print(f"picture: {files['picture']}\ntable:   {files['table']}", soft_wrap=True, highlight=False)


def _fit_both(X: FloatArray, truth: AnyArray, seed: int) -> Draw:
    from sklearn.metrics import adjusted_rand_score

    from sidelight import LabelledMixture, SideInformation
    from sidelight.metrics import clustering_accuracy_score
    from sidelight.side import draw_labels, draw_links

    labels = draw_labels(truth, number=_LABELS, stratify=True, random_state=seed)
    links = draw_links(truth, n_must=_LINKS, n_cannot=0, random_state=seed)
    side = SideInformation.build(len(X), y=labels, must_link=links.must_link).as_blocks()
    free = ~side.mentioned
    uninformed = LabelledMixture(10, covariance_type="full", random_state=seed).fit(X)
    informed = LabelledMixture(10, random_state=seed).fit(X, side=side)
    scores = [
        [
            clustering_accuracy_score(truth, model.labels_, rows=free),
            adjusted_rand_score(truth[free], model.labels_[free]),
        ]
        for model in (uninformed, informed)
    ]
    return Draw(labels, uninformed, informed, free, np.array(scores))


def _save_picture(path: Path, X: FloatArray, draw: Draw) -> None:
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    from sidelight.plots import ClustersDisplay
    from sidelight.plots.figures import bare_figure

    figure = bare_figure(13, 5.6)
    left, right = figure.subplots(1, 2)
    known = draw.labels >= 0
    informed = ClustersDisplay.from_estimator(draw.informed, X, known=known, ax=right)
    # Clusters that share most images share a colour in both pictures.
    shared = contingency_matrix(draw.uninformed.labels_, draw.informed.labels_)
    colours = linear_sum_assignment(shared, maximize=True)[1]
    ClustersDisplay.from_estimator(draw.uninformed, X, plane=informed.plane, colour_order=colours, ax=left)
    titles = "without labels", f"with {_LABELS} labels and {_LINKS} links"
    for axes, title, score in zip((left, right), titles, draw.scores[:, 0], strict=True):
        axes.set_title(f"{title}: {score:.0%} of the other images are right (first draw)", fontsize=10)
    with whole_file(path, "wb") as file:
        figure.savefig(file, format="png", dpi=110)


def _save_table(path: Path, truth: AnyArray, draw: Draw) -> None:
    model = draw.informed
    certainty = model.posterior_[np.arange(len(truth)), model.labels_]
    rows = zip(model.labels_, certainty, draw.labels, truth, strict=True)
    with whole_file(path) as file:
        file.write("image,cluster,probability,given_label,digit\n")
        for image, (cluster, probability, label, digit) in enumerate(rows):
            given = "" if label < 0 else label
            file.write(f"{image},{model.cluster_names_[cluster]},{probability:.4f},{given},{digit}\n")
