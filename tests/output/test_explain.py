"""Explanations and the answer of `why`, in every format."""

import pytest

from tests.output import answers
from vault_index.output import Format, render
from vault_index.results.base import Problem

EXPLAINED = answers.search(
    answers.hit(explain=answers.explanation("wal", "dokcer", "journal")), query="wal", reading=answers.reading()
)


def shown(method: str, answer: dict[str, object], form: Format) -> str:
    return render(method, answer, form, width=100)


def test_search_explains_the_reading_and_each_hit() -> None:
    lines = shown("search", EXPLAINED, "human").split("\n")
    assert lines[:5] == [
        "words: wal (3.2, in 12), dokcer (6.5, in 7, perhaps docker or wal)",
        'must hold: "wal mode"',
        "must not hold: wal",
        "filters: kind:memory, tag:wal",
        "",
    ]
    assert lines[-5:-2] == [
        "      text #3 (12.10) · vector #1 (0.61)",
        "      says: wal · as corrected: dokcer · not: journal · 72% of the question in and around it",
        "      score 0.72 = (text 0.25 + vector 0.31 + passage 0.17) × recency 0.98",
    ]


@pytest.mark.parametrize("form", ["toon", "markdown"])
def test_agents_are_told_the_same(form: Format) -> None:
    text = shown("search", EXPLAINED, form).replace("\\", "")
    for told in (
        "says: wal · as corrected: dokcer · not: journal", "score 0.72 = (text 0.25",
        "dokcer (6.5, in 7, perhaps docker or wal)",
    ):  # fmt: skip
        assert told in text
    text = shown("why", answers.why(), form)
    for told in ("30-code/wal.md:27", "It would be hit 12; the answer ends after 10.", "raise --limit to 12"):
        assert told in text


def test_without_explanation_nothing_is_explained() -> None:
    plain = answers.search(answers.hit())
    assert "score" not in shown("search", plain, "human")
    assert "why" not in shown("search", plain, "toon")
    assert "- " not in shown("search", plain, "markdown")


def test_an_explained_answer_shows_what_is_no_answer_where_all_is_asked_for() -> None:
    hit = answers.hit(explain=answers.explanation("wal"), weak=True)
    asked = answers.search(hit, confidence="none", reading=answers.reading(), all=True)
    text = shown("search", asked, "human")
    assert "Use WAL mode for the index" in text
    assert text.endswith("none (nothing answers)")


def test_why_begins_with_the_verdict_and_says_what_helps() -> None:
    lines = shown("why", answers.why(), "human").split("\n")
    assert lines[:3] == [
        "Not found: WAL · 30-code/wal.md:27",
        "- It would be hit 12; the answer ends after 10.",
        "  raise --limit to 12",
    ]
    assert "score 0.72 = (text 0.25 + vector 0.31 + passage 0.17) × recency 0.98" in lines[-6]
    assert shown("why", answers.why(found=True), "human").startswith("Found: WAL")


def test_why_of_a_file_that_is_not_indexed() -> None:
    reason = Problem("ignored", "It is not indexed.", "change the rule")
    answer = answers.why(
        id=None, title=None, lines=None, rank=None, hit=None, reading=None, path="templates/day.md", reasons=(reason,)
    )
    assert shown("why", answer, "human") == "Not found: templates/day.md\n- It is not indexed.\n  change the rule"
