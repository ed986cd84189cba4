"""Dask arrays and data frames as tables: partitions become arrays once, and stay on the workers that have them."""

import itertools
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight._warnings import warn
from sidelight.tables.encoding import encode
from sidelight.tables.held_rows import HeldRows
from sidelight.tables.schema import Schema
from sidelight.tables.schema_sample import SAMPLE_ROWS, WHOLE_ROWS, array_shows_new, frame_shows_new
from sidelight.tables.table import CHUNK_ROWS, ArrayTable, Rows, row_ranges
from sidelight.tables.usual_values import rows_to_look_at
from sidelight.tables.validation import as_frame, some_of

Found = TypeVar("Found")
# A task on the cluster, or its result, as Dask's futures are.
Future = Any


def is_dask(X: Any) -> bool:
    """Say whether a table is a Dask array or data frame; Dask is not imported for that."""
    return "dask" in sys.modules and bool(sys.modules["dask"].is_dask_collection(X))


def client_of_cluster() -> Any:
    """Return the client of the cluster in use; there must be one."""
    try:
        return import_module("distributed").get_client()
    except ImportError as error:
        raise ImportError("Dask collections need a cluster: pip install sidelight[dask]") from error
    except ValueError as error:
        raise ValueError(
            "X is a Dask collection, and there is no cluster to work on it. Start one, or connect to one, first: "
            "from distributed import Client; client = Client() (or Client('tcp://…'))."
        ) from error


class Partition(NamedTuple):
    """What a partition is: its number of rows, and the names of its columns, or their number in an array.

    ``text`` has the columns, of a data frame, that hold text although the collection declares numbers.
    """

    n_rows: int
    columns: tuple[Any, ...] | int
    text: tuple[Any, ...] = ()


class DaskSource:
    """A Dask array or data frame, whose partitions are computed on the cluster, and stay there.

    Parameters
    ----------
    collection : Dask array (n, d) or Dask data frame
        Partitions are those of the rows; columns of an array that are in several chunks are put together.
    """

    def __init__(self, collection: Any) -> None:
        self.client = client_of_cluster()
        is_array = hasattr(collection, "rechunk")
        if is_array and collection.ndim != 2:
            raise ValueError(f"X is a Dask array with {collection.ndim} dimension(s); it must have two: rows, columns.")
        if is_array:
            self.empty = np.empty((0, collection.shape[1]), dtype=collection.dtype)
            delayed = collection.rechunk({1: -1}).to_delayed().ravel().tolist()
        else:
            self.empty = collection._meta.iloc[:0]
            delayed = list(collection.to_delayed())
        if is_array and collection.dtype.kind not in "fiub":
            raise ValueError(f"X is a Dask array of {collection.dtype}; give numbers, or a Dask data frame.")
        self._futures: list[Future] = self.client.compute(delayed)
        self._partitions: list[Partition] = _gathered(
            self.client, self.client.map(_described, self._futures, declared=self.empty)
        )
        expected = _described(self.empty, self.empty).columns
        for number, found in enumerate(self._partitions):
            if found.columns != expected:
                raise ValueError(
                    f"X: partition {number} has {_columns(found.columns)}, but the collection declares "
                    f"{_columns(expected)}; make all partitions alike."
                )
            if found.text:
                raise ValueError(
                    f"X: partition {number} has text in column {found.text[0]!r}, which the collection declares to "
                    "hold numbers; correct the cells, or declare the column as text."
                )
        if not any(found.n_rows for found in self._partitions):
            raise ValueError("X has no rows in any partition; at least one row is needed.")

    def __repr__(self) -> str:
        n, d = self.shape
        return f"a Dask collection ({n} rows, {d} columns, {len(self._partitions)} partitions)"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return sum(found.n_rows for found in self._partitions), self.empty.shape[1]

    def sample(self) -> Any:
        """Return some rows that show what each column is: all rows of a small table."""
        n, is_array = self.shape[0], isinstance(self.empty, np.ndarray)
        if n <= (SAMPLE_ROWS if is_array else WHOLE_ROWS):
            return _concatenated(self.client.gather(self._futures))
        chosen = np.arange(n)[rows_to_look_at(n, SAMPLE_ROWS)]
        places = _places([found.n_rows for found in self._partitions], chosen)
        few = _concatenated(self.client.gather(self.client.map(_picked, self._futures, places)))
        shows_new = array_shows_new(few) if is_array else frame_shows_new(few)
        if shows_new is None:
            return few
        return _concatenated([few, *self.client.gather(self.client.map(shows_new, self._futures, pure=False))])

    def encoded(self, schema: Schema) -> "DaskTable":
        """Return the table as numbers, by a schema; partitions are encoded where they are, and the rows shared out."""
        full = [number for number, found in enumerate(self._partitions) if found.n_rows]
        places = self.client.who_has(self._futures)
        workers = shared_out(
            [places.get(self._futures[number].key, ()) for number in full],
            [self._partitions[number].n_rows for number in full],
            self.client.nthreads(),
        )
        encoded = [
            self.client.submit(
                _encoded, self._futures[number], schema, workers=worker, allow_other_workers=True, pure=False
            )
            for number, worker in zip(full, workers, strict=True)
        ]
        messages = _gathered(self.client, self.client.map(_messages, encoded, pure=False), full)
        for message in dict.fromkeys(message for found in messages for message in found):
            warn(message)
        lengths = tuple(found.n_rows for found in self._partitions)
        return DaskTable(self.client, self.client.map(_values, encoded, pure=False), lengths, self.shape[1])


@dataclass(frozen=True, eq=False)
class DaskTable:
    """The numbers of a Dask collection: an array for each partition that has rows, on the cluster.

    Parameters
    ----------
    client : distributed.Client
    parts : list of futures
        The arrays.
    lengths : tuple of int
        Number of rows of every partition of the collection; those without rows have no array.
    n_columns : int
    """

    client: Any
    parts: list[Future]
    lengths: tuple[int, ...]
    n_columns: int
    _held: HeldRows = field(default_factory=HeldRows, init=False, repr=False)
    _sent: dict[tuple[int, ...], tuple[Rows, list[Future | None]]] = field(default_factory=dict, init=False, repr=False)
    _tasks: "TaskNames" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tasks", TaskNames(self.client))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return sum(self.lengths), self.n_columns

    @property
    def is_sparse(self) -> bool:
        """Whether rows come in CSR form: no."""
        return False

    @property
    def in_memory(self) -> bool:
        """Whether all rows are in the memory of this process: no."""
        return False

    @cached_property
    def ranges(self) -> list[slice]:
        """The rows of each part."""
        stops = np.cumsum([length for length in self.lengths if length]).tolist()
        return [slice(start, stop) for start, stop in zip([0, *stops], stops, strict=False)]

    def chunks(self) -> list[slice]:
        """Return the ranges of rows that tasks take; none has rows of two partitions."""
        return [
            slice(part.start + chunk.start, part.start + chunk.stop)
            for part in self.ranges
            for chunk in row_ranges(part.stop - part.start, CHUNK_ROWS)
        ]

    def take(self, rows: slice | IntArray) -> AnyArray:
        """Return some rows, brought to this process unless they are held."""
        if isinstance(rows, slice):
            return self.gather(np.arange(*rows.indices(self.shape[0])))
        held = self._held.find(rows)
        return self.gather(rows) if held is None else held

    def gather(self, rows: IntArray) -> AnyArray:
        """Return rows from all over the table, as floats."""
        numbers, order = np.unique(rows, return_inverse=True)
        places = _places([length for length in self.lengths if length], numbers)
        asked = [(part, place) for part, place in zip(self.parts, places, strict=True) if len(place)]
        found = self.client.gather([self.client.submit(_picked, part, place, pure=False) for part, place in asked])
        return np.concatenate([np.empty((0, self.n_columns)), *found]).take(order, axis=0)

    def release(self, chunk: slice) -> None:
        """Do nothing: chunks are where they were."""

    def hold(self, rows: IntArray) -> None:
        """Bring scattered rows here, once."""
        new = self._held.missing(rows)
        if len(new):
            self._held.add(new, self.gather(new))

    def mapped(self, change: Callable[[AnyArray], AnyArray]) -> "DaskTable":
        """Return the table with its rows changed, on the workers."""
        return DaskTable(self.client, self.client.map(change, self.parts, pure=False), self.lengths, self.n_columns)

    def place(self, row: int) -> str:
        """Say where a row stands: its number, and the partition."""
        stops = np.cumsum(self.lengths)
        partition = int(np.searchsorted(stops, row, side="right"))
        return f"row {row} (row {row - int(stops[partition]) + self.lengths[partition]} of partition {partition})"

    def map_parts(self, rows: Rows, work: Callable[[Rows], Found]) -> Iterator[tuple[int, Found]]:
        """Work on the parts of ``rows`` where they are, and bring what is found here."""
        found = self.client.gather(self.keep_parts(rows, work))
        yield from ((part.start, one) for part, one in zip(self.ranges, found, strict=True))

    def keep_parts(self, rows: Rows, work: Callable[[Rows], Found]) -> list[Future]:
        """Work on the parts of ``rows`` where they are, and leave what is found there."""
        sent = self.client.submit(_itself, work, pure=False)
        return [
            self.client.submit(_work_on, sent, part, beside, pure=False)
            for part, beside in zip(self.parts, self.beside(rows), strict=True)
        ]

    def beside(self, rows: Rows) -> list[Future | None]:
        """Return weights, codes and rows left out of each part, which are sent once; None where there are none."""
        columns = (rows.weights, rows.codes, rows.left_out)
        if all(column is None for column in columns):
            return [None] * len(self.parts)
        key = tuple(id(column) for column in columns)
        if key not in self._sent:
            # What was sent for another model of the same fit is not needed any more.
            self._sent.clear()
            cut = (tuple(None if column is None else column[part] for column in columns) for part in self.ranges)
            self._sent[key] = rows, [self.client.submit(_itself, _without_false(one), pure=False) for one in cut]
        return self._sent[key][1]

    def submit(self, name: str, work: Callable[..., Any], *given: Any, worker: str | None = None) -> Future:
        """Have a task of a pass done, on a worker if it can; tasks of one name count as one to the scheduler."""
        return self.client.submit(
            work, *given, key=self._tasks.next(name), workers=worker, allow_other_workers=worker is not None
        )

    def groups(self) -> list[tuple[str | None, list[int]]]:
        """Return which parts each thread of a worker should take: those that are there, in order."""
        # Those of a worker that was lost are made again first: nothing says where they will be.
        import_module("distributed").wait(self.parts)
        places = self.client.who_has(self.parts)
        threads = self.client.nthreads()
        there: dict[str | None, list[int]] = {}
        for number, part in enumerate(self.parts):
            workers = [worker for worker in places.get(part.key, ()) if worker in threads]
            there.setdefault(min(workers, key=lambda one: len(there.get(one, ())), default=None), []).append(number)
        return [
            (worker, taken.tolist())
            for worker, numbers in there.items()
            for taken in np.array_split(numbers, min(threads.get(worker, 1), len(numbers)))
        ]


class TaskNames:
    """Names of the tasks of passes.

    The scheduler keeps a record of every group of tasks for as long as it lives, and a group ends with its last task.
    So the tasks of all passes over a table are of a few groups, each of which has a task that is kept.
    """

    def __init__(self, client: Any) -> None:
        self._client, self._token, self._numbers = client, uuid.uuid4().hex, itertools.count()
        self._kept: dict[str, Future] = {}

    def next(self, name: str) -> tuple[str, int]:
        """Return the name of the next task of a group."""
        group = f"{name}-{self._token}"
        if name not in self._kept:
            self._kept[name] = self._client.submit(_itself, None, key=(group, next(self._numbers)))
        return group, next(self._numbers)


def shared_out(places: Sequence[Sequence[str]], sizes: Sequence[int], threads: Mapping[str, int]) -> list[str]:
    """Return a worker for each part, so that threads have about as many rows each: passes last as long as the slowest.

    Dask loads partitions wherever a worker is idle, which may leave one with twice the rows of another. A part stays
    where it is unless its worker has its share already.

    Parameters
    ----------
    places : sequence of sequence of str
        The workers that have each part.
    sizes : sequence of int
        Rows of the parts.
    threads : mapping of str to int
        Threads of every worker.
    """
    share = sum(sizes) / sum(threads.values())
    room = {worker: share * number for worker, number in threads.items()}
    chosen: dict[int, str] = {}
    for part, (found, size) in enumerate(zip(places, sizes, strict=True)):
        home = max((worker for worker in found if worker in room), key=lambda one: room[one], default=None)
        if home is not None and room[home] >= size / 2:
            chosen[part] = home
            room[home] -= size
    for part in sorted(set(range(len(sizes))) - set(chosen), key=lambda one: -sizes[one]):
        chosen[part] = max(room, key=lambda one: room[one])
        room[chosen[part]] -= sizes[part]
    return [chosen[part] for part in range(len(sizes))]


def part_rows(values: AnyArray, beside: tuple[FloatArray | None, IntArray | None, BoolArray | None] | None) -> Rows:
    """Return the rows of a part on the worker that has it."""
    return Rows(ArrayTable(values), *(beside or ()))


def _work_on(work: Callable[[Rows], Found], values: AnyArray, beside: Any) -> Found:
    return work(part_rows(values, beside))


def _without_false(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return weights, codes and rows left out, without the last where no row is."""
    *others, left_out = columns
    return (*others, None if left_out is None or not left_out.any() else left_out)


def _itself(value: Found) -> Found:
    return value


def _described(part: Any, declared: Any) -> Partition:
    if isinstance(part, np.ndarray):
        return Partition(len(part), part.shape[1] if part.ndim == 2 else 0)
    columns = tuple(part.columns)
    numbers = {name for name, kind in declared.dtypes.items() if getattr(kind, "kind", "O") in "iuf"}
    text = (name for name in columns if name in numbers and _has_text(part[name]))
    return Partition(len(part), columns, tuple(text))


def _has_text(column: Any) -> bool:
    kind = getattr(column.dtype, "kind", "O")
    return kind not in "iufb" and any(isinstance(cell, str) for cell in column.to_numpy())


def _gathered(client: Any, futures: Sequence[Future], numbers: Sequence[int] | None = None) -> list[Any]:
    """Return what there is to say of partitions, with these numbers; name the first that cannot be used.

    An error that is none of its cells (a worker that is gone, a package that it lacks) is raised as it is.
    """
    try:
        return list(client.gather(futures))
    except (ValueError, TypeError) as error:
        failed = (place for place, future in enumerate(futures) if future.status == "error")
        place = next(failed, None)
        if place is None:
            raise
        number = place if numbers is None else numbers[place]
        cause = futures[place].exception()
        raise ValueError(f"X: partition {number} cannot be used: {cause}") from error


def _columns(columns: tuple[Any, ...] | int) -> str:
    return f"{columns} columns" if isinstance(columns, int) else f"the columns {some_of(columns)}"


def _picked(part: Any, rows: IntArray) -> Any:
    return part[rows] if isinstance(part, np.ndarray) else part.iloc[rows]


def _places(lengths: Sequence[int], rows: IntArray) -> list[IntArray]:
    """Return where rows (sorted) stand in each of the parts that have these lengths."""
    stops = np.cumsum(lengths)
    ends = np.searchsorted(rows, stops)
    starts = np.concatenate([[0], ends[:-1]])
    return [rows[a:b] - (stop - n) for a, b, stop, n in zip(starts, ends, stops, lengths, strict=True)]


def _concatenated(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return import_module("pandas").concat(parts, ignore_index=True)


class _Encoded(NamedTuple):
    values: AnyArray
    messages: tuple[str, ...]


def _encoded(part: Any, schema: Schema) -> _Encoded:
    """Return a partition as numbers, and what there is to say about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = part
        if as_frame(part) is None and part.dtype.kind not in "fb":
            table = part.astype(float)
        values = np.ascontiguousarray(encode(table, schema))
    return _Encoded(values, tuple(str(one.message) for one in caught if issubclass(one.category, UserWarning)))


def _values(found: _Encoded) -> AnyArray:
    return found.values


def _messages(found: _Encoded) -> tuple[str, ...]:
    return found.messages
