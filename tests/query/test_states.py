"""Inactive memories are marked in every answer and format, and a superseded one leads to its successor."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import indexed
from vault_index import VaultIndex
from vault_index.api import to_json
from vault_index.mcp_server.budget import page
from vault_index.output import render


def uid(number: int) -> str:
    return f"{number}0000000-0000-4000-8000-000000000000"


def memory(number: int, text: str, *keys: str) -> str:
    head = "\n".join([f"id: {uid(number)}", f"created: 2026-0{number}-01", *keys])
    return f"---\n{head}\n---\n{text}\n"


STATES = {
    "expired": "80-memory/expired.md",
    "superseded": "80-memory/superseded.md",
    "outdated": "80-memory/outdated.md",
    "archived": "80-memory/archived.md",
    "unreviewed": "80-memory/inbox/unreviewed.md",
}
OVER = {
    STATES["expired"]: memory(1, "The ferry to Aland.", "expires: 2020-01-01"),
    STATES["superseded"]: memory(2, "The ferry to Bornholm.", f"superseded_by: {uid(6)}"),
    STATES["outdated"]: memory(3, "The ferry to Corfu.", "valid_until: 2020-01-01"),
    STATES["archived"]: memory(4, "The ferry to Delos.", "archived: 2026-02-03"),
    STATES["unreviewed"]: memory(5, "The ferry to Elba."),
    "80-memory/new.md": memory(6, "A boat crosses the Baltic Sea.", "archived: 2999-01-01", "expires: 2999-01-01"),
    "see.md": "# Ferries\n\n[[expired]] [[superseded]] [[outdated]] [[archived]] [[unreviewed]] [[new]]\n",
}


@pytest.fixture(scope="module")
def over(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with indexed(tmp_path_factory.mktemp("over"), OVER) as index:
        yield index


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("method", ["search", "list", "get", "timeline", "related"])
def test_states_of_inactive_memories_are_shown_in_every_answer(over: VaultIndex, method: str, state: str) -> None:
    asked: dict[str, Any] = {
        "search": lambda: over.search(f"ferry is:{state}"),
        "list": lambda: over.list(state=state),
        "get": lambda: over.get(STATES[state]),
        "timeline": lambda: over.timeline(STATES[state]),
        "related": lambda: over.related("see.md", state=state),
    }
    answer = to_json(asked[method]())
    records = [*answer.get("results", ()), *([answer["anchor"]] if method == "timeline" else [])]
    assert [one["states"] for one in records if one["path"] == STATES[state]] == [[state]]
    shown = f"superseded by {uid(6)[:8]}" if state == "superseded" else state
    for form in ("human", "toon", "markdown"):
        assert shown in render(method, answer, form, width=200).replace(STATES[state], ""), form
    assert shown in page(method, answer).text.replace(STATES[state], "")


def test_states_of_active_memories_are_not_shown(over: VaultIndex) -> None:
    answers = (over.search("boat"), over.list(path="80-memory/new.md"), over.get(["80-memory/new.md", "see.md"]))
    for answer in map(to_json, answers):
        assert all({"states", "superseded_by", "archived", "unreviewed"}.isdisjoint(one) for one in answer["results"])


# --- from the old words to the current memory ----------------------------------------------------------------------

CHAIN = {
    "80-memory/a.md": memory(1, "RabbitMQ carries our queue.", f"superseded_by: {uid(2)}"),
    "80-memory/b.md": memory(2, "We use SQS for messages.", f"superseded_by: {uid(3).upper()}"),
    "80-memory/c.md": memory(3, "NATS does it now.\n\n- one\n- RabbitMQ is gone", "project: api"),
    "80-memory/loop.md": memory(4, "Herons circle.", f"superseded_by: {uid(5)}"),
    "80-memory/pool.md": memory(5, "Egrets circle.", f"superseded_by: {uid(4)}"),
    "80-memory/lost.md": memory(6, "Cranes left.", f"superseded_by: {uid(9)}"),
    "80-memory/gone.md": memory(7, "Storks stay.", f"superseded_by: {uid(8)}"),
    "80-memory/over.md": memory(8, "Birds migrate.", "expires: 2026-01-01"),
}
A, B, C = list(CHAIN)[:3]
LEADS: list[tuple[str, dict[str, Any], list[tuple[str, str | None]]]] = [
    ("SQS", {}, [(C, uid(2))]),
    ("which queue carries", {}, [(C, uid(1))]),
    ("NATS", {}, [(C, None)]),
    ("SQS", {"project": "web"}, []),  # of the hit or its successor
    ("SQS", {"include_superseded": True}, [(B, None)]),
    ("SQS is:superseded", {}, [(B, None)]),
    ("carries our queue", {"as_of": "2026-02-10"}, [(B, uid(1))]),
    ("carries our queue", {"as_of": "2026-01-10"}, [(A, None)]),
    ("herons", {}, []),  # two that superseded each other
    ("cranes", {}, []),  # by a missing one
    ("storks", {}, []),  # by an expired one
]


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with indexed(tmp_path_factory.mktemp("chain"), CHAIN) as index:
        yield index


@pytest.mark.parametrize(("query", "options", "found"), LEADS)
def test_search_shows_the_newest_successor_of_a_superseded_memory(
    chain: VaultIndex, query: str, options: dict[str, Any], found: list[tuple[str, str | None]]
) -> None:
    hits = chain.search(query, **options).results
    assert [(hit.path, hit.supersedes) for hit in hits] == found


def test_related_shows_supersession_as_a_relation(chain: VaultIndex) -> None:
    found = {one.path: one.relations for one in chain.related(B).results}
    assert (found[A], found[C]) == (("supersedes",), ("superseded by",))
    assert A not in {one.path for one in chain.related(B, project="api").results}


def test_recall_and_every_format_name_the_superseded_memory(chain: VaultIndex, tmp_path: Path) -> None:
    said = f"supersedes {uid(1)[:8]}"
    assert said in chain.recall("which queue carries").text
    answer = to_json(chain.search("which queue carries"))
    assert all(said in render("search", answer, form, width=200) for form in ("human", "toon", "markdown"))
