"""Settings for all tests."""

import os
from pathlib import Path

from hypothesis import settings

# Where a change is judged, the same examples are drawn every time; elsewhere new ones are looked for.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# Real tables lie in a folder beside the checkout where there is one; tests that need them say so when they skip.
_TABLES = Path(__file__).parents[2] / "shared" / "data"
if _TABLES.is_dir():
    os.environ.setdefault("SIDELIGHT_DATA", str(_TABLES))
