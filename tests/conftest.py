"""Hypothesis: no deadlines, which measure the machine; in CI the same examples every time."""

import os

from hypothesis import settings

settings.register_profile("people", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "people")
