"""Explanations and the answer of `why`, in every format."""

import pytest

from tests.output import answers
from vault_index.output import Format, render

EXPLAINED = answers.search(
    answers.hit(explain=answers.explanation("wal", "dokcer", "journal")), query="wal", reading=answers.reading()
)


def rendered(method: str, answer: dict[str, object], form: Format) -> str:
    return render(method, answer, form, width=100)


def test_render_search_explains_the_query_and_each_hit() -> None:
    text = rendered("search", EXPLAINED, "human")
    words = "wal (rarity 3.2, in 12 texts), dokcer (rarity 6.5, in 7 texts, or docker or wal)"
    assert text.startswith(f"words: {words}\nrequired: ")
    assert "excluded: wal\nfilters: kind:memory, tag:wal\n" in text
    assert "matched: wal · corrected: dokcer · missing: journal" in text
    assert "score 0.72 = (text 0.25 + vector 0.31 + passage 0.17) × recency 0.98" in text


@pytest.mark.parametrize("form", ["toon", "markdown"])
def test_render_search_explains_the_same_to_agents(form: Format) -> None:
    text = rendered("search", EXPLAINED, form).replace("\\", "")
    for told in (
        "matched: wal · corrected: dokcer · missing: journal", "score 0.72 = (text 0.25",
        "dokcer (rarity 6.5, in 7 texts, or docker or wal)",
    ):  # fmt: skip
        assert told in text
    text = rendered("why", answers.why(), form)
    for told in ("30-code/wal.md:27", "It would be hit 12; the answer ends after 10.", "raise --limit to 12"):
        assert told in text


def test_render_search_has_no_explanation_by_default() -> None:
    plain = answers.search(answers.hit())
    assert "score" not in rendered("search", plain, "human")
    assert "why" not in rendered("search", plain, "toon")
    assert "- " not in rendered("search", plain, "markdown")


def test_render_why_begins_with_the_verdict_and_gives_a_remedy() -> None:
    lines = rendered("why", answers.why(), "human").split("\n")
    assert [lines[0], lines[2]] == ["Not found: WAL · 30-code/wal.md:27", "  raise --limit to 12"]
    assert rendered("why", answers.why(found=True), "human").startswith("Found: WAL")
