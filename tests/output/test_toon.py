"""TOON is decoded to the same values, and costs little."""

import re
from typing import Any

import pytest
import toon_format
from hypothesis import given, strategies as st

from tests.output import answers
from vault_index.output import Format, render
from vault_index.output.text import visible

LINE = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def decoded(method: str, answer: dict[str, Any]) -> Any:
    return toon_format.decode(render(method, answer, "toon"))


def escaped(words: str) -> str:
    """The words without active characters: text before the space is escaped and decoded."""
    return "".join(one if one < " " else visible(one) for one in words)


@given(LINE, LINE, LINE)
def test_render_toon_restores_any_string(title: str, path: str, digest: str) -> None:
    answer = answers.search(
        answers.hit(0, title=f"WAL {title}", path=path, digest=f"x {digest}", kind="memory", spans={})
    )
    [first] = decoded("search", answer)["results"]
    assert (first["title"], first.get("path") or "") == (escaped(f"WAL {title}"), escaped(path))
    assert first["text"].startswith("x")


def test_render_toon_of_every_answer_can_be_decoded() -> None:
    for method, answer in answers.every_answer('a, "b": [c]\n- d'):
        assert isinstance(decoded(method, answer), dict), method


def test_render_toon_omits_usual_values() -> None:
    assert set(decoded("search", answers.search(answers.hit()))) == {"results"}
    unusual = answers.search(confidence="none", degraded=("no vectors",), corrections={"dokcer": "docker"})
    assert decoded("search", unusual) == {
        "confidence": "none (no sure answer)",
        "degraded": ["no vectors"],
        "corrections": {"dokcer": "docker"},
        "results": [],
    }


def test_render_toon_shows_a_matching_line_whole() -> None:
    before, after = "It was long so. " * 3, "So far. " * 4
    line = "Readers wait for nobody, since the log holds what is new. " * 5
    at, end = len(before), len(before + line)
    short, item = (
        "WAL mode wins. Yes. It was asked for twice.",
        "- Readers wait for nobody, and nobody waits for readers.",
    )
    for snippet, spans, text in (
        (f"{before}{line}{after}", {"snippet": ((at, at + 7),), "digest": (), "focus": ((at, end - 1),)}, line.strip()),
        (short, {"snippet": (), "digest": (), "focus": ((14, 18),)}, short),  # with its neighbours
        (item, {}, item.removeprefix("- ")),
    ):
        [row] = decoded("search", answers.search(answers.hit(snippet=snippet, spans=spans)))["results"]
        assert row["text"] == text


def test_render_toon_shows_a_digest_unless_the_passage_matches_better() -> None:
    spans: tuple[tuple[tuple[Any, ...], tuple[Any, ...], bool], ...]
    spans = (((), (), True), (((9, 16),), (), False), (((9, 16),), ((0, 3), (9, 16)), True))
    for in_snippet, in_digest, digest in spans:
        memory = answers.hit(0, kind="memory", spans={"snippet": in_snippet, "digest": in_digest})
        shown, note = decoded("search", answers.search(memory, answers.hit(1)))["results"]
        assert (shown["text"] == "WAL lets readers run while the daemon writes.") == digest
        assert note["text"].startswith("WAL lets readers run while the daemon writes, so")


def test_render_toon_cuts_a_long_passage_around_the_searched_word() -> None:
    snippet = f"{'before ' * 100}readers wait {'after ' * 100}"
    spans = {"snippet": ((700, 707), (708, 712)), "digest": ()}
    row = decoded("search", answers.search(answers.hit(snippet=snippet, spans=spans)))["results"][0]
    assert "readers wait" in row["text"]
    assert row["text"].startswith("…")
    assert row["text"].endswith("…")


def test_render_toon_puts_values_common_to_all_rows_above_them() -> None:
    same = {"kind": "memory", "type": "decision", "project": "api", "tags": ("sqlite",)}
    for method, answer in (
        ("search", answers.search(answers.hit(0, **same), answers.hit(1, **same))),
        ("list", answers.documents(answers.record(0, **same), answers.record(1, **same))),
    ):
        shown = decoded(method, answer)
        assert (shown["type"], shown["project"], shown["created"]) == ("decision", "api", "2026-11-21")
        assert not {"type", "project", "created", "kind", "tags"} & shown["results"][0].keys()
    assert (shown["kind"], shown["tags"]) == ("memory", "sqlite")
    other = decoded("search", answers.search(answers.hit(0, **same), answers.hit(1, **same | {"type": "warning"})))
    assert [row["type"] for row in other["results"]] == ["decision", "warning"]


def test_render_toon_does_not_repeat_path_title_and_text() -> None:
    folder = "80-memory/decision/2026-11-21"
    for kind, path, title, text, told in (
        ("note", "code/Use WAL.md", "Use WAL", "x", ("code/Use WAL.md", None)),
        ("note", "code/wal.md", "Use WAL", "x", ("code/wal.md", "Use WAL")),
        ("note", "code/wal.md", "Deploys run on Tuesdays", "Deploys run on Tuesdays only.", ("code/wal.md", None)),
        ("memory", f"{folder}-use-wal.md", "Use WAL!", "x", (None, "Use WAL!")),
        ("memory", f"{folder}-use.md", "Use WAL, always", "x", (None, "Use WAL, always")),
        ("memory", "80-memory/handoffs/2026-11-21.md", "Handoff", "x", ("80-memory/handoffs/2026-11-21.md", "Handoff")),
        ("session", "global/ses_7f3.md", "Repair", "x", (None, "Repair")),
    ):
        hit = answers.hit(kind=kind, path=path, title=title, snippet=text, digest="", headings=())
        row = decoded("search", answers.search(hit))["results"][0]
        assert (row.get("path"), row.get("title")) == told


def test_render_toon_hits_name_document_source_and_turn_if_they_differ() -> None:
    turn = answers.hit(1, source="work", kind="session", headings=("User · 2026-11-21 07:32", "Goal"))
    first, second, third = decoded("search", answers.search(answers.hit(0), answers.hit(0, lines=(40, 40)), turn))[
        "results"
    ]
    assert (first["path"], second["path"], second["title"]) == ("30-code/databases/sqlite-wal-0.md", None, None)
    assert (second["id"], second["lines"]) == (first["id"], "40")
    assert (first["source"], third["source"], third["turn"]) == ("vault", "work", "User · 2026-11-21 07:32")


def test_render_toon_lists_keep_only_informative_columns() -> None:
    answer = answers.documents(answers.record(0), answers.record(1, type="decision", tags=()), total=9)
    told = decoded("list", answer)
    assert (told["total"], told["created"]) == (9, "2026-11-21")
    assert list(told["results"][0]) == ["id", "path", "title", "digest", "type", "tags", "tokens"]
    assert [row["tags"] for row in told["results"]] == ["sqlite|ops/storage", ""]
    [row] = decoded("list", answers.documents(answers.record(kind="session", turns=6, path="a\udc80.md")))["results"]
    assert (row["updated"], row["turns"]) == ("2026-11-21", 6)


@pytest.mark.parametrize("form", ["human", "toon", "markdown"])
def test_render_search_counts_weak_hits_after_three_or_shows_all(form: Format) -> None:
    hits = [answers.hit(number, weak=True, title=f"Hit {number}") for number in range(5)]
    text = render("search", answers.search(*hits, confidence="none"), form)
    assert re.findall(r"Hit \d", text) == ["Hit 0", "Hit 1", "Hit 2"]
    assert re.search(r"\bweak\b", text)
    assert re.search(r"\b2 (weak hits hidden; show with --all|\(--all\)|weak: --all)", text)
    assert "Hit 1" not in render("search", answers.search(*hits[1:], offset=4), form)
    text = render("search", answers.search(*hits, all=True), form)
    assert "Hit 4" in text
    assert "--all" not in text
