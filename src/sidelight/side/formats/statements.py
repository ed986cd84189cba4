"""Statements as files hold them: labels and judged pairs with their authors, each with the line it stands in."""

from typing import Any, NamedTuple

from sidelight.side.information import SideInformation


class FormatError(ValueError):
    r"""A file of statements that cannot be read: where, why, and what to do about it.

    Parameters
    ----------
    complaint : str
        What is wrong, and the remedy.
    line : int, optional
        Where it is wrong.

    Examples
    --------
    >>> from sidelight.side.formats import FormatError, parse_statements
    >>> try:
    ...     parse_statements("task,worker,label\n1,,cat\n")
    ... except FormatError as error:
    ...     print(error)
    line 2: worker is empty; name the annotator, or remove the line
    """

    def __init__(self, complaint: str, line: int | None = None) -> None:
        super().__init__(complaint if line is None else f"line {line}: {complaint}")
        self.line = line


class LabelStatement(NamedTuple):
    r"""What an annotator calls a row.

    Parameters
    ----------
    row : any
        Number or id of the row.
    label : any
        What it is called; None for "unsure".
    annotator : any
        The author.
    line : int
        Where in the file it stands.

    Examples
    --------
    >>> from sidelight.side.formats import parse_statements
    >>> parse_statements("task,worker,label\n7,Ann,cat\n").labels[0]
    LabelStatement(row=7, label='cat', annotator='Ann', line=2)
    """

    row: Any
    label: Any
    annotator: Any
    line: int = 0


class LinkStatement(NamedTuple):
    r"""What an annotator says of two rows.

    Parameters
    ----------
    a, b : any
        Numbers or ids of the rows.
    relation : str
        "same", "different" or "unsure".
    annotator : any
        The author.
    confidence : float
        How sure the author is, from 0.5 to 1.
    line : int
        Where in the file it stands.

    Examples
    --------
    >>> from sidelight.side.formats import parse_statements
    >>> parse_statements("a,b,relation,annotator\n7,8,different,Ann\n").links[0]
    LinkStatement(a=7, b=8, relation='different', annotator='Ann', confidence=1.0, line=2)
    """

    a: Any
    b: Any
    relation: str
    annotator: Any
    confidence: float = 1.0
    line: int = 0


class Statements(NamedTuple):
    r"""What a file says.

    Parameters
    ----------
    format : str
        Name of the format.
    labels : tuple of LabelStatement
        Labels, in the order of the file.
    links : tuple of LinkStatement
        Judged pairs, in the order of the file.
    remarks : tuple of str
        What the reader should know: the format that was found, and columns that were left out.

    Examples
    --------
    >>> from sidelight.side.formats import parse_statements
    >>> said = parse_statements("task,worker,label\n0,Ann,cat\n0,Ben,dog\n")
    >>> said.format, len(said.labels)
    ('crowd-kit', 2)
    >>> said.side(3)
    SideInformation(3 rows: 2 labels by 2 annotators)
    """

    format: str
    labels: tuple[LabelStatement, ...] = ()
    links: tuple[LinkStatement, ...] = ()
    remarks: tuple[str, ...] = ()

    def side(self, n: int, *, sample_id: Any = None, certain: Any = ()) -> SideInformation:
        """Return the statements as side information about n rows; see `SideInformation.from_annotations`.

        Parameters
        ----------
        n : int
            Number of rows.
        sample_id : (n,) column, optional
            Names of the rows.
        certain : name or list of names, optional
            Annotators who never err.

        Returns
        -------
        SideInformation
            With annotations.
        """
        labels = {name: [getattr(one, name) for one in self.labels] for name in ("row", "label", "annotator")}
        names = ("a", "b", "relation", "annotator", "confidence")
        links = {name: [getattr(one, name) for one in self.links] for name in names}
        return SideInformation.from_annotations(
            n,
            labels=labels if self.labels else None,
            links=links if self.links else None,
            sample_id=sample_id,
            certain=certain,
        )

    def same_statements(self, other: "Statements") -> bool:
        """Say whether both state the same, in the same order, whatever their formats and lines.

        Parameters
        ----------
        other : Statements
            To compare with.

        Returns
        -------
        bool
            Whether they are the same.
        """
        mine, theirs = (([one[:3] for one in part.labels], [one[:5] for one in part.links]) for part in (self, other))
        return mine == theirs


class ReadingOptions(NamedTuple):
    r"""What a file may leave open.

    Parameters
    ----------
    annotator : any
        The author of statements in a file that names none.
    id_field : str, optional
        The field or column that names rows; each format has a usual one.

    Examples
    --------
    >>> from sidelight.side.formats import FORMATS, ReadingOptions
    >>> FORMATS["cleanlab"].parse("id,Ann,Ben\n7,cat,\n", ReadingOptions("file", None)).labels[0].label
    'cat'
    """

    annotator: Any = "annotator"
    id_field: str | None = None
