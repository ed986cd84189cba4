"""The errors that a user may want to catch, all ValueErrors as scikit-learn's are; and warnings to filter."""

__all__ = [
    "ContradictionError",
    "DatasetError",
    "ForeignFileError",
    "IgnoredColumnWarning",
    "InfeasibleError",
    "SingularCovarianceError",
]


class ContradictionError(ValueError):
    """Certain statements contradict each other.

    Parameters
    ----------
    message : str
        What was found, where, and what to do.
    chain : tuple of int
        Row numbers of the proof: each is bound to the next, yet the first and the last must stay apart.
    steps : tuple of str
        What binds each row of the chain to the next.
    count : int
        Number of contradictions found in all, of which this is one with a shortest proof.

    Examples
    --------
    >>> from sidelight import COPKMeans
    >>> from sidelight.exceptions import ContradictionError
    >>> try:
    ...     COPKMeans(2).fit([[0.0], [1.0], [2.0]], must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    ... except ContradictionError as error:
    ...     print(error.chain)
    (0, 1, 2)
    """

    def __init__(self, message: str, chain: tuple[int, ...] = (), steps: tuple[str, ...] = (), count: int = 1) -> None:
        super().__init__(message)
        self.chain = chain
        self.steps = steps
        self.count = count


class InfeasibleError(ValueError):
    """No assignment to this number of clusters respects all links, or none was found within the budget.

    Parameters
    ----------
    message : str
        What was found, where, and what to do.
    rows : tuple of int
        Rows that cannot be divided among the clusters; empty where nothing was proven.
    links : tuple of pairs of int
        The cannot-links among them, as rows; pairs that only their labels keep apart included.
    proven : bool
        Whether it is known that there is no assignment.

    Examples
    --------
    >>> from sidelight import COPKMeans
    >>> from sidelight.exceptions import InfeasibleError
    >>> try:
    ...     COPKMeans(2).fit([[0.0], [1.0], [2.0]], cannot_link=[(0, 1), (1, 2), (0, 2)])
    ... except InfeasibleError as error:
    ...     print(error.rows, error.proven)
    (0, 1, 2) True
    """

    def __init__(
        self,
        message: str,
        rows: tuple[int, ...] = (),
        links: tuple[tuple[int, int], ...] = (),
        *,
        proven: bool = True,
    ) -> None:
        super().__init__(message)
        self.rows = rows
        self.links = links
        self.proven = proven


class ForeignFileError(ValueError):
    """A folder or file is not a saved model, is damaged, or was written by something else.

    Examples
    --------
    >>> import tempfile
    >>> import sidelight
    >>> from sidelight.exceptions import ForeignFileError
    >>> with tempfile.TemporaryDirectory() as empty:
    ...     try:
    ...         sidelight.load(empty)
    ...     except ForeignFileError:
    ...         print("not a model")
    not a model
    """


class SingularCovarianceError(ValueError):
    """A covariance has no inverse: too few distinct rows for it, and no prior that would help.

    Examples
    --------
    >>> from sidelight import LabelledMixture
    >>> from sidelight.exceptions import SingularCovarianceError
    >>> try:
    ...     LabelledMixture(1, covariance_type="full", prior_rows=0).fit([[0.0, 0.0], [1.0, 1.0]])
    ... except SingularCovarianceError:
    ...     print("use a prior, or fewer components")
    use a prior, or fewer components
    """


class DatasetError(ValueError):
    """A data set that cannot be had, or is not what it should be.

    Examples
    --------
    >>> from sidelight import datasets
    >>> from sidelight.exceptions import DatasetError
    >>> try:
    ...     datasets.load("wins")
    ... except DatasetError:
    ...     print("no such data set")
    no such data set
    """


class IgnoredColumnWarning(UserWarning):
    """Columns of a table are left out of the model because they hold one value only, or none.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from sidelight import BayesianMixture
    >>> from sidelight.exceptions import IgnoredColumnWarning
    >>> X = np.column_stack([np.arange(20.0) // 10, np.arange(20.0) % 10, np.ones(20)])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", IgnoredColumnWarning)
    ...     _ = BayesianMixture(2, random_state=0).fit(X)
    """
