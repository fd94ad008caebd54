"""How fast long work goes, computed from what was reported of it."""

import pytest

from vault_index.daemon.progress_rate import ProgressRate
from vault_index.results.status import WorkStatus


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rate(clock: Clock) -> ProgressRate:
    return ProgressRate(clock)


def test_rate_and_time_left(rate: ProgressRate, clock: Clock) -> None:
    for done in range(1, 22):
        clock.now += 0.1
        rate.report("text", done, 100)
    assert rate.state() == WorkStatus("text", 21, 100, 10.0, 8)


def test_short_work_is_not_told_of(rate: ProgressRate, clock: Clock) -> None:
    assert rate.state() is None
    for done in range(1, 6):
        clock.now += 0.1
        rate.report("text", done, 5)
    assert rate.state() is None


def test_what_is_over_is_told_no_more_and_leaves_no_rate(rate: ProgressRate, clock: Clock) -> None:
    for done in range(1, 5):
        clock.now += 1
        rate.report("text", done, 9)
    rate.over()
    assert rate.state() is None
    rate.report("text", 1, 9)
    clock.now += 0.5
    rate.report("text", 2, 9)
    assert rate.state() is None


def test_an_interruption_keeps_the_rate(rate: ProgressRate, clock: Clock) -> None:
    for done in range(1, 21):
        clock.now += 0.1
        rate.report("text", done, 100)
    rate.report("text", 1, 1)  # a saved file
    for done in range(1, 11):
        clock.now += 0.1
        rate.report("text", done, 80)
    work = rate.state()
    assert work is not None
    assert (work.done, work.total) == (10, 80)
    assert work.rate == pytest.approx(10, abs=0.5)
    assert work.seconds_left == 7


def test_another_stage_has_another_rate(rate: ProgressRate, clock: Clock) -> None:
    for done in range(1, 21):
        clock.now += 0.1
        rate.report("text", done, 20)
    for done in (16, 32, 48):
        clock.now += 2
        rate.report("embed", done, 160)
    assert rate.state() == WorkStatus("embed", 48, 160, 8.0, 14)


def test_only_the_last_half_minute_counts(rate: ProgressRate, clock: Clock) -> None:
    for done in range(1, 1001):
        clock.now += 0.01
        rate.report("text", done, 2000)
    for done in range(1001, 1062):
        clock.now += 1
        rate.report("text", done, 2000)
    work = rate.state()
    assert work is not None
    assert (work.rate, work.seconds_left) == (1.0, 939)


@pytest.mark.parametrize(("total", "advance"), [(0, 1), (9, 0)])
def test_without_a_total_or_a_rate_nobody_knows_when_it_ends(
    rate: ProgressRate, clock: Clock, total: int, advance: int
) -> None:
    for step in range(4):
        clock.now += 1
        rate.report("read", 1 + step * advance, total)
    work = rate.state()
    assert work is not None
    assert work.seconds_left is None


def test_who_says_nothing_any_more_is_not_believed_for_ever(rate: ProgressRate, clock: Clock) -> None:
    for done in range(1, 5):
        clock.now += 1
        rate.report("embed", done, 9)
    clock.now += 31
    assert rate.state() is None
