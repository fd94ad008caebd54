"""Which of two memories says something newer of the same subject, and where that one stands in an answer."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.vaults import indexed, opened, write
from tests.query.records import chunk_record
from vault_index import VaultIndex
from vault_index.query.ranking.newer import MARKED, Memory, memory, newest_first, score
from vault_index.results.memories import StoredMemory

JENKINS = "Builds run on Jenkins, on the box in the server room."
ACTIONS = "We moved off Jenkins; builds run on GitHub Actions now."

PAIRS = [
    # what changed
    (JENKINS, ACTIONS, 0.6, True),
    ("The nightly backup starts at 02:00.", "The nightly backup starts at 04:30.", 0.95, True),
    ("Node 18 for quail.", "Node 20 for quail.", 0.9, True),
    ("The rate limit of the API is 60 requests a minute.", "The rate limit of the API is 100 requests.", 0.9, True),
    ("The weekly sync is on Monday at ten.", "The weekly sync moved to Wednesday.", 0.8, True),
    ("Der Serverraum wird montags geprüft.", "Der Serverraum wird jetzt freitags geprüft.", 0.9, True),
    ("Tickets are answered by Mira.", "Tickets are answered by Jonas instead of Mira.", 0.7, True),
    # another subject in the same sentence
    ("The staging cluster runs three nodes.", "The production cluster runs nine nodes.", 0.8, False),
    ("Emil is allergic to peanuts.", "Clara is allergic to penicillin.", 0.7, False),
    ("Revenue in 2023 was 1.8 million.", "Revenue in 2024 was 2.3 million.", 0.85, False),
    ("The upload endpoint allows ten calls.", "The search endpoint allows three calls.", 0.7, False),
    ("Reads go to the replica.", "Writes go to the primary.", 0.6, False),
    # another thing of the same subject
    ("The new laptop has 32 GB of memory.", "The new laptop cost 1,849 euros.", 0.6, False),
    ("Keycloak is our identity provider.", "Keycloak sessions last eight hours.", 0.5, False),
    # the same, or nothing in common
    (JENKINS, JENKINS, 1.0, False),
    ("Tests use port 0.", "Tests use port 0, because fixed ports clash in CI.", 0.9, False),
    (JENKINS, "The tea kitchen on level two has a new dishwasher.", 0.1, False),
    ("阳台上的番茄需要每天浇水", "成都的火锅很辣，记得点酸梅汤", 0.8, False),
]  # fmt: skip


def said(text: str, project: str | None = None, key: int = 1) -> Memory:
    record = chunk_record(text, key, kind="memory", document_id=key, created=float(key), project=project, tokens=20)
    return memory(record.document, [text], key)


def test_score_tells_a_change_from_what_only_looks_like_one() -> None:
    found = [
        (older, newer, cosine, score(said(newer), said(older), cosine) >= MARKED) for older, newer, cosine, _ in PAIRS
    ]
    assert found == PAIRS


def test_of_two_projects_both_hold() -> None:
    old, new = "The line length is 100.", "The line length is 120 now."
    assert score(said(new, "api"), said(old, "API"), 0.9) >= MARKED
    assert score(said(new, "api"), said(old, "web"), 0.9) == 0.0


def test_long_texts_are_compared_in_part() -> None:
    long = " ".join(f"word{number}" for number in range(50_000))
    assert len(said(long).said.words) < 1_000


def test_what_is_newer_comes_directly_before() -> None:
    one, two, three = (said("", key=key).document for key in (1, 2, 3))
    assert newest_first([1, 4, 2, 3], {}) == [1, 4, 2, 3]
    assert newest_first([1, 4, 2, 3], {1: [three, two], 2: [three]}) == [3, 2, 1, 4]
    assert newest_first([2, 4, 1], {1: [two]}) == [2, 4, 1]
    assert newest_first([1, 2], {1: [two], 2: [one]}) == [2, 1]  # each says that the other replaced it


# --- in an answer ---------------------------------------------------------------------------------------------------


def dated(text: str, created: str, more: str = "") -> str:
    return f"---\ntype: decision\ncreated: {created}\n{more}---\n{text}\n"


CHANGED = {
    "80-memory/old.md": dated("CI runs on Jenkins: builds, tests, what CI runs at night.", "2026-01-05"),
    "80-memory/new.md": dated("CI moved off Jenkins and runs on GitHub Actions now.", "2026-03-05"),
    "80-memory/tea.md": dated("The tea kitchen has a new dishwasher.", "2026-04-05"),
    "notes/ci.md": "What CI runs on is said in the memories. CI runs builds.",
}


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with indexed(tmp_path_factory.mktemp("changed"), CHANGED, provider="local") as opened_index:
        yield opened_index


def test_search_has_the_newer_first_and_marks_the_older(changed: VaultIndex) -> None:
    found = changed.search("what CI runs at night", explain=True).results
    paths = [hit.path for hit in found]
    new, old = (found[paths.index(f"80-memory/{name}.md")] for name in ("new", "old"))
    assert paths.index(new.path) + 1 == paths.index(old.path)
    assert (new.newer, old.newer) == (None, new.id)
    assert new.score == old.score
    assert new.explain
    assert new.explain.factors["newer"] > 1.0
    assert [hit.newer for hit in found if hit not in (new, old)] == [None] * (len(found) - 2)
    pages = [changed.search("what CI runs at night", limit=1, offset=page).results[0] for page in range(len(found))]
    assert [(hit.path, hit.newer) for hit in pages] == [(hit.path, hit.newer) for hit in found]
    [reason] = [one for one in changed.why("what CI runs at night", "80-memory/old.md").reasons if one.code == "newer"]
    assert f"update {new.id} --supersedes {old.id}" in reason.hint


def test_search_as_of_a_day_ignores_what_is_newer(changed: VaultIndex) -> None:
    [hit] = [one for one in changed.search("Jenkins", as_of="2026-02-01").results if one.kind == "memory"]
    assert (hit.path, hit.newer) == ("80-memory/old.md", None)


def test_what_was_superseded_comes_behind_what_replaced_it(tmp_path: Path) -> None:
    ids = {name: f"{number}0000000-0000-4000-8000-000000000000" for number, name in enumerate(("old", "new"), 1)}
    files = {
        "80-memory/old.md": dated(
            "Lena leads mobile.", "2026-01-05", f"id: {ids['old']}\nsuperseded_by: {ids['new']}\n"
        ),
        "80-memory/new.md": dated("Who is asked about mobile: Farid.", "2026-03-05", f"id: {ids['new']}\n"),
    }
    with indexed(tmp_path, files) as index:
        found = index.search("leads mobile", include_superseded=True).results
        assert [(hit.id, hit.newer) for hit in found] == [(ids["new"], None), (ids["old"], ids["new"])]
        assert [hit.id for hit in index.search("leads mobile").results] == [ids["new"]]


@pytest.mark.parametrize("query", ["", "what CI runs at night, Jenkins builds"])
def test_recall_has_the_newer_first_and_marks_the_older(changed: VaultIndex, query: str) -> None:
    block = changed.recall(query, project="anything")
    paths = [source.path for source in block.sources if source.path in ("80-memory/old.md", "80-memory/new.md")]
    [head] = re.findall("^.*older: see .*$", block.text, re.MULTILINE)
    assert paths == ["80-memory/new.md", "80-memory/old.md"]
    assert head.startswith("`80-memory/old.md")


# --- when one is stored ---------------------------------------------------------------------------------------------


def test_what_a_new_memory_replaces_is_said_in_one_more_call(tmp_path: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        index.add("The tea kitchen has a new dishwasher.")
        old = index.add(JENKINS)
        assert old.replaces is None
        new = index.add(ACTIONS)
        assert new.replaces
        assert (new.replaces.id, new.replaces.path) == (old.id, old.path)
        assert new.replaces.call == f"vault-index update {new.id} --supersedes {old.id}"
        assert index.update(new.id, supersedes=old.id).replaces is None
        assert old.id not in [hit.id for hit in index.search("Jenkins").results]
        again = index.add("Builds went back to Jenkins, no longer on GitHub Actions.")
        assert again.replaces
        assert again.replaces.id == new.id


def test_the_latest_of_several_is_the_one_that_is_replaced(tmp_path: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        stored: list[StoredMemory] = [index.add(f"The default timeout is {seconds} s.") for seconds in (30, 20, 10)]
        named = [one.replaces.id if one.replaces else None for one in stored]
        assert named == [None, stored[0].id, stored[1].id]


def test_add_names_no_memory_that_no_longer_counts(tmp_path: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        replaced = index.add(JENKINS, path="replaced")
        assert index.add(ACTIONS, supersedes=replaced.id).replaces is None
        expired = f"---\nexpires: 2020-01-01\n---\n{JENKINS.replace('Jenkins', 'Bamboo')}\n"
        write(tmp_path / "vault", {"80-memory/expired.md": expired})
        index.sync()
        assert index.add("We moved off Bamboo; builds run on Earthly now.").replaces is None
        index.add(JENKINS.replace("Jenkins", "Drone"), path="inbox/builds")
        assert index.add("We moved off Drone; builds run on Woodpecker now.").replaces is None


def test_an_update_names_it_as_well(tmp_path: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        old, new = index.add(JENKINS), index.add("Something about builds.")
        changed = index.update(new.id, content=ACTIONS)
        assert changed.replaces
        assert changed.replaces.id == old.id
        assert index.update(new.id, add_tags="ci").replaces is None
