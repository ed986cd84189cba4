"""The kinds of columns (to move next to their families)."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from sklearn.decomposition import TruncatedSVD

from sidelight._typing import AnyArray, BoolArray, FloatArray
from sidelight.families.conjugate.beta_bernoulli import BetaBernoulli
from sidelight.families.conjugate.dirichlet_categorical import DirichletCategorical
from sidelight.families.conjugate.dirichlet_multinomial import DirichletMultinomial
from sidelight.families.conjugate.family import is_no_count
from sidelight.families.conjugate.gamma_poisson import GammaPoisson
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import ColumnKind, Columns, register_kind

_CATEGORY_ROWS = 0.5
_BIT_ROWS = 0.5
_RATE_SHAPE = 1.0
_WORD_OCCURRENCES = 2.0
_UNSEEN_OCCURRENCES = 0.5
# Above this mean a Gaussian describes counts as well as a Poisson distribution does.
_LARGEST_MEAN_COUNT = 20.0
# Mixtures of Poisson distributions vary at least as much as one does; half is for small tables.
_LEAST_DISPERSION = 0.5
_DIRECTIONS = 20
_FURTHER_OCCURRENCES = 10.0
_CATEGORIES = 30


def _standardised(cells: Any, columns: Columns) -> FloatArray:
    return np.nan_to_num((cells - columns.survey.mean) / columns.survey.scale)


@register_kind
class Gaussian(ColumnKind):
    name, noun, plural = "gaussian", "number", "numbers"

    def recognises(self, column: RawColumn) -> bool:
        return column.holds in ("numbers", "integers")

    def embed(self, cells: Any, weights: FloatArray, columns: Columns, random: np.random.RandomState) -> FloatArray:
        return _standardised(cells, columns)

    def family(self, columns: Columns, settings: Any) -> Any:
        return settings.gaussian(columns.survey)


@register_kind
class Categorical(ColumnKind):
    name, noun, plural = "categorical", "category", "categories"
    encodes = True

    def recognises(self, column: RawColumn) -> bool:
        return column.holds == "text"

    def embed(self, cells: Any, weights: FloatArray, columns: Columns, random: np.random.RandomState) -> FloatArray:
        return np.concatenate([_indicators(codes, weights) for codes in cells.T], axis=1)

    def family(self, columns: Columns, settings: Any) -> Any:
        return DirichletCategorical.symmetric(columns.n_categories, concentration=_CATEGORY_ROWS)


def _indicators(codes: FloatArray, weights: FloatArray) -> FloatArray:
    seen = ~np.isnan(codes)
    counts = np.bincount(codes[seen].astype(np.intp), weights=weights[seen], minlength=1)
    frequent = np.argsort(-counts, kind="stable")[:_CATEGORIES]
    shares = counts[frequent] / max(counts.sum(), np.finfo(float).tiny)
    centred = np.where(seen[:, None], (codes[:, None] == frequent) - shares, 0.0)
    variance = float(shares @ (1.0 - shares))
    return centred / np.sqrt(variance) if variance > 0 else centred


@register_kind
class Poisson(ColumnKind):
    name, noun, plural = "poisson", "count", "counts"
    takes = "counts 0, 1, 2, …"

    def recognises(self, column: RawColumn) -> bool:
        if column.holds != "integers":
            return False
        seen = column.values[~np.isnan(column.values)]
        if not seen.size or seen.min() != 0:
            return False
        mean = seen.mean()
        return bool(mean <= _LARGEST_MEAN_COUNT and seen.var() >= _LEAST_DISPERSION * mean)

    def misfits(self, cells: AnyArray) -> BoolArray:
        return is_no_count(cells)

    def embed(self, cells: Any, weights: FloatArray, columns: Columns, random: np.random.RandomState) -> FloatArray:
        roots = np.sqrt(cells)
        observed = np.maximum(weights @ ~np.isnan(roots), np.finfo(float).tiny)
        centred = roots - weights @ np.nan_to_num(roots) / observed
        variances = weights @ np.square(np.nan_to_num(centred)) / observed
        return np.nan_to_num(centred) / np.where(variances > 0, np.sqrt(variances), 1.0)

    def family(self, columns: Columns, settings: Any) -> Any:
        return GammaPoisson.scaled(columns.survey.mean, shape=_RATE_SHAPE)


@register_kind
class Bernoulli(ColumnKind):
    name, noun, plural = "bernoulli", "yes or no", "yes or no"
    takes = "0 and 1"

    def recognises(self, column: RawColumn) -> bool:
        if column.holds == "booleans":
            return True
        if column.holds != "integers":
            return False
        seen = column.values[~np.isnan(column.values)]
        return bool(seen.size and seen.min() >= 0 and seen.max() <= 1)

    def misfits(self, cells: AnyArray) -> BoolArray:
        return ~(np.isnan(cells) | (cells == 0) | (cells == 1))

    def embed(self, cells: Any, weights: FloatArray, columns: Columns, random: np.random.RandomState) -> FloatArray:
        return _standardised(cells, columns)

    def family(self, columns: Columns, settings: Any) -> Any:
        return BetaBernoulli.symmetric(len(columns.survey.mean), concentration=_BIT_ROWS)


@register_kind
class Multinomial(ColumnKind):
    name, noun, plural = "multinomial", "count", "counts"
    takes = "counts 0, 1, 2, …, none of them missing"
    whole_rows = True

    def recognises(self, column: RawColumn) -> bool:
        return False

    def misfits(self, cells: AnyArray) -> BoolArray:
        return is_no_count(cells) | np.isnan(cells)

    def embed(self, cells: Any, weights: FloatArray, columns: Columns, random: np.random.RandomState) -> FloatArray:
        sizes = np.asarray(cells.sum(axis=1), dtype=float).reshape(-1)
        occurrences = np.asarray(weights @ cells, dtype=float) + _FURTHER_OCCURRENCES
        proportions = diags_array(1.0 / np.maximum(sizes, 1.0)) @ csr_array(cells)
        scaled = proportions @ diags_array(np.sqrt(occurrences.sum() / occurrences))
        if scaled.shape[1] <= _DIRECTIONS:
            return scaled.toarray()
        return TruncatedSVD(min(_DIRECTIONS, scaled.shape[0]), random_state=random).fit_transform(scaled)

    def family(self, columns: Columns, settings: Any) -> Any:
        survey = columns.survey
        # Words that the table lacks may still be met later.
        occurrences = survey.total * survey.mean + _UNSEEN_OCCURRENCES
        concentrations = _WORD_OCCURRENCES * len(occurrences) * occurrences / occurrences.sum()
        return DirichletMultinomial(concentrations, length=max(round(survey.mean.sum()), 1))
