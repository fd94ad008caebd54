"""The relation of two memories, and the rank of the newer of two near-duplicates."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.api.vaults import indexed
from tests.query.records import chunk_record
from tests.tables import tables
from vault_index.query.ranking.comparison import Memory, as_memory, compare

CASES = tables(__file__)

DOCKER = "Deploys run in Docker on the build host."


def as_fact(text: str, project: str | None = None, tokens: int = 20, title: str = "") -> Memory:
    front = f'{{"title": "{title}"}}' if title else "{}"
    document = chunk_record(kind="memory", project=project).document
    document = replace(document, tokens=tokens, title=title, frontmatter_json=front)
    return as_memory(document, text, lambda words: {word: word.removesuffix("s") for word in words})


@pytest.mark.parametrize(("older", "newer", "cosine", "kind"), CASES["pairs"])
def test_compare_distinguishes_contradictions_and_duplicates(older: str, newer: str, cosine: float, kind: str) -> None:
    for one, other in ((older, newer), (newer, older)):
        found = compare(as_fact(one), as_fact(other), cosine or None)
        assert (found.kind if found else "") == kind


def test_compare_separates_projects_and_long_memories() -> None:
    old, new = "The line length is 100.", "The line length is 120 now."
    assert compare(as_fact(new, "api"), as_fact(old, "API"), 0.9)
    assert compare(as_fact(new, "api"), as_fact(old, "web"), 0.9) is None
    minutes = "In March the team talked of nests.", "In April reeds were on the list of the group."
    long = compare(as_fact(minutes[0], tokens=400), as_fact(minutes[1], tokens=400), 0.8)
    assert long
    assert long.kind == "subject"


def dated(text: str, created: str, more: str = "") -> str:
    return f"---\ntype: decision\ncreated: {created}\n{more}---\n{text}\n"


def test_search_ranks_the_newer_of_two_near_memories_first(tmp_path: Path) -> None:
    files = {
        "80-memory/old.md": dated("What CI runs at night: CI runs on Jenkins at night.", "2026-01-05"),
        "80-memory/new.md": dated("What CI runs at night: CI runs on Buildkite at night.", "2026-03-05"),
        "80-memory/tea.md": dated("At night the tea kitchen runs its dishwasher.", "2026-04-05"),
    }
    query = "what CI runs on Jenkins at night"
    with indexed(tmp_path, files, provider="local") as index:
        found = index.search(query, explain=True).results
        assert [hit.path for hit in found[:2]] == ["80-memory/new.md", "80-memory/old.md"]
        assert found[0].score == found[1].score
        assert found[0].explain
        assert found[0].explain.factors["newer"] > 1.0
        pages = [index.search(query, limit=1, offset=page).results[0].path for page in range(len(found))]
        assert pages == [hit.path for hit in found]
        assert [one.path for one in index.recall(query).sources[:2]] == [hit.path for hit in found[:2]]
        assert index.search(query, as_of="2026-02-01").results[0].path == "80-memory/old.md"
