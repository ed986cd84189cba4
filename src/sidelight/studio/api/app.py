"""The application: routes, who may use them, and the page."""

import json
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote

import numpy as np
from fastapi import Cookie, Depends, FastAPI, Header, HTTPException, Query, Request, Response
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from jinja2 import Environment, PackageLoader, select_autoescape
from pydantic import TypeAdapter, ValidationError

from sidelight._version import __version__
from sidelight.studio import exports
from sidelight.studio.api import models, views
from sidelight.studio.api.guard import Guard
from sidelight.studio.people import label_answers, pair_answers
from sidelight.studio.security import COOKIE, Gate
from sidelight.studio.studio import RefusedError, Studio
from sidelight.studio.table import IMAGES
from sidelight.studio.writer import KeyUsedError

_STATIC = Path(__file__).parents[1] / "page" / "static"
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": models.Refusal, "description": reason}
    for status, reason in {
        400: "The body cannot be read.",
        401: "You have not said who you are, or the token is wrong.",
        403: "The request comes from elsewhere, or without its X-CSRF-Token.",
        404: "There is no such thing.",
        409: "It cannot be done now.",
        413: "The request is too large.",
        415: "The body is not JSON.",
        421: "The server was asked by a wrong name.",
        503: "The first fit is not there yet.",
    }.items()
}
_ANNOTATOR: TypeAdapter[str] = TypeAdapter(models.AnnotatorName)
_FILES: dict[str, tuple[str, Callable[[Studio], str]]] = {
    "clusters.csv": (
        "text/csv",
        lambda studio: exports.clusters_csv(
            studio.table, studio.fitted(), {view.key: studio.name_of(view.key) for view in studio.fitted().clusters}
        ),
    ),
    "statements.csv": (
        "text/csv",
        # What is said is weighed outside the ledger's lock, so that no answer waits.
        lambda studio: exports.statements_csv(
            studio.table, *studio.with_ledger(lambda ledger: (pair_answers(ledger), label_answers(ledger)))
        ),
    ),
    "answers.csv": (
        "text/csv",
        lambda studio: studio.with_ledger(lambda ledger: exports.answers_csv(studio.table, ledger)),
    ),
    "labels.csv": (
        "text/csv",
        lambda studio: studio.with_ledger(lambda ledger: exports.labels_csv(studio.table, ledger)),
    ),
    "notes.csv": (
        "text/csv",
        lambda studio: studio.with_ledger(lambda ledger: exports.notes_csv(studio.table, ledger)),
    ),
    "label-studio.json": (
        "application/json",
        lambda studio: studio.with_ledger(lambda ledger: exports.label_studio_json(studio.table, ledger)),
    ),
    "prodigy.jsonl": (
        "application/x-ndjson",
        lambda studio: studio.with_ledger(lambda ledger: exports.prodigy_jsonl(studio.table, ledger)),
    ),
}


def create_app(studio: Studio, gate: Gate, packer: exports.Packer, copy_to: Callable[[Path], None]) -> Any:
    """Return the ASGI application of a studio.

    Parameters
    ----------
    studio : Studio
    gate : Gate
        Who may use it.
    packer : callable
        Writes the folder of a result; see `sidelight.studio.exports`.
    copy_to : callable
        Writes the project to a new file.
    """
    app = FastAPI(
        title="sidelight studio",
        version=__version__,
        description=(
            "Same or different: answers about pairs of rows, labels, names of clusters. Say who you are with POST "
            "/api/session, or send the header X-Annotator (percent-encoded), and, where the server can be reached from "
            "other machines, Authorization: Bearer with a token. Changes carry a key of your choice: the same key sent "
            "twice counts once."
        ),
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        responses=_REFUSALS,
    )

    def annotator(
        request: Request,
        session: Annotated[str | None, Cookie(alias=COOKIE, max_length=2000, include_in_schema=False)] = None,
        x_annotator: Annotated[str | None, Header(max_length=500)] = None,
        authorization: Annotated[str | None, Header(max_length=500, include_in_schema=False)] = None,
        x_csrf_token: Annotated[str | None, Header(max_length=200, include_in_schema=False)] = None,
    ) -> str:
        """Return who asks, or refuse."""
        if x_annotator is not None:
            try:
                name = _ANNOTATOR.validate_python(unquote(x_annotator, errors="strict"))
            except (ValidationError, UnicodeDecodeError):
                raise HTTPException(401, "X-Annotator must be a name of 1 to 80 characters, percent-encoded.") from None
            token = (authorization or "").removeprefix("Bearer ") or None
            if not gate.admits(token, name):
                raise HTTPException(401, "The token is wrong; send Authorization: Bearer with the token of the link.")
            return name
        known = gate.annotator_of(session)
        if known is None or session is None:
            raise HTTPException(401, "Say who you are first: POST /api/session, or the header X-Annotator.")
        if request.method != "GET" and not gate.allows_change(session, x_csrf_token):
            raise HTTPException(403, "The header X-CSRF-Token is missing or wrong; POST /api/session gives it.")
        return known

    Who = Annotated[str, Depends(annotator)]
    ClusterPath = Annotated[int, InPath(ge=1, lt=2**31, description="The key of a cluster")]
    RowPath = Annotated[int, InPath(ge=0, lt=2**31, description="The number of a row, from 0")]

    @app.exception_handler(RefusedError)
    async def refused(_: Request, error: RefusedError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, error.status)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        # Without the input: it may be long, or text that cannot be sent back.
        found = [{"loc": list(one["loc"]), "msg": one["msg"], "type": one["type"]} for one in error.errors()]
        return JSONResponse({"detail": json.loads(json.dumps(found).encode("ascii", "replace"))}, 422)

    @app.exception_handler(KeyUsedError)
    async def key_used(_: Request, error: KeyUsedError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 409)

    # --- who ---------------------------------------------------------------------------------------------------------

    @app.post("/api/session", tags=["session"])
    def open_session(body: models.SessionRequest, response: Response) -> models.SessionView:
        """Say who you are; the answer sets a cookie."""
        name = body.annotator.strip()
        if not gate.admits(body.token, name):
            raise HTTPException(401, "The token is wrong; open the link that the studio printed.")
        session = gate.open_session(name)
        response.set_cookie(COOKIE, session.cookie, httponly=True, samesite="strict", max_age=30 * 24 * 3600)
        return models.SessionView(annotator=name, csrf=session.csrf)

    @app.get("/api/project", tags=["session"])
    def project(who: Who) -> models.ProjectView:
        """Return the project, and you."""
        table, settings = studio.table, studio.table.settings
        labels = studio.with_ledger(lambda ledger: sorted(set(views.labels_of(studio, ledger).values())))
        return models.ProjectView(
            title=settings.title,
            annotator=who,
            n_rows=table.n_rows,
            id_column=settings.id_column,
            columns=table.columns,
            image_columns=sorted(table.image_columns),
            labels=labels,
            notes=list(settings.notes),
        )

    @app.get("/api/state", tags=["session"])
    def state(who: Who) -> models.StateView:
        """Return what changes: the number of the fit, of the last event, and what the refit process does."""
        return views.state_view(studio)

    # --- questions ---------------------------------------------------------------------------------------------------

    @app.get("/api/questions", tags=["questions"])
    def questions(who: Who, number: Annotated[int, Query(ge=1, le=10)] = 3) -> models.QuestionsView:
        """Return your next questions, the same ones until you answer them."""
        return views.questions_view(studio, who, number)

    @app.post("/api/answers", tags=["questions"])
    def answer(
        who: Who, body: models.AnswerRequest, number: Annotated[int, Query(ge=0, le=10)] = 3
    ) -> models.AnsweredView:
        """Answer a question; the answer is on the disk when this returns, with your next questions."""
        receipt = studio.answer(
            body.key, who, body.first, body.second, body.relation, body.purpose, saw_guess=body.saw_guess
        )
        following = views.questions_view(studio, who, number)
        return models.AnsweredView(receipt=views.receipt_view(receipt), next=following)

    @app.post("/api/labels", tags=["questions"])
    def label(who: Who, body: models.LabelRequest) -> models.ReceiptView:
        """Give rows a label."""
        return views.receipt_view(studio.label(body.key, who, body.rows, body.label.strip()))

    @app.post("/api/notes", tags=["questions"])
    def note(who: Who, body: models.NoteRequest) -> models.ReceiptView:
        """Write a note on a row or a pair."""
        return views.receipt_view(studio.note(body.key, who, body.rows, body.text))

    @app.post("/api/undo", tags=["questions"])
    def undo(who: Who, body: models.KeyedRequest) -> models.UndoneView:
        """Take back the last thing you did that counts; again and again, without limit."""
        undone = studio.undo(body.key, who)
        question = None if undone.question is None else views.question_view(studio, undone.question)
        return models.UndoneView(
            receipt=views.receipt_view(undone.receipt),
            undone=views.action_words(studio, undone.action),
            question=question,
        )

    @app.get("/api/guess", tags=["questions"])
    def guess(
        who: Who,
        first: Annotated[int, Query(ge=0, lt=2**31)],
        second: Annotated[int, Query(ge=0, lt=2**31)],
    ) -> models.GuessView:
        """Return what the model believes of a pair; say so with ``saw_guess`` when you answer."""
        return models.GuessView(chance_same=studio.guess(first, second))

    @app.get("/api/rows/{row}", tags=["rows"])
    def one_row(who: Who, row: RowPath) -> models.RowView:
        """Return a row of the table."""
        if row >= studio.table.n_rows:
            raise HTTPException(404, f"There is no row {row}.")
        return views.row_view(studio, row)

    @app.get(
        "/api/rows/{row}/image",
        tags=["rows"],
        response_class=FileResponse,
        responses={200: {"content": {kind: {} for kind in sorted(set(IMAGES.values()))}}},
    )
    def image(who: Who, row: RowPath, column: Annotated[str, Query(max_length=1000)]) -> FileResponse:
        """Return the image that a cell names, if it is inside the folder for images."""
        path = studio.table.image(row, column) if row < studio.table.n_rows else None
        if path is None:
            raise HTTPException(404, "This cell names no image inside the folder for images.")
        return FileResponse(path, media_type=IMAGES[path.suffix.lower()])

    # --- clusters ----------------------------------------------------------------------------------------------------

    @app.get("/api/clusters", tags=["clusters"])
    def clusters(who: Who) -> models.ClustersView:
        """Return the clusters of the last fit; none before the first."""
        return views.clusters_view(studio)

    @app.post("/api/clusters/{cluster}/name", tags=["clusters"])
    def rename(who: Who, cluster: ClusterPath, body: models.NameRequest) -> models.ReceiptView:
        """Name a cluster; the name stays through refits."""
        return views.receipt_view(studio.rename(body.key, who, cluster, body.name.strip()))

    @app.post("/api/clusters/{cluster}/lock", tags=["clusters"])
    def lock(who: Who, cluster: ClusterPath, body: models.LockRequest) -> models.ReceiptView:
        """Keep the rows of a cluster where they are, or let them move again."""
        act = studio.lock if body.locked else studio.unlock
        return views.receipt_view(act(body.key, who, cluster))

    @app.post("/api/clusters/{cluster}/split", tags=["clusters"])
    def split(who: Who, cluster: ClusterPath) -> models.SplitView:
        """Be asked next what tells the rows of a cluster apart."""
        return models.SplitView(n_questions=studio.split(who, cluster))

    @app.post("/api/merges", tags=["clusters"])
    def merge(who: Who, body: models.MergeRequest) -> models.ReceiptView:
        """Say that a cluster is a part of another."""
        return views.receipt_view(studio.merge(body.key, who, body.into, body.cluster))

    # --- the map -----------------------------------------------------------------------------------------------------

    @app.get(
        "/api/map",
        tags=["map"],
        response_class=Response,
        responses={200: {"content": {"application/octet-stream": {}}}},
    )
    def points(who: Who) -> Response:
        """Return arrays of n rows: x and y (float32, −1 to 1), keys of clusters (uint16), certainty (uint8)."""
        fit = studio.fitted()
        arrays = (
            np.ascontiguousarray(fit.points[:, 0], dtype="<f4"),
            np.ascontiguousarray(fit.points[:, 1], dtype="<f4"),
            fit.keys[fit.places].astype("<u2"),
            (np.clip(fit.certainty(), 0, 1) * 255).astype(np.uint8),
        )
        body = b"".join(array.tobytes() for array in arrays)
        return Response(body, media_type="application/octet-stream", headers={"X-Fit": str(fit.summary.number)})

    @app.get("/api/statements", tags=["map"])
    def statements(who: Who) -> models.StatementsView:
        """Return the statements, broken ones first; at most 2000."""
        return views.statements_view(studio)

    @app.post("/api/selection", tags=["map"])
    def select(who: Who, body: models.SelectionRequest) -> models.SelectionView:
        """Count the clusters of some rows; with ``ask``, be asked about them next."""
        return models.SelectionView(**studio.select(who, body.rows, ask=body.ask)._asdict())

    # --- progress and people -----------------------------------------------------------------------------------------

    @app.get("/api/progress", tags=["progress"])
    def progress(who: Who) -> models.ProgressView:
        """Return how far the work is."""
        return views.progress_view(studio)

    @app.get("/api/people", tags=["progress"])
    def people(who: Who) -> models.PeopleView:
        """Return who answered what, and how far people agree."""
        return views.people_view(studio)

    @app.get("/api/history", tags=["progress"])
    def history(who: Who, number: Annotated[int, Query(ge=1, le=500)] = 50, mine: bool = True) -> models.HistoryView:
        """Return the last events that count, the newest first."""
        name = who if mine else None
        events = studio.with_ledger(lambda ledger: list(islice(ledger.events(name), number)))
        return models.HistoryView(events=[views.event_view(studio, event) for event in events])

    # --- out ---------------------------------------------------------------------------------------------------------

    for file, (kind, make) in _FILES.items():
        app.add_api_route(
            f"/api/export/{file}",
            _export_route(studio, annotator, file, kind, make),
            methods=["GET"],
            tags=["export"],
            response_class=Response,
            responses={200: {"content": {kind: {}}}},
            summary=f"Download {file}",
        )

    @app.get(
        "/api/export/result.zip",
        tags=["export"],
        response_class=Response,
        responses={200: {"content": {"application/zip": {}}}},
    )
    def result(who: Who) -> Response:
        """Return the folder that ``sidelight fit`` writes: clusters, the model, the report."""
        fit, job = studio.latest_model()
        names = {view.key: studio.name_of(view.key) for view in fit.clusters}
        archive = exports.result_archive(packer, studio.table, fit, job._replace(names=names))
        return _download(archive, "application/zip", "result.zip")

    @app.get(
        "/api/export/project.studio",
        tags=["export"],
        response_class=Response,
        responses={200: {"content": {"application/octet-stream": {}}}},
    )
    def copy(who: Who) -> Response:
        """Return the whole project as a SQLite file, for ``sidelight studio --resume``."""
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "project.studio"
            copy_to(path)
            return _download(path.read_bytes(), "application/octet-stream", "project.studio")

    _add_page(app, gate)
    return Guard(app, local_only=not gate.needs_token)


def _export_route(
    studio: Studio, annotator: Callable[..., str], file: str, kind: str, make: Callable[[Studio], str]
) -> Callable[..., Response]:
    def export(who: Annotated[str, Depends(annotator)]) -> Response:
        return _download(make(studio).encode("utf-8", "replace"), kind, file)

    return export


def _download(content: bytes, kind: str, name: str) -> Response:
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _add_page(app: FastAPI, gate: Gate) -> None:
    """Serve the page, its scripts, and a page about the interface, all from the package."""
    pages = Environment(loader=PackageLoader("sidelight.studio", "page"), autoescape=select_autoescape())
    static = {path.relative_to(_STATIC).as_posix(): path for path in _STATIC.rglob("*") if path.suffix in _KINDS}

    @app.get("/", include_in_schema=False)
    def index() -> HTMLResponse:
        return HTMLResponse(pages.get_template("index.html").render(version=__version__, token=gate.needs_token))

    @app.get("/api", include_in_schema=False)
    def reference() -> HTMLResponse:
        return HTMLResponse(pages.get_template("reference.html").render(version=__version__))

    @app.get("/static/{name:path}", include_in_schema=False)
    def asset(name: str) -> Response:
        path = static.get(name)
        if path is None:
            raise HTTPException(404, "There is no such file.")
        return FileResponse(path, media_type=_KINDS[path.suffix], headers={"Cache-Control": "no-cache"})

    @app.get("/favicon.ico", include_in_schema=False)
    def icon() -> Response:
        return FileResponse(static["icon.svg"], media_type=_KINDS[".svg"])
