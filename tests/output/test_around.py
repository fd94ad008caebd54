"""`related` and `timeline` in every format: relations to the anchor, and its position."""

from typing import Any

import toon_format

from tests.output import answers
from vault_index.output import render


def rendered(method: str, answer: dict[str, Any], width: int = 80) -> list[str]:
    return render(method, answer, "human", width=width).split("\n")


def decoded(method: str, answer: dict[str, Any]) -> Any:
    return toon_format.decode(render(method, answer, "toon"))


BOTH = answers.relative(1, "link", "backlink", "near", title="Both")
NEAR = answers.relative(2, title="Near", digest="What it says.")
EARLY = answers.record(1, title="Early", created="2026-11-20T00:00:00+00:00")
LATE = answers.record(2, title="Late", created="2026-11-22T08:30:00+00:00")


def test_render_related_for_humans_shows_relation_and_cosine() -> None:
    lines = rendered("related", answers.related(BOTH, NEAR, total=7))
    assert lines[0] == "Related to WAL · wal.md"
    assert lines[2].split() == ["id", "relation", "cosine", "title", "path"]
    assert "link, backlink    0.71  Both" in lines[3]
    assert "near              0.71  Near" in lines[4]
    assert lines[-1] == "2 of 7 documents"


def test_render_related_in_toon_is_a_table_of_reasons_and_digests() -> None:
    answer = decoded("related", answers.related(BOTH, NEAR, total=7))
    assert (answer["anchor"], answer["total"]) == ("wal.md", 7)
    first, second = answer["results"]
    assert (first["relations"], first["cosine"], first["tokens"]) == ("link|backlink|near", 0.71, 118)
    assert second["digest"] == "What it says."
    assert decoded("related", answers.related(degraded=("no vectors",)))["degraded"] == ["no vectors"]


def test_render_timeline_marks_its_anchor_and_sessions() -> None:
    session = answers.record(2, kind="session", title="Late", created="2026-11-22T08:30:00+00:00")
    lines = rendered("timeline", answers.timeline((EARLY,), (session,), title="Here"), width=120)
    assert [line.startswith("▸") for line in lines[1:]] == [False, True, False]
    assert ["session" in line for line in lines[1:]] == [False, False, True]
    assert ["Early" in lines[1], "Here" in lines[2], "Late" in lines[3]] == [True] * 3
    assert "No documents before or after it." in "\n".join(rendered("timeline", answers.timeline()))


def test_render_around_in_markdown_is_a_table_with_a_bold_anchor() -> None:
    table = render("timeline", answers.timeline((EARLY,), (LATE,), title="Here"), "markdown").split("\n")
    assert [("**Here**" in row) for row in table] == [False, False, False, True, False]
