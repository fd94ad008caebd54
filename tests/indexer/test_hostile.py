"""What a hostile file may cost, in rows; benchmarks/hostile.py has sixty of them, and how long each takes."""

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
def test_an_index_stays_in_proportion_to_its_text(what: str, text: str) -> None:
    assert measure(what, text).times < 12


def test_a_tag_is_short_and_what_is_longer_is_named() -> None:
    parsed = parse(f"#{'a' * 501} #{'b' * 500}", "n")
    assert parsed.tags == ("b" * 500,)
    assert [(fault.code, fault.line) for fault in parsed.faults] == [("markdown", 1)]
    assert parse(f"#{'b' * 500}", "n").faults == ()


def test_tags_and_headings_beyond_any_use_are_text() -> None:
    tags = parse(" ".join(f"#t{number}" for number in range(10_001)), "n")
    assert (len(tags.tags), len(tags.faults)) == (10_000, 1)
    headings = parse("".join(f"# h{number}\n" for number in range(20_001)), "n")
    assert sum(block.is_heading for block in headings.blocks) == 20_000
    assert headings.blocks[-1].headings == ("h19999",)
    assert len(headings.faults) == 1


def test_what_every_chunk_repeats_is_cut_and_still_found(tmp_path: Path) -> None:
    aliases = ", ".join(f"alias{number}" for number in range(3_000))
    with indexed(tmp_path, {"a.md": f"---\naliases: [{aliases}]\n---\n{PROSE}"}) as index:
        for alias in ("alias7", "alias2999"):
            assert {hit.path for hit in index.search(alias, mode="text").results} == {"a.md"}
