"""Items for review, and the effect of each decision on files, index and later lists."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import fresh_rows, head, rows, write
from vault_index import VaultIndex
from vault_index.api import dispatch
from vault_index.config import find_home
from vault_index.config.edit import add_source, set_value
from vault_index.errors import ConflictError, NotFoundError, UsageError, VaultIndexError
from vault_index.memories.file.files import MemoryFiles
from vault_index.output.review import item_screen
from vault_index.results.memories import Review

NEW = "2026-11-20T10:00:00+00:00"
PORT = "The dev server listens on port 3000 now"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault" / "80-memory"


def memory(number: int, text: str, **keys: Any) -> str:
    """A memory changed today (by the tests' clock), unless `keys` say otherwise."""
    known = {"id": uid(number), "type": "note", "created": NEW, "updated": "2999-01-01", **keys}
    return "".join(["---\n", *(f"{key}: {json.dumps(value)}\n" for key, value in known.items()), "---\n", text, "\n"])


def uid(number: int) -> str:
    return f"{number:08d}-1111-4111-8111-111111111111"


def put(index: VaultIndex, vault: Path, **files: str) -> None:
    write(vault, {f"{name.replace('__', '/')}.md": text for name, text in files.items()})
    index.sync()


def listed(review: Review) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (item.reason, tuple(one.path.removeprefix("80-memory/") for one in item.memories)) for item in review.results
    ]


def put_one_of_each(index: VaultIndex, vault: Path) -> None:
    put(
        index,
        vault,
        inbox__a=memory(1, "Herons nest in the reeds."),
        inbox__waiting__b=memory(2, "We decided to use oak for the pier."),
        note__c=memory(3, PORT, created="2026-11-19"),
        note__d=memory(4, "Port 3000: the dev server listens there now", created="2026-11-18"),
        note__e=memory(5, "The lake is frozen.", expires="2020-01-01"),
        note__f=memory(6, "Entry is free.", valid_until="2020-01-01"),
        note__g=memory(7, "The key hangs in the shed.", created="2019-01-01", updated="2019-01-02"),
        note__h=memory(8, "Cranes pass in October."),
    )


EACH = [
    ("unreviewed", ("inbox/a.md",)),
    ("unreviewed", ("inbox/waiting/b.md",)),
    ("duplicate", ("note/c.md", "note/d.md")),
    ("expired", ("note/e.md",)),
    ("outdated", ("note/f.md",)),
    ("unopened", ("note/g.md",)),
]


def test_review_lists_memories_by_reason(index: VaultIndex, vault: Path) -> None:
    put_one_of_each(index, vault)
    found = index.review()
    assert listed(found) == EACH
    assert found.total == 6
    assert found.counts == {
        "unreviewed": 2, "contradiction": 0, "duplicate": 1, "expired": 1, "outdated": 1, "unopened": 1,
    }  # fmt: skip
    assert [item.about for item in found.results] == [
        "in the inbox since 2026-11-20",
        "waiting since 2026-11-20, hidden from search",
        "similarity 1.00",
        "expired since 2020-01-01",
        "outdated since 2020-01-01",
        "never opened, last changed 2019-01-02",
    ]
    assert found.results[0].memories[0].text == "Herons nest in the reeds."
    assert len({item.id for item in found.results}) == 6


def test_review_pages_and_filters_by_reason(index: VaultIndex, vault: Path) -> None:
    put_one_of_each(index, vault)
    pages = [listed(index.review(limit=4, offset=offset)) for offset in (0, 4, 8)]
    assert pages == [EACH[:4], EACH[4:], []]
    some = index.review(reason=["outdated", "unreviewed"], limit=2)
    assert (listed(some), some.total, some.counts) == (EACH[:2], 3, {"unreviewed": 2, "outdated": 1})
    with pytest.raises(UsageError, match="reason cannot be 'dull'"):
        index.review(reason="dull")


def test_review_finds_no_duplicates_of_expired_or_archived_memories(index: VaultIndex, vault: Path) -> None:
    for over, value in (("expires", "2020-01-01"), ("archived", "2020-01-01"), ("superseded_by", uid(9))):
        gone = memory(3, PORT, **{over: value})
        put(index, vault, note__c=gone, note__d=memory(4, "Port 3000: the dev server listens there now"))
        assert index.review(reason="duplicate").total == 0, over


def test_review_reports_another_value_of_a_subject_as_contradiction(index: VaultIndex, vault: Path) -> None:
    put(
        index,
        vault,
        inbox__new=memory(1, "The dev server listens on port 4000 now", created="2026-11-19"),
        note__old=memory(2, "The dev server listens on port 3000", created="2026-11-18"),
        note__z=memory(3, "The pier is made of oak"),
    )
    [item] = index.review(reason=["duplicate", "contradiction"]).results
    assert (item.reason, [one.id for one in item.memories]) == ("contradiction", [uid(1), uid(2)])
    index.decide("supersede", [uid(1), uid(2)])
    assert index.review().total == 0


def test_review_screen_keeps_its_keys_below_long_texts(index: VaultIndex, vault: Path) -> None:
    put_one_of_each(index, vault)
    [item] = dispatch(index, "review", {"reason": ["duplicate"]})["results"]
    for line in ("words of a long memory ", "漢字仮名交じり文", "🦩 e\u0301 ", "unbroken" * 40):
        for number, one in enumerate(item["memories"]):
            one["text"] = "\n\n".join(line * 9 for _ in range(12)) + f" {number}"
        screen = item_screen(item, "emsxrdkn?q", "1 of 1", "", width=80, height=24, color=False).splitlines()
        assert len(screen) <= 24
        assert screen[-1].endswith("q quit")


def test_review_lists_each_of_many_duplicates_once(index: VaultIndex, vault: Path) -> None:
    put(index, vault, **{f"m{number:02}": memory(number, PORT) for number in range(20)})
    named = [path for _, paths in listed(index.review(reason="duplicate")) for path in paths]
    assert len(named) == len(set(named)) == 20


def agree(tmp_path: Path) -> None:
    assert rows(tmp_path / "home" / "index.db") == fresh_rows(tmp_path)


def test_decide_accept_moves_a_memory_out_of_the_inbox(index: VaultIndex, vault: Path, tmp_path: Path) -> None:
    put_one_of_each(index, vault)
    (vault / "note" / "a.md").write_text("Another a.\n", "utf-8")
    before = (vault / "inbox" / "a.md").read_bytes()
    done = index.decide("accept", [uid(1), uid(2)])
    assert [(one.outcome, one.path) for one in done.results] == [
        ("accepted", "80-memory/note/a-2.md"),
        ("accepted", "80-memory/note/b.md"),
    ]
    assert (vault / "note" / "a-2.md").read_bytes() == before
    assert not (vault / "inbox" / "a.md").exists()
    assert index.review().counts["unreviewed"] == 0
    agree(tmp_path)


def test_add_by_an_agent_waits_for_review_if_configured(index: VaultIndex, vault: Path, tmp_path: Path) -> None:
    index.close()
    set_value(find_home(tmp_path / "home"), "memory.review", "agents")
    with VaultIndex.open(tmp_path / "home") as again:
        paths = [again.add(text, entered_by=who).path for text, who in (("By hand.", None), ("By one.", "codex"))]
        assert [path.split("/")[1] for path in paths] == ["note", "inbox"]
        assert again.review().counts["unreviewed"] == 1


def test_decide_merge_keeps_all_texts(index: VaultIndex, vault: Path, tmp_path: Path) -> None:
    first = memory(1, "The pier is oak.\n\n## Care\n\nOil it in May.", tags=["pier"], created="2026-03-02", facts=["a"])
    other = memory(
        2, "The pier is oak.\n\n## Care\n\nOil it in May.\n\nSand it first.\n\n## Cost\n\n```\none\n\ntwo\n```",
        tags=["#Pier", "lake"], created="2026-03-01", expires="2027-01-01", facts=["a", "b, c"], session="s2",
        concepts="wood, oil", files_read=["x.md"], mine="kept",
    )  # fmt: skip
    put(index, vault, inbox__a=first, b=other)
    done = index.decide("merge", [uid(1), uid(2)])
    assert [(one.outcome, one.path) for one in done.results] == [
        ("merged", "80-memory/note/a.md"),
        ("superseded", "80-memory/b.md"),
    ]
    text = (vault / "note" / "a.md").read_text("utf-8")
    assert text.endswith(
        "---\nThe pier is oak.\n\n## Care\n\nOil it in May.\n\n## Care\n\nSand it first.\n\n## Cost\n\n"
        "```\none\n\ntwo\n```\n"
    )
    front = head(vault / "note" / "a.md")
    assert (front["tags"], front["facts"], front["concepts"]) == (["pier", "lake"], ["a", "b, c"], ["wood", "oil"])
    assert (front["created"], front["session"], front["mine"]) == ("2026-03-01", "s2", "kept")
    assert "expires" not in front
    assert front["supersedes"] == [uid(2)]
    assert head(vault / "b.md")["superseded_by"] == uid(1)
    assert index.review().total == 0
    agree(tmp_path)


def test_decide_merge_that_fails_half_way_loses_nothing(
    index: VaultIndex, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(index, vault, inbox__a=memory(1, "One."), b=memory(2, "Two."), c=memory(3, "Three."))
    whole, written = MemoryFiles.replace, []

    def replace(files: MemoryFiles, path: str, text: Any, seen: Any) -> None:
        written.append(path)
        if path.endswith("c.md"):
            raise VaultIndexError("the disk is full")
        whole(files, path, text, seen)

    monkeypatch.setattr(MemoryFiles, "replace", replace)
    with pytest.raises(VaultIndexError, match=r"not yet marked as superseded: 80-memory/c.md"):
        index.decide("merge", [uid(1), uid(2), uid(3)])
    assert [path.removeprefix("80-memory/") for path in written] == ["inbox/a.md", "b.md", "c.md"]
    assert (vault / "inbox" / "a.md").read_text("utf-8").endswith("One.\n\nTwo.\n\nThree.\n")
    monkeypatch.undo()
    index.decide("merge", [uid(1), uid(2), uid(3)])
    assert (vault / "note" / "a.md").read_text("utf-8").endswith("---\nOne.\n\nTwo.\n\nThree.\n")
    assert {head(vault / f"{name}.md")["superseded_by"] for name in "bc"} == {uid(1)}


def test_decide_merge_keeps_the_latest_expiry(index: VaultIndex, vault: Path) -> None:
    early, late = ({"valid_until": day, "expires": day} for day in ("2027-01-01", "2028-01-01"))
    put(index, vault, a=memory(1, "One.", **early), b=memory(2, "Two.", **late))
    put(index, vault, c=memory(3, "Three.", **early), d=memory(4, "Four."))
    index.decide("merge", [uid(1), uid(2)])
    index.decide("merge", [uid(3), uid(4)])
    fronts = [head(vault / name) for name in ("a.md", "c.md")]
    assert [(front.get("expires"), front.get("valid_until")) for front in fronts] == [("2028-01-01",) * 2, (None, None)]


def test_decide_merge_keeps_the_scope_of_both_projects(index: VaultIndex, vault: Path) -> None:
    put(index, vault, a=memory(1, "One.", project="x"), b=memory(2, "Two.", project="y"), c=memory(3, "Three."))
    index.decide("merge", [uid(1), uid(2)])
    assert (head(vault / "a.md")["project"], head(vault / "a.md")["tags"]) == ("x", ["project/y"])
    index.decide("merge", [uid(1), uid(3)])
    assert "project" not in head(vault / "a.md")


def test_decide_edit_replaces_the_whole_file(index: VaultIndex, vault: Path, tmp_path: Path) -> None:
    put_one_of_each(index, vault)
    file = vault / "note" / "e.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    index.sync()
    text = file.read_text("utf-8").replace("2020-01-01", "2999-01-01").replace("frozen", "open")
    [seen] = [one.seen for item in index.review(reason="expired").results for one in item.memories]
    assert [one.outcome for one in index.decide("edit", uid(5), text=text, seen=seen).results] == ["edited"]
    assert b"The lake is open.\r\n" in file.read_bytes()
    assert head(file)["expires"] == "2999-01-01"
    assert index.review(reason="expired").total == 0
    with pytest.raises(ConflictError, match="changed since it was shown"):
        index.decide("edit", uid(5), text=text, seen=seen)
    agree(tmp_path)


def test_decide_edit_refuses_a_loss(index: VaultIndex, vault: Path) -> None:
    put_one_of_each(index, vault)
    before = (vault / "note" / "e.md").read_bytes()
    for text, message in [
        (memory(5, "", title=""), "neither text nor title"),
        (memory(6, "The lake."), "the id of"),
        ("The lake.\n", "no frontmatter"),
        ("---\na: [\n---\nThe lake.\n", "nothing was written"),
        (memory(5, "AKIA" + "Z7Q2M4X6P9R3T5VW"), "access key"),
    ]:
        with pytest.raises(UsageError, match=message):
            index.decide("edit", uid(5), text=text)
    assert (vault / "note" / "e.md").read_bytes() == before


def test_decide_keep_hides_an_item_until_it_changes(index: VaultIndex, vault: Path) -> None:
    put_one_of_each(index, vault)
    for item in EACH[2:]:
        [shown] = index.review(reason=item[0]).results
        before = {one.path: (vault.parent / one.path).read_bytes() for one in shown.memories}
        done = index.decide("keep", [one.id for one in shown.memories], seen=[one.seen for one in shown.memories])
        assert {one.outcome for one in done.results} == {"kept"}
        assert {path: (vault.parent / path).read_bytes() for path in before} == before
        assert listed(index.review()) == [other for other in EACH if other != item]
        changed = vault / item[1][-1]
        changed.write_text(changed.read_text("utf-8").replace("type:", "by: ann\ntype:"), "utf-8")
        index.sync()
        assert listed(index.review()) == EACH


REFUSED: list[tuple[str, list[int], dict[str, Any], str]] = [
    ("burn", [1], {}, "unknown action 'burn'"),
    ("merge", [1], {}, "two or more memories"),
    ("supersede", [1, 1], {}, "given twice"),
    ("edit", [1, 3], {"text": "x"}, "one memory"),
    ("edit", [1], {}, "needs the whole text"),
    ("keep", [1], {"text": "x"}, "takes no text"),
    ("keep", [8], {}, "no reason to review"),
    ("accept", [], {}, "no memory was given"),
    ("keep", [3, 4], {"seen": "ab"}, "one value for each"),
]


def test_decide_refuses_invalid_actions(index: VaultIndex, vault: Path) -> None:
    put_one_of_each(index, vault)
    for action, refs, more, message in REFUSED:
        with pytest.raises(UsageError, match=message):
            index.decide(action, [uid(number) for number in refs], **more)
    assert listed(index.review()) == EACH


def test_decide_merge_refuses_a_superseded_memory(index: VaultIndex, vault: Path) -> None:
    put(index, vault, a=memory(1, "One.", superseded_by=uid(9)), b=memory(2, "Two."))
    with pytest.raises(UsageError, match="is itself superseded by"):
        index.decide("merge", [uid(1), uid(2)])


DECISIONS = [
    ("accept", [1, 2]), ("edit", [5]), ("merge", [1, 3, 4]), ("supersede", [1, 3]), ("archive", [6, 7]),
    ("delete", [1, 5]), ("keep", [3, 4]), ("keep", [7]),
]  # fmt: skip


def test_decide_makes_one_change_to_undo(index: VaultIndex, vault: Path, tmp_path: Path) -> None:
    put_one_of_each(index, vault)
    before = {file: file.read_bytes() for file in vault.rglob("*.md")}
    for action, numbers in DECISIONS:
        text = memory(5, "The lake is open.") if action == "edit" else None
        done = index.decide(action, [uid(number) for number in numbers], text=text)
        assert done.change
        assert listed(index.review()) != EACH, action
        index.add("The ferry runs daily.", path="note/z")  # by another client, in the meantime
        assert {one.id for one in index.undo(change=done.change).results} == {uid(number) for number in numbers}
        (vault / "note" / "z.md").unlink()
        index.sync()
        assert {file: file.read_bytes() for file in vault.rglob("*.md")} == before, action
        assert listed(index.review()) == EACH, action
        with pytest.raises(NotFoundError):
            index.undo(change=done.change)
    agree(tmp_path)


def test_undo_ignores_a_decision_on_another_vault(index: VaultIndex, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    add_source(index.home, "work", str(tmp_path / "work"), {})
    index._runtime.reload()
    put_one_of_each(index, vault)
    added = index.add("Storks.", source="work")
    index.decide("keep", uid(7))
    assert [one.id for one in index.undo(source="work").results] == [added.id]
    with pytest.raises(NotFoundError):
        index.undo(source="work")
    assert listed(index.review()) == [one for one in EACH if one != ("unopened", ("note/g.md",))]
