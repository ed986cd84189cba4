"""What requests hold and answers look like; the OpenAPI description is made from these."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sidelight.studio.events import Purpose, Relation

MOST_ROWS = 20_000
MOST_LABELLED = 1_000
# Text without control characters, with something to see in it.
_LINE = r"^[^\u0000-\u001f\u007f-\u009f]*[^\u0000-\u0020\u007f-\u00a0][^\u0000-\u001f\u007f-\u009f]*$"
_TEXT = r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f]+$"

Key = Annotated[
    str,
    Field(
        min_length=8,
        max_length=64,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="Chosen by you, different for every action: the same key sent twice counts once.",
    ),
]
AnnotatorName = Annotated[str, Field(min_length=1, max_length=80, pattern=_LINE)]
ClusterName = Annotated[str, Field(min_length=1, max_length=100, pattern=_LINE)]
LabelText = Annotated[str, Field(min_length=1, max_length=200, pattern=_LINE)]
NoteText = Annotated[str, Field(min_length=1, max_length=4000, pattern=_TEXT)]


def _whole(value: object) -> object:
    """Return a whole number that is written with a point as an integer: in JSON, 1.0 is one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


RowNumber = Annotated[int, Field(ge=0, lt=2**31, strict=True), BeforeValidator(_whole)]
ClusterKey = Annotated[int, Field(ge=1, lt=2**31, strict=True), BeforeValidator(_whole)]
Flag = Annotated[bool, Field(strict=True)]
# A column and its cell, or two ids.
TwoTexts = Annotated[list[str], Field(min_length=2, max_length=2)]
TwoPlaces = Annotated[list[float], Field(min_length=2, max_length=2)]


class Strict(BaseModel):
    """A request: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class SessionRequest(Strict):
    """Who you are; the token where the server can be reached from other machines."""

    annotator: AnnotatorName
    token: Annotated[str, Field(max_length=200)] | None = None


class SessionView(BaseModel):
    """Your session; send ``csrf`` as the header X-CSRF-Token with every change."""

    annotator: str
    csrf: str


class AnswerRequest(Strict):
    """Whether two rows belong together."""

    key: Key
    first: RowNumber
    second: RowNumber
    relation: Relation
    purpose: Purpose = "informative"
    saw_guess: Flag = False


class LabelRequest(Strict):
    """A label for some rows."""

    key: Key
    rows: Annotated[list[RowNumber], Field(min_length=1, max_length=MOST_LABELLED)]
    label: LabelText


class NoteRequest(Strict):
    """A note on a row or a pair."""

    key: Key
    rows: Annotated[list[RowNumber], Field(min_length=1, max_length=2)]
    text: NoteText


class KeyedRequest(Strict):
    """An action without further content."""

    key: Key


class NameRequest(Strict):
    """A name for a cluster."""

    key: Key
    name: ClusterName


class MergeRequest(Strict):
    """A cluster that is a part of another."""

    key: Key
    into: ClusterKey
    cluster: ClusterKey


class LockRequest(Strict):
    """Whether the rows of a cluster stay in it."""

    key: Key
    locked: Flag


class SelectionRequest(Strict):
    """Rows of the map; with ``ask``, questions about them come next."""

    rows: Annotated[list[RowNumber], Field(min_length=1, max_length=MOST_ROWS)]
    ask: Flag = False


class ReceiptView(BaseModel):
    """An action that is on the disk; ``repeated`` if its key had been used before."""

    event: int
    repeated: bool


class CellView(BaseModel):
    """A column of a question: the two cells, whether they are alike, and where numbers lie between 0 and 1.

    ``image_a`` and ``image_b`` say whether the cell names an image that /api/rows/{row}/image serves.
    """

    column: str
    a: str
    b: str
    alike: bool
    places: TwoPlaces | None
    image_a: bool
    image_b: bool


class NoteView(BaseModel):
    """A note on the pair of a question, or on one of its rows."""

    annotator: str
    text: str


class QuestionView(BaseModel):
    """Two rows to compare."""

    first: int
    second: int
    id_a: str
    id_b: str
    purpose: Purpose
    label_a: str | None
    label_b: str | None
    notes: list[NoteView]
    cells: list[CellView]


class QuestionsView(BaseModel):
    """The next questions; ``ready`` is false while the first are being prepared."""

    ready: bool
    questions: list[QuestionView]


class AnsweredView(BaseModel):
    """A receipt, and the next questions."""

    receipt: ReceiptView
    next: QuestionsView


class UndoneView(BaseModel):
    """What was taken back, in words, and the question that is asked again."""

    receipt: ReceiptView
    undone: str
    question: QuestionView | None


class GuessView(BaseModel):
    """What the model believes."""

    chance_same: float


class RowView(BaseModel):
    """A row of the table, with its cluster where there is a fit."""

    row: int
    id: str
    cells: list[TwoTexts]
    images: list[str]
    label: str | None
    cluster: int | None
    certainty: float | None


class ProjectView(BaseModel):
    """The project, and you."""

    title: str
    annotator: str
    n_rows: int
    id_column: str
    columns: list[str]
    image_columns: list[str]
    labels: list[str]
    notes: list[str]


class WorkerView(BaseModel):
    """What the refit process does."""

    state: str
    seconds: float
    trouble: str | None
    restarts: int
    process: int | None


class StateView(BaseModel):
    """What changes: poll this. ``event`` is the last event, ``learnt`` the last that the fit knows."""

    fit: int
    event: int
    learnt: int
    ready: bool
    n_answers: int
    worker: WorkerView


class HistogramView(BaseModel):
    """How a column is distributed in a cluster and in all rows."""

    column: str
    bins: list[str]
    inside: list[int]
    all: list[int]


class ExampleView(BaseModel):
    """A row of a cluster."""

    row: int
    id: str
    certainty: float
    cells: list[TwoTexts]


class ClusterCard(BaseModel):
    """A cluster: its key never changes, its name is yours to choose."""

    key: int
    name: str
    colour: str
    size: int
    share: float
    certainty: float
    locked: bool
    n_labels: int
    words: list[str]
    histograms: list[HistogramView]
    typical: list[ExampleView]
    doubtful: list[ExampleView]


class ClustersView(BaseModel):
    """All clusters of the last fit."""

    fit: int
    clusters: list[ClusterCard]


class StatementView(BaseModel):
    """A link between two rows, or a label of one (``second`` is then null)."""

    first: int
    second: int | None
    same: bool
    label: str | None
    broken: bool


class StatementsView(BaseModel):
    """Statements to draw on the map."""

    statements: list[StatementView]


class SplitView(BaseModel):
    """How many questions about the cluster come next."""

    n_questions: int


class SelectionView(BaseModel):
    """How many of the rows are in each cluster, by key; and how many questions about them come next."""

    sizes: dict[int, int]
    n_questions: int


class AgreementView(BaseModel):
    """How many answers the model foresaw."""

    right: int
    of: int


class FitView(BaseModel):
    """A fit in figures."""

    number: int
    n_clusters: int
    n_moved: int
    share_moved: float
    certainty: float
    n_links: int
    n_labels: int
    n_broken: int
    link_error: float
    held_out_accuracy: float | None
    seconds: float
    doubts: list[str]


class ProgressView(BaseModel):
    """How far the work is."""

    n_answers: int
    n_unsure: int
    n_labels: int
    recent: AgreementView
    checks: AgreementView
    per_minute: float
    gain_of_next: float | None
    changed: str
    enough: bool
    verdict: str
    contradictions: list[TwoTexts]
    fits: list[FitView]


class PersonView(BaseModel):
    """An annotator; reliability and its bounds are null before a fit that knows them."""

    name: str
    n_answers: int
    n_unsure: int
    n_labels: int
    n_undone: int
    n_compared: int
    reliability: float | None
    low: float | None
    high: float | None
    remark: str


class ConcordView(BaseModel):
    """Agreement of two annotators."""

    first: str
    second: str
    alike: int
    of: int


class DisagreementView(BaseModel):
    """A pair that annotators answered differently."""

    first: int
    second: int
    id_a: str
    id_b: str
    relations: dict[str, str]


class DoubtView(BaseModel):
    """An answer that is probably wrong, with the odds of that."""

    first: int
    second: int
    id_a: str
    id_b: str
    annotator: str
    said: str
    odds: float


class PeopleView(BaseModel):
    """All annotators; reliabilities are those of the last fit."""

    people: list[PersonView]
    concords: list[ConcordView]
    disagreements: list[DisagreementView]
    doubts: list[DoubtView]


class EventView(BaseModel):
    """Something that an annotator did and that counts."""

    event: int
    time: float
    annotator: str
    kind: str
    words: str


class HistoryView(BaseModel):
    """The last events, the newest first."""

    events: list[EventView]


class Refusal(BaseModel):
    """Why a request was refused."""

    detail: str
