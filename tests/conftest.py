"""Hypothesis: no deadlines, which measure the machine; in CI the same examples every time."""

import os

from hypothesis import settings

if "OPENCODE_BIN" not in os.environ:
    collect_ignore = ["opencode_real"]  # `make test-opencode` names the client to test with

settings.register_profile("people", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "people")
