"""One page that says what was given, what was found, and how to go on."""

from sidelight.report.page import html_report

__all__ = ["html_report"]
