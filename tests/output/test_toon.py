"""TOON is read back as it was meant, and is cheap."""

from typing import Any

import pytest
import toon_format
from hypothesis import given, strategies as st

from tests.output import answers
from vault_index import tokens
from vault_index.output import render
from vault_index.output.clean import visible

LINE = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def decoded(method: str, answer: dict[str, Any]) -> Any:
    return toon_format.decode(render(method, answer, "toon"))


def shown(words: str) -> str:
    """The words without what acts: what stands before the space is escaped, and comes back."""
    return "".join(one if one < " " else visible(one) for one in words)


@pytest.mark.parametrize("words", answers.NASTY)
def test_nasty_strings_come_back(words: str) -> None:
    answer = answers.search(answers.hit(0, title=words, path=f"{words}.md"), answers.hit(1, also=(words,)))
    first, second = decoded("search", answer)["results"]
    assert first["title"] == shown(words)
    assert first["place"] == f"{shown(words)}.md:20-31"
    assert second.get("also", "") == shown(words)
    content = decoded("get", answers.texts(answers.text(content=words, title=words)))["results"][0].get("content", "")
    assert content == shown(words)


@given(LINE, LINE, LINE)
def test_any_string_comes_back(title: str, path: str, digest: str) -> None:
    answer = answers.search(answers.hit(0, title=title, path=path, digest=digest, kind="memory"), answers.hit(1))
    first = decoded("search", answer)["results"][0]
    assert (first["title"], first["place"]) == (shown(title), f"{shown(path)}:20-31")


@pytest.mark.parametrize(("method", "answer"), answers.every_answer('a, "b": [c]\n- d'))
def test_every_answer_can_be_read_back(method: str, answer: dict[str, Any]) -> None:
    assert isinstance(decoded(method, answer), dict)


def test_a_ten_hit_answer_is_cheap() -> None:
    answer = answers.search(*(answers.hit(number) for number in range(10)))
    toon = tokens.count(render("search", answer, "toon"))
    assert toon <= 10 * 100
    assert toon <= 0.7 * tokens.count(render("search", answer, "json"))


def test_hits_are_a_table_of_what_an_agent_needs() -> None:
    assert render("search", answers.search(answers.hit(0), answers.hit(1)), "toon").split("\n")[0] == (
        "results[2]{id,score,place,title,text,tokens}:"
    )


def test_what_is_as_usual_is_not_said() -> None:
    assert set(decoded("search", answers.search(answers.hit()))) == {"results"}
    unusual = answers.search(confidence="none", degraded=("no vectors",), corrections={"dokcer": "docker"})
    assert decoded("search", unusual) == {
        "confidence": "none",
        "degraded": ["no vectors"],
        "corrections": {"dokcer": "docker"},
        "results": [],
    }


def test_ids_are_prefixes_that_tell_hits_apart() -> None:
    one = answers.hit(id="5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f")
    twin = answers.hit(id="5f0c3f0e-8a1c-4c2d-9e3f-6b7a8c9d0e1f")
    other = answers.hit(id="aaaaaaaa-8a1c-4c2d-9e3f-6b7a8c9d0e1f")
    ids = [row["id"] for row in decoded("search", answers.search(one, twin, other, one))["results"]]
    assert ids == ["5f0c3f0e-8a1b", "5f0c3f0e-8a1c", "aaaaaaaa", "5f0c3f0e-8a1b"]


def test_a_memory_shows_its_digest_and_a_note_the_passage() -> None:
    memory, note = answers.hit(0, kind="memory"), answers.hit(1)
    rows = decoded("search", answers.search(memory, note))["results"]
    assert rows[0]["text"] == "WAL lets readers run while the daemon writes."
    assert rows[1]["text"].startswith("WAL lets readers run while the daemon writes, so")


def test_a_long_passage_is_cut_around_the_word_that_was_asked_for() -> None:
    snippet = f"{'before ' * 100}readers wait {'after ' * 100}"
    spans = {"snippet": ((700, 707), (708, 712)), "digest": ()}
    row = decoded("search", answers.search(answers.hit(snippet=snippet, spans=spans)))["results"][0]
    assert "readers wait" in row["text"]
    assert row["text"].startswith("…")
    assert row["text"].endswith("…")


def test_lists_keep_only_columns_that_say_something() -> None:
    answer = answers.documents(answers.record(0), answers.record(1, type="decision"), total=9)
    shown = decoded("list", answer)
    assert shown["total"] == 9
    assert list(shown["results"][0]) == ["id", "path", "title", "type", "tags", "created", "tokens"]
    assert shown["results"][1]["tags"] == "sqlite|ops/storage"


def test_sessions_are_told_by_turn_and_length() -> None:
    hit = answers.hit(kind="session", headings=("User · 2026-11-21 07:32", "Goal"))
    assert decoded("search", answers.search(hit))["results"][0]["turn"] == "User · 2026-11-21 07:32"
    row = decoded("list", answers.documents(answers.record(kind="session", turns=6)))["results"][0]
    assert (row["updated"], row["turns"]) == ("2026-11-21", 6)


def test_half_a_character_does_not_break_the_answer() -> None:
    assert decoded("list", answers.documents(answers.record(path="a\udc80.md")))["results"][0]["path"] == "a\ufffd.md"
