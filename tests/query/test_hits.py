"""Hits point at the matching lines."""

from pathlib import Path

import pytest

from tests.api.vaults import indexed, opened, paths_found, write
from tests.tables import tables
from vault_index import VaultIndex
from vault_index.api import to_json
from vault_index.config.edit import add_source
from vault_index.errors import NotFoundError, UsageError
from vault_index.output import Format, render

CASES = tables(__file__)

GROCERIES = "\n".join(f"- {word}" for word in ("apples", "pears", "plums", "grapes", "limes"))
LIST = f"# Shopping\n\n{GROCERIES}\n- the good olive oil from Crete\n{GROCERIES}\n"


WINDOWS = CASES["prose"].replace("kingfisher", "woodpecker").replace("\n", "\r\n")
NOTES = {
    "list.md": LIST,
    "table.md": CASES["table"],
    "talk.md": CASES["talk"],
    "prose.md": CASES["prose"],
    "windows.md": WINDOWS,
}


@pytest.mark.parametrize(("query", "path", "focus"), CASES["hit_focus_is_on_the_matching_lines"])
def test_hit_focus_is_on_the_matching_lines(index: VaultIndex, query: str, path: str, focus: list[int]) -> None:
    hits = [hit for hit in index.search(query).results if hit.path == path]
    assert [*hits[0].focus] == focus
    assert "\r" not in hits[0].snippet
    assert hits[0].lines[0] <= focus[0] <= focus[1] <= hits[0].lines[1]


def test_hit_spans_locate_the_focus_in_the_snippet(index: VaultIndex) -> None:
    hit = index.search("which olive oil").results[0]
    [(start, end)] = hit.spans["focus"]
    assert hit.snippet[start:end] == "- the good olive oil from Crete" != hit.snippet


def test_search_per_document_limits_the_hits_of_a_document(tmp_path: Path) -> None:
    sections = "\n\n".join(f"## Heron {number}\n\nThe heron, heron {number}." for number in range(80))
    others = {f"{number}.md": f"Of birds and fish, and of a heron {number}.\n" for number in range(8)}
    with indexed(tmp_path, {"long.md": sections, **others}) as index:
        for options, count in (({}, 3), ({"per_document": 1}, 1), ({"per_document": 20, "limit": 30}, 20)):
            paths = paths_found(index, "heron", **{"limit": 10, **options})
            assert paths.count("long.md") == count
            assert len(paths) == min(options.get("limit", 10), 8 + count)


def test_search_names_every_copy_of_a_text_across_vaults(tmp_path: Path) -> None:
    same = "The heron stands in the water by the old mill.\n"
    write(tmp_path / "vault", {f"{number}/copy.md": same for number in range(25)})
    write(tmp_path / "vault", {f"other {number}.md": f"A heron, number {number} of them.\n" for number in range(15)})
    write(tmp_path / "work", {"0/copy.md": same, "7/copy.md": same, "z/copy alone.md": same})
    with opened(tmp_path) as index:
        add_source(index.home, "work", str(tmp_path / "work"), {})
    with opened(tmp_path) as index:
        index.sync()
        first, *others = index.search("heron old mill", limit=3).results
        assert (first.source, first.path) == ("vault", "0/copy.md")
        assert set(first.also) == {
            "work:0/copy.md",
            "vault:7/copy.md",
            "work:7/copy.md",
            "work:z/copy alone.md",
            *(f"{number}/copy.md" for number in range(1, 25) if number != 7),
        }
        assert [other.also for other in others] == [()] * 2
        assert index.get("WORK:0/copy.md").results[0].source == "work"
        assert index.get("0/copy.md", source="Work").results[0].source == "work"
        for ref in ("0/copy.md", "copy"):
            with pytest.raises(UsageError, match="2 documents match") as caught:
                index.get(ref)
            assert caught.value.hint == "give the path of one: vault:0/copy.md, work:0/copy.md"
        form: Format
        for form in ("human", "markdown"):
            listed = render("list", to_json(index.list(path="0")), form, width=200)
            assert all(place in listed for place in ("vault:0/copy.md", "work:0/copy.md")), form
        assert index.get("work:7/copy.md:1").results[0].source == "work"
        with pytest.raises(NotFoundError):
            index.get("work:0/copy.md", source="vault")
        (tmp_path / "work/z/copy alone.md").unlink()
        assert "z/copy alone.md" not in index.search("heron old mill", limit=3).results[0].also
