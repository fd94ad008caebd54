"""The relation of two memories, and the rank of the newer of two near-duplicates."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.api.vaults import indexed
from tests.query.records import chunk_record
from vault_index.query.ranking.comparison import Memory, as_memory, compare

DOCKER = "Deploys run in Docker on the build host."
PAIRS = [
    # one value replaced, another number, a negation, an antonym
    ("The nightly backup starts at 02:00.", "The nightly backup starts at 04:30.", 0.95, "contradiction"),
    ("The docs site is built with Docusaurus.", "The docs site is built with VitePress.", 0.65, "contradiction"),
    ("The server stands in Frankfurt.", "The server stands in Helsinki.", 0.9, "contradiction"),
    ("CO2: reliable up to 2000 ppm.", "After the update it reads CO2 up to 5000.", 0.8, "contradiction"),
    ("All requests are logged.", "Requests to the probe are not logged.", 0.8, "contradiction"),
    ("Never use tabs in Go.", "In Go we use tabs, always.", 0.8, "contradiction"),
    ("Telemetry is enabled by default.", "By default we ship telemetry disabled.", 0.8, "contradiction"),
    ("Force pushes are allowed on main.", "On main, pushes by force: forbidden.", 0.8, "contradiction"),
    ("Run migrations before the deploy.", "Migrations: run after a deploy.", 0.8, "contradiction"),
    ("Der Serverraum wird montags geprüft.", "Der Serverraum wird freitags geprüft.", None, "contradiction"),
    # the same, by words without vectors
    (DOCKER, DOCKER, 1.0, "duplicate"),
    ("Tests use port 0.", "Tests use port 0, because fixed ports clash in CI.", 0.9, "duplicate"),
    ("Backups run every night at 02:00", "The nightly backup starts at 2 am", 0.8, "duplicate"),
    ("阳台上的番茄需要每天浇水", "阳台的番茄需要每天浇水", None, "duplicate"),
    # other facts about one subject
    ("Keycloak is our identity provider.", "Keycloak sessions last eight hours.", 0.65, "subject"),
    # another subject: two values replaced in one sentence, or nothing in common
    ("Staging runs two replicas.", "Production runs six replicas.", 0.8, None),
    ("Emil is allergic to peanuts.", "Clara is allergic to penicillin.", 0.75, None),
    ("Revenue in 2023 was 1.8 million.", "Revenue in 2024 was 2.3 million.", 0.85, None),
    ("GET /orders returns 50 rows.", "GET /customers returns 200 rows.", 0.8, None),
    ("On Linux it watches by inotify.", "On macOS it watches by FSEvents.", 0.64, None),
    (DOCKER, "The tea kitchen on level two has a new dishwasher.", 0.1, None),
    (DOCKER, "The tea kitchen on level two has a new dishwasher.", None, None),
]  # fmt: skip


def as_fact(text: str, project: str | None = None, tokens: int = 20, title: str = "") -> Memory:
    front = f'{{"title": "{title}"}}' if title else "{}"
    document = chunk_record(kind="memory", project=project).document
    document = replace(document, tokens=tokens, title=title, frontmatter_json=front)
    return as_memory(document, text, lambda words: {word: word.removesuffix("s") for word in words})


@pytest.mark.parametrize(("older", "newer", "cosine", "kind"), PAIRS)
def test_compare_distinguishes_contradictions_and_duplicates(
    older: str, newer: str, cosine: float | None, kind: str | None
) -> None:
    for one, other in ((older, newer), (newer, older)):
        found = compare(as_fact(one), as_fact(other), cosine)
        assert (found.kind if found else None) == kind


def test_compare_takes_values_from_the_text_not_from_the_title() -> None:
    one, other = as_fact(DOCKER, title="Where deploys run"), as_fact(DOCKER, title="How deploys run")
    assert compare(one, other, 0.9) == ("duplicate", 0.9)


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
