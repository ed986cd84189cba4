"""How the site is built: ``make docs``. Nothing is fetched from anywhere while it is built or read."""

import os
import re
import warnings
from pathlib import Path

import matplotlib
from sphinx.application import Sphinx

matplotlib.use("Agg")

# The pages of estimators, from the folder of the pages that show one.
os.environ["SIDELIGHT_DOCS"] = ".."
# Examples of the gallery are shown with their output, which progress of the machine should not be part of.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sidelight

HERE = Path(__file__).parent

project = "sidelight"
author = "The sidelight developers"
copyright = "The sidelight developers"
version = release = sidelight.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates", "reproduction/**.md"]
templates_path = ["_templates"]

# Headings have the anchors that a forge gives them, so that links work in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autosummary_generate = True
autodoc_typehints = "none"  # docstrings have the types, in words
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"  # names of methods fit beside the page
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "sidelight"
html_static_path = ["_static"]
html_css_files = ["sidelight.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {page: [] for page in ("index", "getting_started", "user_guide")}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "sidelight"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
}

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("sidelight",),
    "reference_url": {"sidelight": None},
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_", "__repr__"),
    "matplotlib_animations": False,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 5,
    "write_computation_times": False,  # the page of these would fetch scripts from elsewhere
    "plot_gallery": "True",
    "remove_config_comments": True,
}
# What warns in an example is a mistake in the example.
warnings.filterwarnings("error", module=r"sidelight")


# A fitted attribute, such as labels_, which reStructuredText would take for a link.
_ATTRIBUTE = re.compile(r"(?<![\w`*.])([A-Za-z]\w*)_(?![\w`*])")


def escape_attributes(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Escape the underscores of fitted attributes outside code, in place."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("``")
            parts[::2] = [_ATTRIBUTE.sub(r"\1\\_", part) for part in parts[::2]]
            lines[number] = "``".join(parts)


def close_code(app: object, name: str, source: list[str]) -> None:
    """Drop the empty line before the end of a code block, which doctest needs and a reader does not, in place."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app: Sphinx) -> None:
    """Tell Sphinx about the hooks; numpydoc's comes before."""
    app.connect("autodoc-process-docstring", escape_attributes, priority=900)
    app.connect("source-read", close_code)
