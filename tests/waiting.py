"""Waiting in tests: for a condition, with one deadline that only a hang reaches."""

import os
import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = float(os.environ.get("VAULT_INDEX_TEST_PATIENCE", "300"))
"""Seconds until a wait counts as a hang. Every deadline of a test is this one, however busy the machine is."""

Found = TypeVar("Found")


def until(condition: Callable[[], Found]) -> Found:
    """Return the first true value of `condition`, which is called every 5 to 100 ms.

    Raises AssertionError with the last value after PATIENCE seconds.
    """
    deadline, pause = time.monotonic() + PATIENCE, 0.005
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"the condition did not become true in {PATIENCE:g} s; its last value: {found!r}")
        time.sleep(pause)
        pause = min(pause * 1.2, 0.1)
    return found
