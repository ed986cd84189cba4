"""What some tests need of the system that they run on."""

import os
import sys

import pytest

needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals, pipes and limits of POSIX are not here")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux shows it")
