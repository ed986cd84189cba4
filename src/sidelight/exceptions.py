"""The errors that a user may want to catch, all ValueErrors as scikit-learn's are; and warnings to filter."""


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
    """A folder or file is not a saved model, is damaged, or was written by something else."""


class SingularCovarianceError(ValueError):
    """A covariance has no inverse: too few distinct rows for it, and no prior that would help."""


class DatasetError(ValueError):
    """A data set that cannot be had, or is not what it should be."""


class IgnoredColumnWarning(UserWarning):
    """Columns of a table are left out of the model because they hold one value only, or none."""
