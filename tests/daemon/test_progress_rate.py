"""The rate of long work, computed from its reports."""

from collections.abc import Sequence

import pytest

from vault_index.daemon.progress_rate import ProgressRate
from vault_index.results.status import WorkStatus


class Meter(ProgressRate):
    """A rate with its own clock."""

    def __init__(self) -> None:
        self.now = 100.0
        super().__init__(lambda: self.now)

    def run(self, stage: str, done: Sequence[int], total: int, seconds: float) -> None:
        """Report each number of `done`, one every `seconds`."""
        for number in done:
            self.now += seconds
            self.report(stage, number, total)


@pytest.fixture
def meter() -> Meter:
    return Meter()


def test_progress_rate_reports_rate_and_time_left(meter: Meter) -> None:
    meter.run("text", range(1, 22), 100, 0.1)
    assert meter.state() == WorkStatus("text", 21, 100, 10.0, 8)


def test_progress_rate_survives_an_interruption(meter: Meter) -> None:
    meter.run("text", range(1, 21), 100, 0.1)
    meter.report("text", 1, 1)  # a saved file
    meter.run("text", range(1, 11), 80, 0.1)
    work = meter.state()
    assert work is not None
    assert (work.done, work.total, work.seconds_left) == (10, 80, 7)
    assert work.rate == pytest.approx(10, abs=0.5)


def test_progress_rate_is_kept_per_stage(meter: Meter) -> None:
    meter.run("text", range(1, 21), 20, 0.1)
    meter.run("embed", range(16, 49, 16), 160, 2)
    assert meter.state() == WorkStatus("embed", 48, 160, 8.0, 14)


@pytest.mark.parametrize("done", [range(1, 5), [1] * 4])
def test_progress_rate_has_no_end_without_a_total_or_a_rate(meter: Meter, done: Sequence[int]) -> None:
    meter.run("read", done, 0 if isinstance(done, range) else 9, 1)
    work = meter.state()
    assert work is not None
    assert work.seconds_left is None
