"""The plug-ins are tested with the same courses as the core."""

from tests.conftest import *  # noqa: F403
