"""Read what users pass: columns of labels become codes; links, blocks and ids become row numbers."""

from sidelight.side.parsing.blocks import StatedBlocks, read_blocks
from sidelight.side.parsing.columns import (
    CodedColumn,
    as_int64,
    as_vector,
    compress,
    encode,
    encode_complete,
    have_one_width,
    is_missing,
    names_array,
    python_value,
    refuse_missing,
    sorted_names,
    unknown_column,
)
from sidelight.side.parsing.links import StatedLinks, merge_links, read_confidence, read_links, refuse_self_links
from sidelight.side.parsing.rows import (
    FindRows,
    choose_rows,
    read_ids,
    row_finder,
    row_numbers,
    rows_of,
    rows_with_ids,
)

__all__ = [
    "CodedColumn",
    "FindRows",
    "StatedBlocks",
    "StatedLinks",
    "as_int64",
    "as_vector",
    "choose_rows",
    "compress",
    "encode",
    "encode_complete",
    "have_one_width",
    "is_missing",
    "merge_links",
    "names_array",
    "python_value",
    "read_blocks",
    "read_confidence",
    "read_ids",
    "read_links",
    "refuse_missing",
    "refuse_self_links",
    "row_finder",
    "row_numbers",
    "rows_of",
    "rows_with_ids",
    "sorted_names",
    "unknown_column",
]
