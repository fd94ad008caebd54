"""Every marked path becomes due in time, and none is lost."""

from posixpath import dirname

import pytest
from hypothesis import given, strategies as st

from vault_index.daemon.debounce import Debounce


def test_debounce_returns_a_path_after_its_quiet_time() -> None:
    marks = Debounce(quiet=0.15, longest=2.0)
    marks.mark("/v/a.md", 10.0)
    marks.mark("/v/a.md", 10.1)
    assert marks.due(10.2) == ()
    assert marks.next_due() == pytest.approx(10.25)
    assert marks.due(10.25) == ("/v/a.md",)
    assert marks.due(99.0) == ()
    assert marks.next_due() is None


def test_debounce_returns_both_ends_of_a_move_together() -> None:
    marks = Debounce(quiet=0.2, longest=2.0)
    marks.mark("/v/old", 10.0, folder=True, gone=True)
    marks.mark("/v/new", 10.001, folder=True)
    marks.mark("/v/other.md", 10.1)
    assert marks.due(10.199) == ()
    assert marks.due(10.2) == ("/v/new", "/v/old")
    assert marks.next_due() == pytest.approx(10.3)


def test_debounce_returns_deleted_paths_last_unless_recreated() -> None:
    marks = Debounce(quiet=0, longest=0)
    marks.mark("/v/b.md", 1.0, gone=True)
    marks.mark("/v/a.md", 1.0, gone=True)
    marks.mark("/v/c.md", 1.0)
    assert marks.due(1.0) == ("/v/c.md", "/v/b.md", "/v/a.md")
    marks.mark("/v/b.md", 2.0, gone=True)
    marks.mark("/v/a.md", 2.0, gone=True)
    marks.mark("/v/a.md", 2.0)
    assert marks.due(2.0) == ("/v/a.md", "/v/b.md")


def test_debounce_folder_mark_covers_its_files() -> None:
    marks = Debounce(quiet=1, longest=9)
    marks.mark("/v/f/early.md", 1.0)
    marks.mark("/v/f", 1.0, folder=True)
    marks.mark("/v/f/deep/late.md", 1.5)
    assert marks.next_due() == 2.0  # the time of early.md, marked before its folder
    assert marks.due(2.5) == ("/v/f",)
    assert len(marks) == 0


def test_debounce_does_not_take_a_common_prefix_for_a_folder() -> None:
    marks = Debounce(quiet=0, longest=0)
    marks.mark("/v/f", 1.0, folder=True)
    marks.mark("/v/f2.md", 1.0)
    assert set(marks.due(1.0)) == {"/v/f", "/v/f2.md"}


_names = st.sampled_from(["a", "b", "c"])
_paths = st.lists(_names, min_size=1, max_size=4).map(lambda parts: "/v/" + "/".join(parts))
_events = st.lists(
    st.tuples(st.floats(0, 0.5), _paths, st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=40
)


@given(_events, st.floats(0, 0.4), st.floats(0, 1.5))
def test_debounce_returns_every_mark_within_the_longest_wait(
    events: list[tuple[float, str, bool, bool, bool]], quiet: float, longest: float
) -> None:
    marks = Debounce(quiet, longest)
    owed: dict[str, float] = {}
    now = 0.0

    def settle(until: float) -> None:
        while (at := marks.next_due()) is not None and at <= until:
            for path in marks.due(at):
                for waiting in [p for p in owed if p == path or path in _ancestors(p)]:
                    assert at <= owed.pop(waiting) + 1e-6

    for wait, path, folder, gone, later in events:
        settle(now + wait)
        now += wait
        if later:
            marks.mark_later(path, now + 1.0)
            owed[path] = max(now + 1.0 + longest, owed.get(path, 0.0))
        else:
            promised = marks.mark(path, now, folder=folder, gone=gone)
            assert promised <= now + longest + 1e-6
            owed.setdefault(path, now + longest)
    settle(now + 10)
    assert owed == {}
    assert len(marks) == 0
    assert marks.next_due() is None


def _ancestors(path: str) -> list[str]:
    above = []
    while path != "/":
        path = dirname(path)
        above.append(path)
    return above
