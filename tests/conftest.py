"""Settings for all tests."""

import os

from hypothesis import settings

# Where a change is judged, the same examples are drawn every time; elsewhere new ones are looked for.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
