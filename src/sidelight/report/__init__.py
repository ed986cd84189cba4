"""One HTML page on a fitted model: the data given, the clusters found, and how to assign new rows.

The pipeline: ``content`` (with ``statements``) gathers the values, ``pictures`` draws, ``sections`` writes each section
with the pieces of ``markup``, and ``page`` puts them together.
"""

from sidelight.report.page import html_report

__all__ = ["html_report"]
