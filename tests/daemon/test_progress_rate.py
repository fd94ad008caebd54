"""How fast long work goes, told from what was reported of it."""

import pytest

from vault_index.daemon.progress_rate import Pace
from vault_index.results import WorkStatus


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> Pace:
    return Pace(clock)


def test_rate_and_time_left(pace: Pace, clock: Clock) -> None:
    for done in range(1, 22):
        clock.now += 0.1
        pace.report("text", done, 100)
    assert pace.state() == WorkStatus("text", 21, 100, 10.0, 8)


def test_short_work_is_not_told_of(pace: Pace, clock: Clock) -> None:
    assert pace.state() is None
    for done in range(1, 6):
        clock.now += 0.1
        pace.report("text", done, 5)
    assert pace.state() is None


def test_what_is_over_is_told_no_more_and_leaves_no_rate(pace: Pace, clock: Clock) -> None:
    for done in range(1, 5):
        clock.now += 1
        pace.report("text", done, 9)
    pace.over()
    assert pace.state() is None
    pace.report("text", 1, 9)
    clock.now += 0.5
    pace.report("text", 2, 9)
    assert pace.state() is None


def test_an_interruption_keeps_the_rate(pace: Pace, clock: Clock) -> None:
    for done in range(1, 21):
        clock.now += 0.1
        pace.report("text", done, 100)
    pace.report("text", 1, 1)  # a saved file
    for done in range(1, 11):
        clock.now += 0.1
        pace.report("text", done, 80)
    work = pace.state()
    assert work is not None
    assert (work.done, work.total) == (10, 80)
    assert work.rate == pytest.approx(10, abs=0.5)
    assert work.seconds_left == 7


def test_another_stage_has_another_rate(pace: Pace, clock: Clock) -> None:
    for done in range(1, 21):
        clock.now += 0.1
        pace.report("text", done, 20)
    for done in (16, 32, 48):
        clock.now += 2
        pace.report("embed", done, 160)
    assert pace.state() == WorkStatus("embed", 48, 160, 8.0, 14)


def test_only_the_last_half_minute_counts(pace: Pace, clock: Clock) -> None:
    for done in range(1, 1001):
        clock.now += 0.01
        pace.report("text", done, 2000)
    for done in range(1001, 1062):
        clock.now += 1
        pace.report("text", done, 2000)
    work = pace.state()
    assert work is not None
    assert (work.rate, work.seconds_left) == (1.0, 939)


@pytest.mark.parametrize(("total", "advance"), [(0, 1), (9, 0)])
def test_without_a_total_or_a_rate_nobody_knows_when_it_ends(
    pace: Pace, clock: Clock, total: int, advance: int
) -> None:
    for step in range(4):
        clock.now += 1
        pace.report("read", 1 + step * advance, total)
    work = pace.state()
    assert work is not None
    assert work.seconds_left is None


def test_who_says_nothing_any_more_is_not_believed_for_ever(pace: Pace, clock: Clock) -> None:
    for done in range(1, 5):
        clock.now += 1
        pace.report("embed", done, 9)
    clock.now += 31
    assert pace.state() is None
