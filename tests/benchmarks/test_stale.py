"""The facts that change are fair, and the judge sees a stale one first, a wrong name and a wrong mark."""

from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.stale import Answer, Bench, Item, Memory, judge_stale, read_part
from vault_index import VaultIndex


@pytest.mark.parametrize(("part", "wanted"), [("dev", (296, 350, 350)), ("measured", (300, 300, 300))])
def test_there_are_as_many_as_was_said(part: str, wanted: tuple[int, ...]) -> None:
    items = read_part(part)
    counted = Counter(item.what for item in items)
    assert (counted["chain"], counted["pair"], counted["unrelated"]) == wanted
    assert len({item.id for item in items}) == len(items)
    lengths = {"chain": {2, 3, 4}, "pair": {2}, "unrelated": {1}}
    assert all(len(item.memories) in lengths[item.what] for item in items)
    assert all(bool(item.question) == (item.what != "unrelated") for item in items)
    assert all(bool(item.kind) == (item.what == "pair") for item in items)


def test_the_two_parts_have_no_question_and_no_memory_in_common() -> None:
    both = [item for part in ("dev", "measured") for item in read_part(part)]
    questions = [item.question for item in both if item.question]
    assert len(set(questions)) == len(questions)
    files = [(memory.front.get("title"), memory.text) for item in both for memory in item.memories]
    assert len(set(files)) == len(files)


class Told:
    """An index that names, finds and marks what it was told to."""

    def __init__(self, hits: list[Any], block: str) -> None:
        self.hits, self.block = hits, block
        self.added: list[str] = []

    def add(self, text: str) -> SimpleNamespace:
        self.added.append(text)
        stored = SimpleNamespace(id=f"id-{len(self.added)}", created=True)
        if len(self.added) == 2:
            stored.replaces = SimpleNamespace(id="id-1")
        return stored

    def search(self, question: str, **_: Any) -> SimpleNamespace:
        return SimpleNamespace(results=self.hits)

    def recall(self, question: str) -> SimpleNamespace:
        return SimpleNamespace(text=self.block, sources=[_source(1), _source(2), _source(1)])


def _source(number: int) -> SimpleNamespace:
    return SimpleNamespace(id=f"id-{number}", path=f"{number}.md")


def test_names_and_marks_are_read_from_the_answers() -> None:
    memories = tuple(Memory(text, {"created": f"2026-01-0{at}"}) for at, text in enumerate(("It is A", "It is B"), 1))
    item = Item("chain", "x", memories, "what is it?")
    hits = [
        SimpleNamespace(id="id-2", weak=True, newer="id-1"),
        SimpleNamespace(id="id-1", weak=False, newer="id-2"),
        SimpleNamespace(id="id-2", weak=False),
    ]
    block = "1.md:5 (2026-01-01, older: see 2.md)\n> It is A\n2.md:5 (2026-01-02)\n> It is B"
    bench = Bench(cast(VaultIndex, Told(hits, block)), [item])
    assert bench.add_all() == {("x", 0): None, ("x", 1): ("x", 0)}
    for way, answers in bench.ask_all("chain").items():
        assert answers == {"x": Answer((("x", 0), ("x", 1)), frozenset([("x", 0)]))}, way
        assert judge_stale([item], answers, 0.15)[0].failed
