"""What the mixtures for linked rows share: classes of components, and starts that see chunklets and neighbours."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.extmath import row_norms

from sidelight._typing import FloatArray, IntArray
from sidelight.estimators.base.clusters import Layout, lay_out_classes
from sidelight.estimators.base.emission import EmissionSettings
from sidelight.estimators.base.likelihood_gaussians import (
    COVARIANCE_TYPES,
    LikelihoodGaussians,
    structure_unless_given,
)
from sidelight.estimators.base.mixture import MixtureEstimator
from sidelight.estimators.starts.partitions import links_of, obedient_partition
from sidelight.estimators.starts.sample import Problem, Sample, StartRows, at_means, from_kmeans_plus_plus
from sidelight.graphs.ward import constrained_ward
from sidelight.inference.loop import ascend
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import AnyFamily
from sidelight.inference.starts import lloyd, nearest_components, spread_centres
from sidelight.side import SideInformation
from sidelight.tables.schema import FamilyChoice
from sidelight.tables.survey import Survey
from sidelight.tables.validation import check_choice, check_integer, check_number

_PRIOR_ROWS_BEYOND = 10


@dataclass(frozen=True, eq=False)
class LinkedSample:
    """A sample whose pieces are found once for all starts."""

    sample: Sample

    @property
    def side(self) -> SideInformation:
        """The side information about its rows."""
        return self.sample.side

    @cached_property
    def pieces(self) -> IntArray:
        """Pieces (m,) of the rows, a few for each class: Ward's clusters on a graph of neighbours, without links.

        Rows of a label stay together, and apart from those of another.
        """
        sample = self.sample
        alone = len(self.side.label_names) + np.arange(len(sample.codes))
        _, together = np.unique(np.where(sample.codes >= 0, sample.codes, alone), return_inverse=True)
        labels = np.full(together.max() + 1, -1)
        labels[together] = sample.codes
        n_pieces = _PIECES_PER_CLASS * sample.layout.n_classes
        return constrained_ward(sample.points, sample.weights, together, _differ(labels), n_pieces)


LinkStart = Callable[[LinkedSample, np.random.RandomState], MixtureState]


class LinkMixture(MixtureEstimator):
    """A mixture with one or several components per class, fitted to links between rows."""

    starts: ClassVar[Mapping[str, LinkStart]]

    def _set_link_options(
        self,
        n_classes: int | None,
        components_per_class: int,
        covariance_type: str,
        family: FamilyChoice,
        prior_rows: float | None,
        prior_scale: float,
        init_params: str,
        means_init: Any,
    ) -> None:
        self.n_classes = n_classes
        self.components_per_class = components_per_class
        self.covariance_type = covariance_type
        self.family = family
        self.prior_rows = prior_rows
        self.prior_scale = prior_scale
        self.init_params = init_params
        self.means_init = means_init

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_classes is not None:
            check_integer("n_classes", self.n_classes, least=1)
        check_integer("components_per_class", self.components_per_class, least=1)
        check_choice("covariance_type", self.covariance_type, (*COVARIANCE_TYPES, "auto"))
        check_choice("init_params", self.init_params, self.starts)
        if self.prior_rows is not None:
            check_number("prior_rows", self.prior_rows, least=0)
        check_number("prior_scale", self.prior_scale, least=0)

    def _settings(self, problem: Problem, survey: Survey) -> EmissionSettings:
        d = len(self._schema.of_family("gaussian"))
        prior_rows = d + _PRIOR_ROWS_BEYOND if self.prior_rows is None else self.prior_rows
        self.covariance_type_ = structure_unless_given(self.covariance_type, self._schema)
        return LikelihoodGaussians(self.covariance_type_, prior_rows, self.prior_scale)

    def _layout(
        self, problem: Problem, few: StartRows, family: AnyFamily, survey: Survey, random: np.random.RandomState
    ) -> Layout:
        return lay_out_classes(problem.side, self.n_classes, self.components_per_class)

    def _total_weight(self, mixture: Mixture, survey: Survey) -> float:
        return survey.total if mixture.rows.weights is None else float(mixture.rows.weights.sum())

    def _start(self, mixture: Mixture, sample: Sample, survey: Survey, random: np.random.RandomState) -> MixtureState:
        """Return where to start: at ``means_init``, or where ``init_params`` says."""
        if self.means_init is not None:
            return at_means(sample, self.means_init, self._schema, survey)
        return self.starts[self.init_params](LinkedSample(sample), random)

    def _too_few_rows(self, layout: Layout, n_rows: int) -> str:
        return (
            f"n_classes={layout.n_classes} with components_per_class={self.components_per_class} needs at least as "
            f"many rows, but n_samples = {n_rows} of them count; use fewer."
        )


_LLOYD_STEPS = 10
_PIECES_PER_CLASS = 2
# A chunklet known to differ from one that is a seed already is so much likelier to become the next.
_DIFFERENT = 3.0
_SHORT_STEPS, _SHORT_TOL = 15, 1e-3


def from_spread_classes(given: LinkedSample, random: np.random.RandomState) -> MixtureState:
    """Start each class at a centre of k-means++ and the rows nearest to it, as Yu et al. do."""
    sample = given.sample
    one_each = np.arange(sample.layout.n_classes)
    centres = spread_centres(sample.points, sample.weights, sample.codes, one_each, random)
    return _from_classes(sample, nearest_components(sample.points, centres, sample.codes, one_each), random)


def from_kmeans_classes(given: LinkedSample, random: np.random.RandomState) -> MixtureState:
    """Start each class at a cluster of k-means."""
    return _from_seeds(given.sample, given.sample.codes, random)


def from_chunklets(given: LinkedSample, random: np.random.RandomState) -> MixtureState:
    """Start classes at chunklets, as far as there are any, and go on by k-means that leaves these where they are."""
    return _from_seeds(given.sample, seed_classes(given, random), random)


def from_ward(given: LinkedSample, random: np.random.RandomState) -> MixtureState:
    """Start from Ward's clusters on a graph of neighbours, without links: they follow the shape of the data."""
    return _from_pieces(given, np.empty((0, 2), dtype=np.int64), random)


def from_ward_votes(given: LinkedSample, random: np.random.RandomState) -> MixtureState:
    """Start from Ward's clusters, where pieces stay apart if more links between them part than join them."""
    return _from_pieces(given, _parted(given.pieces, given.side), random)


def from_obedient_groups(given: LinkedSample, random: np.random.RandomState) -> MixtureState:
    """Start from groups of linked rows that are joined as long as that breaks no link; from chunklets without any."""
    sample = given.sample
    partition = obedient_partition(sample.points, links_of(given.side), sample.layout.n_classes)
    return from_chunklets(given, random) if partition is None else _from_classes(sample, partition, random)


def from_link_runs(given: LinkedSample, random: np.random.RandomState) -> MixtureState:
    """Start from the best of several short runs of the model, of which half have seen the links."""
    begin: list[LinkStart] = [from_ward, from_ward_votes, from_chunklets, from_kmeans_classes]
    if given.sample.whole:
        begin += [from_chunklets, from_chunklets, from_spread_classes, from_spread_classes]
    if not given.sample.layout.n_labelled:
        begin.append(from_obedient_groups)
    mixture = given.sample.mixture
    weights = given.sample.weights if mixture.rows.weights is None else mixture.rows.weights
    tol = _SHORT_TOL * weights.sum()
    traces = [ascend(mixture.step, start(given, random), max_iter=_SHORT_STEPS, tol=tol) for start in begin]
    best = max(traces, key=lambda trace: trace.objectives[-1])
    return best.state.afresh()


PLAIN_STARTS: dict[str, LinkStart] = {"k-means++": from_spread_classes, "kmeans": from_kmeans_classes}
LINK_STARTS: dict[str, LinkStart] = {
    "links": from_link_runs,
    "chunklets": from_chunklets,
    "ward": from_ward,
    **PLAIN_STARTS,
}


def seed_classes(given: LinkedSample, random: np.random.RandomState) -> IntArray:
    """Give classes without a label chunklets to start from; return the class (m,) of each row that has one, else -1.

    Chunklets are drawn one after the other, the large and the far ones with preference, and those that are known to
    differ from the ones drawn before (after the neighbourhoods of Basu, Banerjee and Mooney 2004).
    """
    sample, side, closure = given.sample, given.side, given.side.closure()
    n_chunklets, n_classes = len(closure.sizes), sample.layout.n_classes
    mass = np.bincount(closure.chunklets, weights=sample.weights, minlength=n_chunklets)
    spoken_of = np.bincount(closure.chunklets, weights=side.mentioned, minlength=n_chunklets) > 0
    centres = np.zeros((n_chunklets, sample.points.shape[1]))
    np.add.at(centres, closure.chunklets, sample.points * sample.weights[:, None])
    centres /= np.where(mass > 0, mass, 1.0)[:, None]

    classes = closure.labels.copy()
    seeds = np.flatnonzero(classes >= 0).tolist()
    nearest = np.full(n_chunklets, np.inf)
    preference = np.where(spoken_of, mass, 0.0)
    for seed in seeds:
        nearest = _take(seed, centres, nearest, preference, closure.cannot)
    for c in range(len(side.label_names), n_classes):
        chance = preference * np.where(np.isfinite(nearest), nearest, 1.0)
        if not chance.sum() > 0:
            break
        cumulated = np.cumsum(chance)
        seed = int(np.searchsorted(cumulated, random.uniform() * cumulated[-1], side="right"))
        classes[seed] = c
        nearest = _take(seed, centres, nearest, preference, closure.cannot)
    return classes[closure.chunklets]


def _take(seed: int, centres: FloatArray, nearest: FloatArray, preference: FloatArray, apart: IntArray) -> FloatArray:
    """Make a chunklet a seed: prefer, in place, those that differ from it; return the distances to the nearest seed."""
    preference[apart[apart[:, 0] == seed, 1]] *= _DIFFERENT
    preference[apart[apart[:, 1] == seed, 0]] *= _DIFFERENT
    preference[seed] = 0.0
    return np.minimum(nearest, row_norms(centres - centres[seed], squared=True))


def _differ(labels: IntArray) -> IntArray:
    """Return the pairs of groups with different labels."""
    labelled = np.flatnonzero(labels >= 0)
    first, second = np.triu_indices(len(labelled), k=1)
    pairs = np.column_stack([labelled[first], labelled[second]])
    return pairs[labels[pairs[:, 0]] != labels[pairs[:, 1]]]


def _parted(pieces: IntArray, side: SideInformation) -> IntArray:
    """Return the pairs of pieces with more cannot-links than must-links between them."""
    votes = np.zeros((pieces.max() + 1, pieces.max() + 1))
    for links, vote in ((side.must_link, 1.0), (side.cannot_link, -1.0)):
        ends = np.sort(pieces[links], axis=1)
        np.add.at(votes, (ends[:, 0], ends[:, 1]), vote)
    return np.argwhere(np.triu(votes < 0, k=1))


def _named(clusters: IntArray, codes: IntArray, n_classes: int) -> IntArray:
    """Give clusters numbers so that those with labelled rows have the number of their label."""
    number = np.full(n_classes, -1)
    for code in np.unique(codes[codes >= 0]):
        number[np.bincount(clusters[codes == code]).argmax()] = code
    number[number < 0] = np.setdiff1d(np.arange(n_classes), number)[: np.count_nonzero(number < 0)]
    return number[clusters]


def _from_pieces(given: LinkedSample, apart: IntArray, random: np.random.RandomState) -> MixtureState:
    """Start from pieces merged until there is one for each class."""
    sample, pieces = given.sample, given.pieces
    labels = np.full(pieces.max() + 1, -1)
    np.maximum.at(labels, pieces, sample.codes)
    apart = np.concatenate([_differ(labels), apart])
    clusters = constrained_ward(sample.points, sample.weights, pieces, apart, sample.layout.n_classes)
    return _from_classes(sample, _named(clusters, sample.codes, sample.layout.n_classes), random)


def _from_seeds(sample: Sample, codes: IntArray, random: np.random.RandomState) -> MixtureState:
    """Start from k-means that leaves the rows with a code (m,) in their class."""
    one_each = np.arange(sample.layout.n_classes)
    centres = spread_centres(sample.points, sample.weights, codes, one_each, random)
    classes = lloyd(sample.points, sample.weights, centres, codes, one_each, max_iter=_LLOYD_STEPS)
    return _from_classes(sample, classes, random)


def _from_classes(sample: Sample, classes: IntArray, random: np.random.RandomState) -> MixtureState:
    """Start from the class (m,) of every row, the components of a class at k-means++ centres among its rows."""
    return from_kmeans_plus_plus(sample._replace(codes=classes), random)
