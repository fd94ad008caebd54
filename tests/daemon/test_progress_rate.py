"""The rate of long work, computed from its reports."""

from collections.abc import Sequence

import pytest

from vault_index.daemon.progress_rate import ProgressRate
from vault_index.results.status import WorkStatus

Reports = tuple[str, Sequence[int], int, float]
"""A stage, each number of done items, the total, and the seconds between two reports."""
TWENTY: Reports = ("text", range(1, 21), 100, 0.1)
ONE_FILE: Reports = ("text", [1], 1, 0.0)


@pytest.mark.parametrize(
    ("reports", "state"),
    [
        ([TWENTY], WorkStatus("text", 20, 100, 10.0, 8)),
        ([TWENTY, ONE_FILE, ("text", range(1, 11), 80, 0.1)], WorkStatus("text", 10, 80, 10.0, 7)),
        ([TWENTY, ("embed", range(16, 49, 16), 160, 2)], WorkStatus("embed", 48, 160, 8.0, 14)),
        ([("read", range(1, 5), 0, 1)], WorkStatus("read", 4, 0, 1.0, None)),
        ([("read", [1] * 4, 9, 1)], WorkStatus("read", 1, 9, 0.0, None)),
    ],
    ids=["rate and time left", "kept after an interruption", "of each stage", "no total", "no rate"],
)
def test_progress_rate(reports: Sequence[Reports], state: WorkStatus) -> None:
    now = 100.0
    meter = ProgressRate(lambda: now)
    for stage, done, total, seconds in reports:
        for number in done:
            now += seconds
            meter.report(stage, number, total)
    assert meter.state() == state
