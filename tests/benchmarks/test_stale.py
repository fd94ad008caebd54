"""The facts that change are fair, and the judge sees a stale one first, a wrong name and a wrong mark."""

import json
import math
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.stale import (
    BEFORE,
    PARTS,
    WAYS,
    Answer,
    Bench,
    Figure,
    Item,
    Key,
    Memory,
    as_json,
    in_order,
    judge_marks,
    judge_names,
    judge_pairs,
    judge_stale,
    marked_places,
    missed,
    read_part,
)
from vault_index import VaultIndex

CHAIN = Item(
    "chain", "c", tuple(Memory(text, {}) for text in ("CI is Jenkins", "CI is Drone", "Builds: Buildkite")), "CI?"
)
PAIR = Item("pair", "p", (Memory("staging has 2 nodes", {}), Memory("production has 9 nodes", {})), "staging?", "side")
OTHER = Item("unrelated", "u", (Memory("Ann plays the flute", {}),))
ITEMS = [CHAIN, PAIR, OTHER]
C0, C1, C2 = ((CHAIN.id, step) for step in range(3))
P0, P1 = ((PAIR.id, step) for step in range(2))
U = (OTHER.id, 0)
RIGHT: dict[Key, Key | None] = {C0: None, C1: C0, C2: C1, P0: None, P1: None, U: None}


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


@pytest.mark.parametrize("part", PARTS)
def test_the_days_of_a_fact_are_in_order(part: str) -> None:
    for item in read_part(part):
        days = [memory.front["created"] for memory in item.memories]
        assert days == sorted(set(days))
    days = [memory.front["created"] for _, memory in in_order(read_part(part))]
    assert days == sorted(days)


def test_the_two_parts_have_no_question_and_no_memory_in_common() -> None:
    both = [item for part in PARTS for item in read_part(part)]
    questions = [item.question for item in both if item.question]
    assert len(set(questions)) == len(questions)
    files = [(memory.front.get("title"), memory.text) for item in both for memory in item.memories]
    assert len(set(files)) == len(files)


@pytest.mark.parametrize("part", PARTS)
def test_it_is_written_down_how_pairs_stood(part: str) -> None:
    before = json.loads(BEFORE.read_text("utf-8"))[part]
    pairs = {item.id for item in read_part(part) if item.what == "pair"}
    assert set(before) == set(WAYS)
    assert all(set(before[way]) < pairs for way in WAYS)


def test_a_memory_is_added_with_its_day() -> None:
    memory = Memory("It moved.", {"created": "2026-01-02T03:04:05+00:00", "tags": ["ci"], "title": "CI: moved"})
    assert memory.file() == (
        '---\ncreated: "2026-01-02T03:04:05+00:00"\ntags: ["ci"]\ntitle: "CI: moved"\n---\nIt moved.\n'
    )


@pytest.mark.parametrize(
    ("changed", "counted"),
    [
        ({}, (2, 0, 0, 0, 0, 0)),
        ({C1: None, C2: None}, (0, 0, 0, 0, 0, 0)),
        ({C2: C0}, (1, 1, 0, 0, 0, 0)),
        ({C2: P0}, (1, 0, 1, 0, 0, 0)),
        ({C0: U}, (2, 0, 1, 0, 0, 0)),
        ({C0: ("a memory of nobody", 0)}, (2, 0, 1, 0, 0, 0)),
        ({P1: P0}, (2, 0, 0, 1, 0, 0)),
        ({P0: C0}, (2, 0, 0, 0, 1, 0)),
        ({U: C0}, (2, 0, 0, 0, 0, 1)),
    ],
)
def test_names_are_judged(changed: dict[Key, Key | None], counted: tuple[int, ...]) -> None:
    figures = judge_names(ITEMS, {**RIGHT, **changed})
    assert tuple(one.kinds.total() for one in figures) == counted
    assert [one.asked for one in figures] == [2, 2, 3, 1, 1, 1]
    assert bool(missed({"named": figures})) == bool(changed and counted != (2, 0, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("order", "counted"),
    [
        ((C2, C1, C0), (0, 1, 0)),
        ((U, C2, C0), (0, 0, 0)),
        ((C0, C2), (1, 0, 0)),
        ((C2, C0, C1), (0, 1, 0)),
        ((U, C1, C2), (1, 0, 0)),
        ((C0,), (1, 0, 0)),
        ((U, P0), (0, 0, 1)),
        ((), (0, 0, 1)),
    ],
)
def test_a_stale_one_first_is_seen(order: tuple[Key, ...], counted: tuple[int, int, int]) -> None:
    figures = judge_stale(ITEMS, {CHAIN.id: Answer(order)}, 0.15)
    assert tuple(one.kinds.total() for one in figures) == counted
    assert figures[0].failed == bool(counted[0])


@pytest.mark.parametrize(
    ("answer", "without", "counted"),
    [
        (Answer((P0, P1)), [], (0, 0, 0)),
        (Answer((P1, P0)), [], (1, 0, 1)),
        (Answer((P1, P0)), ["p"], (0, 0, 1)),
        (Answer((P1, P0)), None, (0, 0, 1)),
        (Answer((P1,)), [], (1, 0, 1)),
        (Answer((P0, P1), frozenset([P0])), ["p"], (1, 1, 0)),
        (Answer((P0, P1), frozenset([P1])), ["p"], (1, 1, 0)),
        (Answer((U, C0), frozenset([C0])), ["p"], (0, 0, 0)),
    ],
)
def test_what_is_wrongly_demoted_is_seen(answer: Answer, without: list[str] | None, counted: tuple[int, ...]) -> None:
    figures = judge_pairs(ITEMS, {PAIR.id: answer}, without)
    assert tuple(one.kinds.total() for one in figures) == counted
    assert figures[0].failed == bool(counted[0])


def test_marks_on_what_holds_are_seen() -> None:
    answers = {CHAIN.id: Answer((C2, C1, C0, U), frozenset([C0, C1])), PAIR.id: Answer((P0, C0), frozenset([C0]))}
    assert (judge_marks(ITEMS, answers).kinds.total(), judge_marks(ITEMS, answers).asked) == (0, 6)
    for wrong in (C2, U, P0, P1):
        wrongly = Answer((C2, C1, U, P0, P1), frozenset([wrong, C1]))
        assert [wrong[0] in note for note in judge_marks(ITEMS, {CHAIN.id: wrongly}).notes] == [True]


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


def test_a_mark_in_a_recalled_block_belongs_to_what_stands_before_it() -> None:
    block = "new.md:9 (2026-03-01)\n> Drone.\nold.md:9 (2026-01-01, older: see new.md)\n> Jenkins."
    assert marked_places(block) == ["old.md:9 (2026-01-01, "]
    assert marked_places(block.replace("older: see", "as")) == []


def test_changes_are_told_apart_by_their_words() -> None:
    assert [CHAIN.kind_of(step) for step in range(3)] == ["first of a chain", "in the same words", "in other words"]
    assert (PAIR.kind_of(1), OTHER.kind_of(0)) == ("side", "unrelated")


def test_a_share_that_is_not_as_wanted_is_said() -> None:
    most, least = Figure("stale", 0.15), Figure("right", 0.8, least=True)
    for at in range(20):
        most.count(at < 3, "x", "")
        least.count(at < 16, "x", "")
    assert missed({"all": [most, least, Figure("told")]}) == []
    for one in (most, least):
        one.count(one is most, "x", "why")
    assert missed({"all": [most, least]}) == [
        "all: stale: 19.0%, wanted at most 15%",
        "all: right: 76.2%, wanted at least 80%",
    ]
    assert least.notes[-1] == "x: why"
    figures = as_json("dev", {"all": [most]}, 1.0)["figures"]
    assert math.isclose(figures["all"]["stale"]["share"], 0.1905)
    assert figures["all"]["stale"]["kinds"] == {"x": 4}
