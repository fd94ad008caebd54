"""The cost of a hostile file, in rows; benchmarks/hostile.py measures the time that each takes."""

from pathlib import Path

import pytest

from benchmarks.hostile import files, measure
from tests.api.vaults import indexed
from vault_index.markdown.parse import parse

PROSE = "a few words of prose that say little. " * 3_000
LARGE = {
    "a tag of 200 kB",
    "a frontmatter tag of 60 kB",
    "a title of 60 kB",
    "six long headings over 60,000 short ones",
    "long aliases over short sections",
}


@pytest.mark.parametrize(("what", "text"), [one for one in files() if one[0] in LARGE])
def test_index_size_is_proportional_to_its_text(what: str, text: str) -> None:
    assert measure(what, text).times < 12


def test_parse_names_tags_that_are_too_long() -> None:
    parsed = parse(f"#{'a' * 501} #{'b' * 500}", "n")
    assert parsed.tags == ("b" * 500,)
    assert [(fault.code, fault.line) for fault in parsed.faults] == [("markdown", 1)]
    assert parse(f"#{'b' * 500}", "n").faults == ()


def test_parse_treats_excess_tags_and_headings_as_text() -> None:
    tags = parse(" ".join(f"#t{number}" for number in range(10_001)), "n")
    assert (len(tags.tags), len(tags.faults)) == (10_000, 1)
    headings = parse("".join(f"# h{number}\n" for number in range(20_001)), "n")
    assert sum(block.is_heading for block in headings.blocks) == 20_000
    assert headings.blocks[-1].headings == ("h19999",)
    assert len(headings.faults) == 1


def test_search_finds_aliases_beyond_the_part_repeated_in_chunks(tmp_path: Path) -> None:
    aliases = ", ".join(f"alias{number}" for number in range(3_000))
    with indexed(tmp_path, {"a.md": f"---\naliases: [{aliases}]\n---\n{PROSE}"}) as index:
        for alias in ("alias7", "alias2999"):
            assert {hit.path for hit in index.search(alias, mode="text").results} == {"a.md"}
