"""Generated vaults are the same every time and have the shape of real ones; figures stand beside their limits."""

import re
from pathlib import Path

import pytest

from benchmarks import scale
from benchmarks.corpus import Corpus, made_up_topics
from benchmarks.scale import Scaled

TOPICS = made_up_topics(30)


def test_a_small_vault_is_the_beginning_of_a_large_one(tmp_path: Path) -> None:
    Corpus(TOPICS, 60).write(tmp_path)
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    large = Corpus(TOPICS, 5000)
    assert written == {large.path(number) for number in range(60)}
    text = (tmp_path / large.path(59)).read_text(encoding="utf-8")
    assert re.sub(r"\[\[.*?\]\]", "", text) == re.sub(r"\[\[.*?\]\]", "", large.note(59))


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
