"""The questions on fields are fair: one memory answers each, and only its field does."""

from benchmarks.fields import CASES, MEMORIES, holds, make_memories


def test_there_are_as_many_as_was_said() -> None:
    memories = make_memories()
    assert len(memories) == len({one.name for one in memories}) == MEMORIES
    assert len({case.title for case in CASES}) == len({case.question for case in CASES}) == len(CASES) == 60
    assert memories == make_memories()


def test_one_memory_answers_and_only_in_its_field() -> None:
    memories = {one.name: one for one in make_memories()}
    for number, case in enumerate(CASES):
        own = memories[f"case-{number}"]
        assert [one.name for one in memories.values() if holds(one.text(), case.value)] == [own.name], case.question
        assert not holds(own.body, case.value), case.question
        assert [key for key, value in own.front.items() if holds(str(value), case.value)] == [case.field]
