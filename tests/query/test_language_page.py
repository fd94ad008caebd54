"""docs/query-language.md: every example is parsed as described, and every error is one."""

import re
from pathlib import Path

from vault_index.models import Filters
from vault_index.query.language.filters import QUERY_KEYS
from vault_index.query.language.parse import parse_query

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "query-language.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (`.+?) \|", PAGE, re.MULTILINE)
EXAMPLES = [example for row in ROWS for example in re.findall(r"`([^`]+)`", row)]


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_query_language_page_examples_match_their_section() -> None:
    assert len(EXAMPLES) > 40
    for example in EXAMPLES:
        query = parse_query(example)
        in_filters = f"`{example}`" in section("Filters")
        assert (query.filters != Filters()) == in_filters, example
        assert bool(query.terms) == (not in_filters or example.startswith("docker")), example
        if f"`{example}`" in section("AND, OR, NOT"):
            assert query.required or query.excluded, example


def test_query_language_page_alternatives_are_equal() -> None:
    pairs = [re.findall(r"`([^`]+)`", row) for row in ROWS if "type:bugfix" in row or "NOT java" in row]
    assert len(pairs) == 2
    for left, right in pairs:
        one, other = parse_query(left), parse_query(right)
        assert (one.required, one.excluded, one.filters) == (other.required, other.excluded, other.filters)


def test_query_language_page_shows_every_filter() -> None:
    shown = {key for example in EXAMPLES for key in re.findall(r"(\w+):", example)}
    assert shown >= QUERY_KEYS
    of_page = (ROOT / "vault_index/serve/page/site/query.js").read_text("utf-8").split("const TOKEN")[0]
    assert {*re.findall(r'"(\w+)"', of_page)} == QUERY_KEYS
