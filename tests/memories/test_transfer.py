"""Export of memories, and import from another vault or program."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import fresh_rows, opened, rows, write
from vault_index import VaultIndex
from vault_index.errors import UsageError, VaultIndexError
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.progress import CancelToken
from vault_index.results.memories import MemoryOutcomes

ID = "5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f"
KEY = "AKIA" + "Z7Q2M4X6P9R3T5VW"

TWIN = "11111111-1111-4111-8111-111111111111"
MEMORIES = {
    "80-memory/decision/2026-11-21-use-wal.md": f"""\
---
id: {ID}
type: decision
title: Use WAL
created: 2026-11-21T10:00:00+00:00
updated: 2026-11-22T10:00:00+00:00
reviewed: true
---
Readers never wait.
""",
    "80-memory/note/twin.md": f"---\nid: {TWIN}\ntitle: Use WAL\n---\nReaders never wait.\n",
    "80-memory/note/by-hand.md": f'---\r\ntitle:  "quoted"  # why\r\nid: {TWIN.replace("1", "2")}\r\n---\r\nHi.',
    "80-memory/handoffs/2026-01-01.md": "# Handoff\n\nNo id, and no frontmatter.\n",
    "80-memory/broken.md": f"---\ntitle: Foo: bar\nid: {TWIN.replace('1', '3')}\n---\nBroken frontmatter.\n",
    "80-memory/empty.md": "",
    "note.md": "No memory.\n",
}


def vaults(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders, each with a vault and a home."""
    for name in ("here", "there"):
        (tmp_path / name / "vault").mkdir(parents=True)
        write(tmp_path / name / "vault", {"readme.md": "A vault.\n"})
    write(tmp_path / "here" / "vault", MEMORIES)
    return tmp_path / "here", tmp_path / "there"


def memory_files(folder: Path) -> dict[str, bytes]:
    files = (file for file in (folder / "vault" / "80-memory").rglob("*") if file.is_file())
    return {file.relative_to(folder / "vault").as_posix(): file.read_bytes() for file in files}


def outcomes(answer: MemoryOutcomes) -> list[str]:
    return [result.outcome for result in answer.results]


def imported(index: VaultIndex, tmp_path: Path, data: Any, **options: Any) -> MemoryOutcomes:
    (tmp_path / "data.json").write_text(json.dumps(data), encoding="utf-8")
    return index.import_(tmp_path / "data.json", **options)


def head(index: VaultIndex, ref: str) -> Mapping[str, Any]:
    return read_frontmatter(index.get(ref, full=True).results[0].content.split("\n")).values


@pytest.mark.parametrize("folder", [False, True])
def test_export_and_import_restore_memories(tmp_path: Path, folder: bool) -> None:
    here, there = vaults(tmp_path)
    with opened(here) as index:
        index.sync()
        if not folder:  # files have no counts
            index.get(ID)
        report = index.export(tmp_path / "out", folder=folder)
        records = json.loads(index.export_json())
    assert (report.memories, report.source) == (6, "vault")
    with opened(there) as index:
        index.sync()
        answer = index.import_(tmp_path / "out")
        assert outcomes(answer) == ["created"] * 6
        assert answer.failed == ()
        assert json.loads(index.export_json()) == records
        assert memory_files(there) == memory_files(here)
        assert outcomes(index.import_(tmp_path / "out")) == ["known"] * 6
    assert memory_files(there) == memory_files(here)
    assert next(record for record in records if record.get("id") == ID).get("accesses", 0) == (not folder)
    assert rows(there / "home" / "index.db") == fresh_rows(there)


def test_import_changes_no_memory_of_the_vault(tmp_path: Path) -> None:
    here, there = vaults(tmp_path)
    own = {
        "80-memory/mine.md": f"---\nid: {ID}\ntitle: Mine\n---\nChanged since.\n",
        "80-memory/handoffs/2026-01-01.md": "Another handoff.\n",
        "80-memory/note/twin.md": "---\nid: 44444444-4444-4444-8444-444444444444\n---\nIn the way.\n",
    }
    write(there / "vault", own)
    with opened(here) as index:
        index.export(tmp_path / "out.json")
    with opened(there) as index:
        plan, answer = (index.import_(tmp_path / "out.json", dry_run=dry) for dry in (True, False))
        assert [one.replace("would be ", "") for one in outcomes(plan)] == outcomes(answer)
        assert [one.path for one in plan.results] == [one.path for one in answer.results]
        assert sorted(outcomes(answer)) == ["created"] * 4 + ["kept"] * 2
        assert index.get(TWIN).results[0].path.startswith("80-memory/note/")
        assert index.get(TWIN).results[0].path != "80-memory/note/twin.md"
    files = memory_files(there)
    assert {path: files[path].decode() for path in own} == own


def test_export_is_private_and_overwrites_nothing(tmp_path: Path) -> None:
    here, _ = vaults(tmp_path)
    with opened(here) as index:
        index.export(tmp_path / "out.json")
        index.export(tmp_path / "out", folder=True)
        for file in (tmp_path / "out.json", tmp_path / "out" / "empty.md"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700
        (tmp_path / "out.json").write_text("mine")
        with pytest.raises(UsageError, match="exists already"):
            index.export(tmp_path / "out.json")
        with pytest.raises(UsageError, match="not empty"):
            index.export(tmp_path / "out", folder=True)
        with pytest.raises(UsageError, match="is a folder"):
            index.export(tmp_path / "out", force=True)
        with pytest.raises(VaultIndexError, match="No such file"):
            index.export(tmp_path / "nowhere" / "out.json")
        assert (tmp_path / "out.json").read_text() == "mine"
        index.export(tmp_path / "out.json", force=True)
        assert len(json.loads((tmp_path / "out.json").read_text())) == 6
        assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "out", "out.json", "there"]


def test_export_removes_drafts_of_a_killed_one(tmp_path: Path) -> None:
    here, _ = vaults(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out.json").write_text("whole: it was killed after that")
    left = [folder / ".vault-index-0123456789abcdef.tmp" for folder in (tmp_path, tmp_path / "out")]
    for file in left:
        file.write_text("half")
    with opened(here) as index:
        with pytest.raises(UsageError, match="exists already"):
            index.export(tmp_path / "out.json")
        index.export(tmp_path / "out", folder=True)
    assert not any(file.exists() for file in left)


def test_import_writes_nothing_outside_the_memory_folder(index: VaultIndex, tmp_path: Path) -> None:
    paths = ["../outside.md", "/etc/x.md", ".hidden/x.md", "a/../../b.md"]
    good = {"path": "note/a", "title": "A", "created": "../..", "content": "good"}
    answer = imported(index, tmp_path, [*({"path": path, "content": "x"} for path in paths), good])
    assert outcomes(answer) == ["created"]
    assert [failed.position for failed in answer.failed] == [f"record {number}" for number in range(1, 5)]
    assert len(memory_files(tmp_path)) == 1


# --- other programs --------------------------------------------------------------------------------------------

LLMEMORY = [
    {"id": 12, "content": "The staging cluster runs PostgreSQL 16.", "tags": "postgresql", "entered_by": "build"},
    {"id": 13, "content": "It runs PostgreSQL 17.", "tags": ["postgresql"], "supersedes": [12, 99], "accessCount": 4},
    {"id": 14, "content": "Temporary: use the old VPN.", "created_at": 1700000000, "expires_at": 1700100000},
]


def test_import_makes_memories_findable_by_words_and_old_ids(index: VaultIndex, tmp_path: Path) -> None:
    index.sync()
    answer = imported(index, tmp_path, LLMEMORY)
    assert outcomes(answer) == ["created"] * 3
    new, old = index.get("#13").results[0], index.get("#12").results[0]
    assert "PostgreSQL 17" in new.content
    assert head(index, "#13")["supersedes"] == [old.id]
    assert head(index, "#13")["imported_supersedes"] == ["99"]
    assert head(index, "#12")["superseded_by"] == new.id
    assert head(index, "#12")["entered_by"] == "build"
    assert list(head(index, "#14")) == ["id", "type", "created", "updated", "expires", "imported_id"]
    hits = index.search("postgresql staging vpn").results
    assert [hit.id for hit in hits] == [new.id]
    accesses = {record.id: record.accesses for record in index.list(tags=["postgresql"]).results}
    assert accesses[new.id] == 7  # three of them by the lines above
    assert rows(tmp_path / "home" / "index.db") == fresh_rows(tmp_path)


def test_import_again_changes_no_edited_memory(index: VaultIndex, tmp_path: Path) -> None:
    imported(index, tmp_path, LLMEMORY)
    index.update("#13", content="It runs PostgreSQL 18 by now.")
    before = memory_files(tmp_path)
    assert outcomes(imported(index, tmp_path, LLMEMORY)) == ["known"] * 3
    assert memory_files(tmp_path) == before


def test_import_stores_equal_records_once_under_both_ids(index: VaultIndex, tmp_path: Path) -> None:
    records = [
        {"id": 1, "content": "Deploy on Tuesdays.", "tags": "deploy"},
        {"id": 2, "content": "Deploy  on Tuesdays.", "tags": "habit"},
        {"id": 3, "content": "Deploy on any day.", "superseded_by": 2},
    ]
    assert outcomes(imported(index, tmp_path, records)) == ["created", "duplicate", "created"]
    assert index.get("#1").results[0].id == index.get("#2").results[0].id
    assert head(index, "#1")["tags"] == ["deploy", "habit"]
    assert head(index, "#3")["superseded_by"] == index.get("#1").results[0].id
    before = memory_files(tmp_path)
    imported(index, tmp_path, records)
    assert memory_files(tmp_path) == before


def test_import_supersedes_records_of_an_earlier_import(index: VaultIndex, tmp_path: Path) -> None:
    imported(index, tmp_path, [{"id": 1, "content": "Old."}])
    imported(index, tmp_path, [{"id": 2, "content": "New.", "supersedes": 1}])
    assert head(index, "#1")["superseded_by"] == index.get("#2").results[0].id


def test_import_names_bad_records_and_stores_the_others(index: VaultIndex, tmp_path: Path) -> None:
    records = [{"content": "good"}, {"content": ""}, {"content": f"the key is {KEY}"}, {"content": "also good"}]
    answer = imported(index, tmp_path, records)
    assert outcomes(answer) == ["created"] * 2
    assert [failed.position for failed in answer.failed] == ["record 2", "record 3"]
    assert KEY not in answer.failed[1].error
    assert outcomes(imported(index, tmp_path, records, force=True)) == ["known", "created", "known"]


def test_import_replaces_surrogates_and_names_invalid_utf8(index: VaultIndex, tmp_path: Path) -> None:
    records = [
        {"content": "good"},
        {"content": "x", "title": "half \ud800"},
        {"content": "y", "facts": [{"z": "\udfff"}], "tags": '["a\\ud83d"]'},
    ]
    answer = imported(index, tmp_path, records)
    assert (answer.failed, outcomes(answer)) == ((), ["created"] * 3)
    assert [one.title for one in index.list(sort="title").results] == ["good", "half \ufffd", "y"]
    (tmp_path / "latin.json").write_bytes(b'[{"content": "caf\xe9"}, {"content": "tea"}]')
    answer = index.import_(str(tmp_path / "latin.json"))
    assert [(one.position, one.error) for one in answer.failed] == [("record 1", "the record is not valid UTF-8")]
    assert outcomes(answer) == ["created"]


def test_import_dry_run_reports_the_result_of_the_import(index: VaultIndex, tmp_path: Path) -> None:
    same = "We use WAL mode, because readers never wait."
    old = "11111111-1111-4111-8111-111111111111"
    records: list[Any] = [
        {"id": 1, "content": same, "tags": ["a"]},
        {"id": 2, "content": same, "tags": ["b"]},
        {"id": 3, "content": "It was so.", "expires_at": "2020-01-01"},
        {"id": 4, "content": "It was so.", "expires_at": "2020-01-01"},
        {"id": 5, "content": "Known to the vault.", "tags": ["c"]},
        {"id": 6, "content": "It is another way now.", "supersedes": old},
        {"id": 7, "content": ""},
        {"id": 8, "content": f"The key is {KEY}"},
        {"id": 9, "content": "Ends.", "expires_at": "someday"},
        "no record",
    ]
    write(tmp_path / "vault" / "80-memory", {"old.md": f"---\nid: {old}\n---\nIt is one way.\n"})
    (tmp_path / "in.json").write_text(json.dumps(records), encoding="utf-8")
    index.sync()
    index.add("Known to the vault.")
    before = memory_files(tmp_path)
    plan = index.import_(tmp_path / "in.json", dry_run=True)
    assert memory_files(tmp_path) == before
    done = index.import_(tmp_path / "in.json")
    assert [one.replace("would be ", "") for one in outcomes(plan)] == outcomes(done)
    assert outcomes(done) == ["created", "duplicate", "created", "created", "duplicate", "created"]
    assert [(one.id, one.path, one.details) for one in plan.results] == [
        (one.id, one.path, one.details) for one in done.results
    ]
    assert plan.failed == done.failed
    assert len(done.failed) == 4


def test_import_reads_opencodekit_memory_with_its_files(index: VaultIndex, tmp_path: Path) -> None:
    project, kept = tmp_path / "project", tmp_path / "project/.opencode/memory"
    jwt = "---\nsupersedes: 2026-01-01-decision-sessions.md\n---\n# 🎯 Use JWT\n\nTokens need no table.\n"
    write(project, {"README.md": "Not a memory.\n"})
    write(kept / "observations", {"2026-01-09-decision-use-jwt.md": jwt, "2026-01-01-decision-sessions.md": "Rows.\n"})
    write(kept, {"handoffs/2026-01-01.md": "The parser is done.\n", "_templates/observation.md": "A template.\n"})
    assert outcomes(index.import_(kept / "observations")) == ["created"] * 2
    assert sorted(outcomes(index.import_(project))) == ["created", "known", "known"]
    new, old = head(index, "#2026-01-09-decision-use-jwt"), head(index, "#2026-01-01-decision-sessions")
    assert (new["title"], new["supersedes"]) == ("Use JWT", [old["id"]])
    assert "The parser is done." in index.get("handoffs/2026-01-01").results[0].content


def test_import_skips_files_outside_the_folder_and_pipes(index: VaultIndex, tmp_path: Path) -> None:
    folder, secret = tmp_path / "given", tmp_path / "secret.md"
    write(tmp_path, {"secret.md": "# Secret\n\nthe passphrase\n"})
    write(folder, {"good.md": "# Good\n\nIt is.\n", "big.md": "x" * 10_485_761})
    (folder / "broken.md").symlink_to("nowhere")
    (folder / "link.md").symlink_to(secret)
    (folder / "loop.md").symlink_to("loop.md")
    os.mkfifo(folder / "pipe.md")
    answer = index.import_(folder)
    assert [item.position for item in answer.failed] == ["big.md", "broken.md", "link.md", "loop.md", "pipe.md"]
    assert outcomes(answer) == ["created"]
    assert index.search("passphrase").results == ()


def test_import_refuses_input_without_memories(index: VaultIndex, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    write(tmp_path, {"broken.json": "[{"})
    for name, message in {
        "nowhere.json": r"nowhere\.json", "empty": "no markdown", "broken.json": "not valid JSON", "pipe": "not a file",
        "/dev/zero": "not a file", "a\0b": "not a valid file name",
    }.items():  # fmt: skip
        with pytest.raises(VaultIndexError, match=message):
            index.import_(tmp_path / name)


def test_import_cancelled_keeps_its_memories_and_continues(index: VaultIndex, tmp_path: Path) -> None:
    records = [{"content": f"Fact {number}."} for number in range(3)]
    first = imported(index, tmp_path, records, cancel=CancelToken(lambda: True))
    assert (outcomes(first), first.finished) == (["created"], False)
    assert index.list(kind="memory").total == 1
    rest = imported(index, tmp_path, records)
    assert (outcomes(rest).count("created"), rest.finished) == (2, True)


def test_import_follows_no_link_out_of_a_project(index: VaultIndex, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", {"a.md": "# A\n\nNot yours.\n"})
    (tmp_path / "project" / ".opencode").mkdir(parents=True)
    (tmp_path / "project" / ".opencode" / "memory").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="leads out"):
        index.import_(tmp_path / "project")
