from pathlib import Path

import apsw
import pytest

from tests.api.vaults import indexed
from tests.tables import tables
from vault_index import VaultIndex
from vault_index.errors import NotFoundError, UsageError

CASES = tables(__file__)

LONG = "# Long\n\n" + "\n\n".join(f"## Part {n}\n\nWords of part {n}, and more of them." for n in range(1, 9)) + "\n"
NOTES = {
    "long.md": LONG,
    "sub/Long.md": "Another one.\n",
    "80-memory/decision/wal.md": CASES["memory"],
    "80-memory/handoffs/2026-01-01.md": "Done for today.\n",
    "blocks.md": CASES["blocks"],
    "80-memory/old.md": "---\nimported_id: 7\n---\nFrom another program.\n",
    "named.md": "---\naliases: [Nick Name]\n---\nSomething else, see [[Long#Part 2|there]].\n",
}


@pytest.mark.parametrize(("reference", "path", "lines"), CASES["get_opens_a_reference"])
def test_get_opens_a_reference(index: VaultIndex, reference: str, path: str, lines: list[int]) -> None:
    (text,) = index.get(reference).results
    assert (text.path, [*text.lines]) == (path, lines)
    whole = NOTES[path].split("\n")
    assert text.content.rstrip("\n") == "\n".join(whole[lines[0] - 1 : lines[1]])


@pytest.mark.parametrize(
    "reference",
    [
        "nothing", "[[long#nothing]]", "[[blocks#^par]]", "[[blocks#Deep#Other]]", "8", "long.md:x", "../x",
        "/etc/passwd",
    ],
)  # fmt: skip
def test_get_reports_a_missing_reference_as_not_found(index: VaultIndex, reference: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        index.get(reference)
    assert caught.value.hint


def test_get_returns_good_references_and_names_bad_ones(index: VaultIndex) -> None:
    texts = index.get(["nothing", "long.md:5", "", "long.md:5-3"])
    assert [text.content for text in texts.results] == ["Words of part 1, and more of them."]
    assert [failed.position for failed in texts.failed] == ["nothing", "", "long.md:5-3"]
    assert "vault-index search" in texts.failed[0].hint
    with pytest.raises(NotFoundError, match="'nothing'; note not found: 'nobody'"):
        index.get(["nothing", "[[nobody]]"])


def test_get_refuses_empty_references_and_reversed_lines(index: VaultIndex) -> None:
    empty: tuple[str | list[str], ...] = (" ", [])
    for nothing in empty:
        with pytest.raises(UsageError) as caught:
            index.get(nothing)
        assert "id" in caught.value.hint
    with pytest.raises(UsageError, match="are reversed") as refused:
        index.get("long.md:5-3")
    assert "3-5" in refused.value.hint


@pytest.mark.parametrize("budget", [1, 20])
def test_get_continues_to_the_end_past_lines_over_the_budget(tmp_path: Path, budget: int) -> None:
    notes = {
        "last.md": "One.\nTwo.\n" + "A very long last line. " * 30,
        "only.md": "A very long only line. " * 30 + "\n",
        "short.md": "Short.\n",
        "blank.md": "a\n\n\n\n",
        "long.md": LONG,
    }
    with indexed(tmp_path, notes) as index:
        for path, note in notes.items():
            parts: list[str] = []
            reference: str | None = path
            line = 1
            while reference is not None:
                (text,) = index.get(reference, max_tokens=budget).results
                assert text.lines[0] == line
                line = text.lines[1] + 1
                parts.append(text.content)
                reference = text.next
            assert "\n".join(parts).rstrip("\n") == note.rstrip("\n")


def test_get_neighbors_widen_a_place(index: VaultIndex) -> None:
    (text,) = index.get("long.md:13", neighbors=1).results
    assert "part 2" in text.content
    assert "part 4" in text.content
    assert "part 5" not in text.content


def test_get_full_adds_the_metadata(index: VaultIndex) -> None:
    (text,) = index.get("5f0c", full=True).results
    assert text.metadata is not None
    assert text.metadata["type"] == "decision"
    assert text.metadata["tags"] == ("project/my-api", "sqlite")
    assert text.metadata["frontmatter"]["digest"] == "readers never block"
    (text,) = index.get("named.md", full=True).results
    assert text.metadata is not None
    assert text.metadata["aliases"] == ["Nick Name"]
    assert text.metadata["links"][0]["target"] == "Long"


def test_get_answers_when_it_cannot_count_the_access(index: VaultIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_index.store.connection.BUSY_TIMEOUT_MS", 1)
    other = apsw.Connection(str(index.home.state_db))
    other.execute("BEGIN IMMEDIATE")
    with VaultIndex.open(index.home) as reading:
        assert reading.get("sub/Long.md").results[0].content == "Another one.\n"
    other.close()


def test_get_reports_a_deleted_file(tmp_path: Path) -> None:
    with indexed(tmp_path, {"named.md": "Gone.\n", "other.md": "Still there.\n"}) as index:
        (tmp_path / "vault" / "named.md").unlink()
        with pytest.raises(NotFoundError, match="was deleted"):
            index.get("named.md")


def test_get_counts_the_accesses_of_a_document(tmp_path: Path) -> None:
    with indexed(tmp_path, {"a.md": "A.\n", "b.md": "Boats.\n", "c.md": "C.\n"}) as index:
        for reference in ("a.md", "a.md", "b.md"):
            index.get(reference)
        assert [one.path for one in index.list(sort="access").results][:2] == ["a.md", "b.md"]
        assert [one.path for one in index.list(sort="access", order="asc").results][-2:] == ["b.md", "a.md"]
        for _ in range(2):
            index.get("b.md")
        assert index.list(sort="access", limit=1).results[0].path == "b.md"
        assert index.search("boats").results[0].accesses == 3
