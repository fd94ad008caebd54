"""The questions on fields are fair: one memory answers each, and only its field does."""

from dataclasses import replace

import pytest

from benchmarks.fields import CASES, MEMORIES, Answer, Case, holds, make_memories, missed, shares


def test_there_are_as_many_as_was_said() -> None:
    memories = make_memories()
    assert len(memories) == len({one.name for one in memories}) == MEMORIES
    assert len({case.title for case in CASES}) == len({case.question for case in CASES}) == len(CASES) == 60
    assert memories == make_memories()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.question)
def test_one_memory_answers_and_only_in_its_field(case: Case) -> None:
    memories = {one.name: one for one in make_memories()}
    answering = {name for name, one in memories.items() if holds(one.text(), case.value)}
    name = f"case-{CASES.index(case)}"
    assert answering == {name}
    assert not holds(memories[name].body, case.value)
    assert [key for key, value in memories[name].front.items() if holds(str(value), case.value)] == [case.field]


def test_what_is_not_as_wanted_is_said() -> None:
    right = Answer(CASES[0], {"hybrid": True, "text": True, "vector": True}, {}, True, True, "")
    wrong = replace(right, first={"hybrid": False, "text": True, "vector": False}, shown=False)
    assert not missed([right] * 20)
    assert shares([right, wrong]) == {"hybrid": 0.5, "text": 1, "vector": 0.5, "shown": 0.5, "recall": 1}
    assert missed([right, wrong]) == ["hybrid has 0.50 right first, wanted 0.85", "hybrid is under text"]
