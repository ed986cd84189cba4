"""What users pass to a mixture: the table, which is read and surveyed, side information and weights."""

from dataclasses import replace
from typing import Any

import numpy as np

from sidelight._typing import FloatArray
from sidelight.estimators.base.features import PosteriorFeatures
from sidelight.estimators.starts.sample import Problem
from sidelight.side import SideInformation
from sidelight.side.transforms import pooled
from sidelight.tables.canonical_scale import canonical_power
from sidelight.tables.encoding import encode
from sidelight.tables.power import transformed, transformed_table
from sidelight.tables.power_choice import PowerChoice, choose_power, learn_powers
from sidelight.tables.schema import FamilyChoice, Schema, learn_schema
from sidelight.tables.sources import TableSource, in_memory, opened, source_of
from sidelight.tables.survey import Survey, survey_columns, survey_finite
from sidelight.tables.table import ArrayTable, Table
from sidelight.tables.validation import (
    admit_columns,
    admit_table,
    as_frame_or_array,
    column_names,
    read_table,
    read_weights,
    refuse_other_order,
    refuse_text_columns,
)

# How ``power`` may ask for columns to be transformed.
POWER_CHOICES: dict[str, PowerChoice] = {"auto": choose_power, "canonical": canonical_power}
# What messages call columns of numbers.
_NUMBERS = {"gaussian": "Gaussian", "student_t": "Student t"}


class TableReader(PosteriorFeatures):
    """An estimator that reads tables of any column kinds, by the schema of the table it is fitted to."""

    family: FamilyChoice

    # Whether Gaussian columns may have missing cells.
    takes_missing = False
    # Whether tables may be elsewhere: in files, or on a cluster.
    takes_sources = False
    # Which columns to transform; an estimator with a parameter of this name asks its user.
    power: str | bool = False

    _schema: Schema

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_missing
        tags.input_tags.sparse = self.family == "multinomial"
        return tags

    def _gives_numbers(self) -> bool:
        """Say whether parameters give numbers in the units of columns, which must then keep them; none by default."""
        return False

    def _read_problem(
        self,
        X: Any,
        y: Any,
        must_link: Any,
        cannot_link: Any,
        side: SideInformation | None,
        sample_id: Any,
        sample_weight: Any,
        *,
        reset: bool,
    ) -> Problem:
        """Return the table, on the scales to fit it on, with its side information and weights.

        ``reset`` for the first table, whose schema later ones are held against.
        """
        refuse_other_order(X, y=y, sample_id=sample_id, sample_weight=sample_weight)
        table = self._read_table(X, reset=reset)
        known = self._read_side(table.shape[0], y, must_link, cannot_link, side, sample_id)
        weights = read_weights(sample_weight, table.shape[0])
        return Problem(self._on_chosen_scales(table, weights) if reset else table, known, weights)

    def _read_table(self, X: Any, *, reset: bool) -> Table:
        """Return the table as numbers; ``reset`` when fitting, so that later tables are held against this one."""
        X = opened(X) if self.takes_sources else in_memory(self, X)
        source = source_of(X)
        if source is not None:
            return self._read_source(source, reset=reset)
        if self.family == "gaussian" and not self.takes_missing:
            array = read_table(self, X, reset=reset)
            if reset:
                self._schema = Schema.uniform("gaussian", array.shape[1], column_names(X))
            return ArrayTable(transformed(array, self._schema.powers))
        admitted = admit_table(self, X, sparse=self.family == "multinomial", reset=reset)
        if reset:
            self._schema = learn_schema(admitted, self.family)
        return ArrayTable(encode(admitted, self._schema))

    def _read_source(self, source: TableSource, *, reset: bool) -> Table:
        """Return a table that is elsewhere as numbers, without bringing it here."""
        admit_columns(self, source.empty, reset=reset)
        if reset and self.family == "gaussian" and not self.takes_missing:
            refuse_text_columns(source.empty)
            self._schema = Schema.uniform("gaussian", source.shape[1], column_names(source.empty))
        elif reset:
            self._schema = learn_schema(as_frame_or_array(source.sample()), self.family)
        return source.encoded(self._schema)

    def _read_side(
        self, n: int, y: Any, must_link: Any, cannot_link: Any, side: SideInformation | None, sample_id: Any
    ) -> SideInformation:
        """Pool all side information; refuse statements that this estimator cannot use."""
        return pooled(n, y, must_link, cannot_link, side, sample_id, takes=self.takes, refuse=self._refuse)

    def _on_chosen_scales(self, table: Table, weights: FloatArray | None) -> Table:
        """Return the table to fit: where ``power`` says so, with columns transformed; the schema has by what."""
        if not self.power or table.is_sparse or self._gives_numbers():
            return table
        choose = POWER_CHOICES[str(self.power)]
        powers = learn_powers(table, weights, self._schema.of_kind("gaussian"), choose)
        if powers is None:
            return table
        self._schema = replace(self._schema, powers=powers)
        return transformed_table(table, powers)

    def _survey(self, table: Table, weights: FloatArray | None) -> Survey:
        """Look at all cells once and refuse those that no component has a density for."""
        if self.takes_missing:
            return survey_columns(table, weights, self._schema)
        if set(self._schema.kinds) == {"gaussian"}:
            return survey_finite(self, table, weights)
        found = survey_columns(table, weights, self._schema)
        numbers = np.union1d(self._schema.of_family("gaussian"), self._schema.of_family("student_t"))
        gaps = numbers[found.observed[numbers] < found.total]
        if len(gaps):
            raise ValueError(
                f"X: {self._schema.label(gaps[0])} has missing cells; {type(self).__name__} needs a number in every "
                f"cell of a {_NUMBERS[self._schema.families[gaps[0]]]} column: fill them in "
                "(sklearn.impute.SimpleImputer), or use BayesianMixture."
            )
        return found
