"""Where the documentation is, for the links on the pictures that notebooks show of estimators."""

import os
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata

# The address or folder of the built site, for those who have it elsewhere.
VARIABLE = "SIDELIGHT_DOCS"


def reference_template() -> str:
    """Return the address of the page of an estimator, with ``{estimator_name}`` in it; empty where there is no site.

    The site is where the environment variable SIDELIGHT_DOCS says, or else where the package says in its metadata.
    """
    site = os.environ.get(VARIABLE) or _published_site()
    return f"{site.rstrip('/')}/reference/generated/sidelight.{{estimator_name}}.html" if site else ""


@cache
def _published_site() -> str:
    try:
        addresses = metadata("sidelight").get_all("Project-URL") or []
    except PackageNotFoundError:  # the sources are on the path, but nothing is installed
        return ""
    named = dict(address.partition(", ")[::2] for address in addresses)
    return named.get("Documentation", "")
