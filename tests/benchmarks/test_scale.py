"""Generated vaults are the same every time and have the shape of real ones; figures stand beside their limits."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import scale
from benchmarks.corpus import KINDS, ONE_PERCENT, Asker, Corpus, made_up_topics, made_up_word, topics_of
from benchmarks.scale import Figure, Scaled, limit_of, picture
from benchmarks.stand_in import StandIn
from vault_index.vectors import SCALE

TOPICS = made_up_topics(30)


def test_a_small_vault_is_the_beginning_of_a_large_one(tmp_path: Path) -> None:
    Corpus(TOPICS, 60).write(tmp_path)
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    large = Corpus(TOPICS, 5000)
    assert written == {large.path(number) for number in range(60)}
    text = (tmp_path / large.path(59)).read_text(encoding="utf-8")
    assert re.sub(r"\[\[.*?\]\]", "", text) == re.sub(r"\[\[.*?\]\]", "", large.note(59))


def test_notes_have_the_shape_of_real_ones() -> None:
    corpus = Corpus(TOPICS, 300)
    notes = [corpus.note(number) for number in range(300)]
    assert 3800 < sum(map(len, notes)) / 300 < 5600
    assert sum(ONE_PERCENT in note for note in notes) == 3
    for part in ("\n## ", "\n- ", "```", "\ntags: [", "\naliases: ["):
        assert 20 < sum(part in note for note in notes) < 300, part
    names = {corpus.name(number) for number in range(300)}
    linked = {name for note in notes for name in re.findall(r"\[\[(.*?)\]\]", note)}
    assert len(names) == 300
    assert linked
    assert linked <= names


def test_few_words_are_common_and_many_are_rare() -> None:
    corpus = Corpus(TOPICS, 100)
    counts = Counter(word for number in range(100) for word in re.findall(r"[a-z]+", corpus.note(number).lower()))
    frequencies = sorted(counts.values(), reverse=True)
    assert sum(frequencies[:20]) > 0.15 * counts.total()
    assert frequencies.count(1) > 0.08 * len(frequencies)


def test_made_up_words_are_all_different() -> None:
    assert len({made_up_word(number) for number in range(20_000)}) == 20_000


def test_topics_are_the_prose_of_texts(tmp_path: Path) -> None:
    prose = "Water boils, and the kettle whistles. " * 300
    (tmp_path / "a.md").write_text(f"---\nkey: secretword\n---\n{prose}\n```\ncodeword\n```\n{prose}", encoding="utf-8")
    topics = topics_of([tmp_path])
    assert len(topics) == 2
    assert topics[0][:3] == ["Water", "boils,", "and"]
    assert not {"secretword", "codeword"} & {word for topic in topics for word in topic}


@pytest.mark.parametrize("kind", KINDS)
def test_queries_are_the_same_every_time(kind: str) -> None:
    corpus = Corpus(TOPICS, 300)
    queries = list(Asker(corpus).queries(kind, 20))
    assert queries == list(Asker(corpus).queries(kind, 20))
    assert len(set(queries)) > 15
    words = {"long question": 22, "prefix": 3}.get(kind, 4)
    assert {len(query.split()) for query in queries} == {words}


def test_a_stand_in_keeps_what_is_alike_together() -> None:
    corpus = Corpus(TOPICS, 200)
    passages = [corpus.note(number)[:300] for number in range(0, 200, 10)]
    stand_in = StandIn([" ".join(topic) for topic in TOPICS[:5]], passages)
    one, twin, other = (
        np.frombuffer(vector, "i1") / SCALE
        for vector in stand_in.embed(["boats sail on the sea", "a boat sails the sea", "the budget of an office"])
    )
    assert [float(vector @ vector) for vector in (one, twin, other)] == pytest.approx([1, 1, 1], abs=0.02)
    assert one @ twin > one @ other


def test_a_vault_is_made_once_and_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(scale.NOTES, "10k", 12)
    scaled = Scaled(tmp_path, "10k", TOPICS, queries=3)
    scaled.build()
    inode = scaled.home.joinpath("index.db").stat().st_ino
    scaled.build()
    assert scaled.home.joinpath("index.db").stat().st_ino == inode
    figures = {figure.name: figure for part in (scaled.disk, scaled.search, scaled.index) for figure in part()}
    assert figures["disk, index and cache"].value > 1
    assert figures["hybrid, typing errors, median"].value > 0
    assert figures["first index, peak memory"].value > 10
    assert figures["chunks"].value >= 12


def test_an_edit_is_awaited_and_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(scale.NOTES, "10k", 12)
    monkeypatch.setattr(scale, "_BURST", 12)
    scaled = Scaled(tmp_path, "10k", TOPICS, queries=3)
    scaled.build()
    for path in sorted(scaled.vault.rglob("*.md"))[:3]:
        path.write_text("These notes say the same, before the edit and after it: they are found as one hit.\n")
    before = {path: path.read_bytes() for path in scaled.vault.rglob("*.md")}
    names = [figure.name for figure in scaled.burst()]
    assert names[:2] == ["500 files edited at once", "folder of 500 renamed"]
    assert {path: path.read_bytes() for path in scaled.vault.rglob("*.md")} == before


def test_figures_stand_beside_their_limits() -> None:
    assert limit_of("hybrid, prefix, 95 %", "140k") == 40
    assert limit_of("text, prefix, median", "140k") is None
    assert limit_of("change, median", "1m") == 0.3
    figures = [
        Figure("change, median", 0.1, "s"),
        Figure("queries meanwhile, 99 %", 1286.4, "ms"),
        Figure("cache", 2.0, "x text"),
    ]
    lines = [{**figure._asdict(), "size": "10k", "limit": limit_of(figure.name, "10k")} for figure in figures]
    drawn = picture(lines)
    assert "0.1 of 0.3 s" in drawn
    assert "1,286 of 25 ms" in drawn
    assert drawn.count('fill="#2563eb"') == drawn.count('fill="#dc2626"') == 1
    assert "cache" not in drawn
