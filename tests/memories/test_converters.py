"""Memories of other programs are read in every format that these use."""

import json
from typing import Any

import pytest

from vault_index.errors import UsageError
from vault_index.memories.transfer.import_record import ImportRecord
from vault_index.memories.transfer.json_records import read_json
from vault_index.memories.transfer.reading import read_files

AGMEM_ID = "5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f"


def one(record: Any) -> ImportRecord:
    batch = read_json(json.dumps([record]), "export.json")
    assert not batch.failed
    return batch.memories[0]


def observation(text: str, name: str = "2026-01-09-decision-use-jwt.md") -> ImportRecord:
    batch = read_files([(f"observations/{name}", text)])
    assert not batch.failed
    return batch.memories[0]


# --- JSON ------------------------------------------------------------------------------------------------------


def test_import_keeps_date_author_and_number_of_llmemory() -> None:
    memory = one({
        "id": 12, "content": "The staging cluster runs PostgreSQL 16.", "tags": "Docker, #PostgreSQL,project:my-api",
        "created_at": "2026-01-09 04:37:20", "expires_at": 1801440000, "entered_by": "build-agent",
    })  # fmt: skip
    assert memory.body == "The staging cluster runs PostgreSQL 16."
    assert memory.head == {
        "type": "note", "tags": ["docker", "postgresql", "project/my-api"], "created": "2026-01-09T04:37:20+00:00",
        "entered_by": "build-agent", "expires": "2027-02-01T00:00:00+00:00", "imported_id": 12,
    }  # fmt: skip


def test_import_keeps_id_and_access_count_of_agmem() -> None:
    memory = one({
        "id": AGMEM_ID, "hash": "9f86d081884c7d65", "digest": "Node 22 ESM: path resolution bug", "accessCount": 7,
        "content": "Node 22 resolves ESM paths wrongly in a monorepo. The way around it is long.",
        "tags": ["node", "esm"], "createdAt": "2026-01-09T04:37:20.607Z", "updatedAt": "2026-01-10T04:37:20.607Z",
    })  # fmt: skip
    assert memory.head == {
        "id": AGMEM_ID, "type": "note", "digest": "Node 22 ESM: path resolution bug", "tags": ["node", "esm"],
        "created": "2026-01-09T04:37:20+00:00", "updated": "2026-01-10T04:37:20+00:00",
    }  # fmt: skip
    assert memory.accesses == 7
    assert "digest" not in one({"content": "short", "digest": "short"}).head


def test_import_reads_mem0_in_the_wrappers_of_its_api_and_cli() -> None:
    record = {
        "id": "m1", "memory": "Alice likes vim.", "user_id": "alice", "categories": ["tools"], "metadata": {"a": 1},
    }  # fmt: skip
    for data in ({"results": [record]}, {"status": "success", "data": [record]}, [record], record):
        memory = read_json(json.dumps(data), "mem0.json").memories[0]
        assert memory.body == "Alice likes vim."
        assert memory.head["tags"] == ["tools"]
        assert memory.head["user_id"] == "alice"
        assert memory.head["metadata"] == {"a": 1}
        assert memory.head["imported_id"] == "m1"


def test_import_reads_rows_of_opencodekit() -> None:
    memory = one({
        "id": 3, "type": "bugfix", "title": "Tokens expired early", "subtitle": None,
        "facts": '["clock skew, of 5 s", "leeway is 0"]', "narrative": "The clocks differ.",
        "concepts": '["auth", "jwt"]', "files_read": '["src/auth.ts"]', "files_modified": None, "confidence": "medium",
        "bead_id": "bd-7", "supersedes": 1, "superseded_by": None, "valid_until": None,
        "markdown_file": "2026-01-09-bugfix-tokens.md", "created_at": "2026-01-09T04:37:20.607Z",
        "created_at_epoch": 1767933440607,
    })  # fmt: skip
    assert memory.head == {
        "type": "bugfix", "title": "Tokens expired early", "created": "2026-01-09T04:37:20+00:00",
        "confidence": "medium", "supersedes": ["1"], "facts": ["clock skew, of 5 s", "leeway is 0"],
        "concepts": ["auth", "jwt"], "files_read": ["src/auth.ts"], "bead_id": "bd-7", "imported_id": 3,
    }  # fmt: skip
    assert "2026-01-09-bugfix-tokens" in memory.names


TIMES = {
    1767933440: "2026-01-09T04:37:20+00:00",
    "1767933440": "2026-01-09T04:37:20+00:00",
    1767933440607: "2026-01-09T04:37:20+00:00",
    1767933440607000: "2026-01-09T04:37:20+00:00",
    "2026-01-09T04:37:20+02:00": "2026-01-09T04:37:20+02:00",
    "2026-01-09T04:37:20": "2026-01-09T04:37:20",
    "2026-01-09": "2026-01-09",
    None: None,
}


def test_import_reads_times_in_every_form() -> None:
    assert {given: one({"content": "x", "createdAt": given}).head.get("created") for given in TIMES} == TIMES


CONFIDENCES = {"high": ("high", None), 0.9: ("high", 0.9), 0.5: ("medium", 0.5), 0: ("low", 0), "sure": (None, "sure")}


def test_import_reads_confidence_as_a_word_or_a_number() -> None:
    heads = {given: one({"content": "x", "confidence": given}).head for given in CONFIDENCES}
    read = {given: (head.get("confidence"), head.get("imported_confidence")) for given, head in heads.items()}
    assert read == CONFIDENCES


def test_import_keeps_unknown_fields() -> None:
    head = one(
        {"content": "x", "type": "Refactor", "priority": 3, "links": ["a"], "embedding": [0.1], "empty": ""}
    ).head
    assert (head["type"], head["imported_type"]) == ("note", "Refactor")
    assert head["priority"] == 3
    assert head["links"] == ["a"]
    assert "embedding" not in head
    assert "empty" not in head


@pytest.mark.parametrize("text", ["", "{", "[1,", "7", '"text"', "{}", '{"a": 1}', "[" * 100_000])
def test_import_refuses_json_without_memories(text: str) -> None:
    with pytest.raises(UsageError, match=r"export\.json"):
        read_json(text, "export.json")


# --- observations of OpenCodeKit -------------------------------------------------------------------------------

WITH_YAML = """\
---
type: decision
created: 2026-01-09T04:37:20.607Z
confidence: high
valid_until: null
superseded_by: null
supersedes: 2026-01-01-decision-sessions.md
bead_id: bd-12
concepts: ["authentication", "jwt"]
files: ["src/auth.ts", "src/login.ts"]
---

# 🎯 Use JWT for auth

🟢 **Confidence:** high

Tokens need no table.

**Why:** fewer queries.
"""


def test_import_reads_an_observation_with_a_yaml_head() -> None:
    memory = observation(WITH_YAML)
    assert memory.head == {
        "type": "decision", "title": "Use JWT for auth", "created": "2026-01-09T04:37:20+00:00", "confidence": "high",
        "supersedes": ["2026-01-01-decision-sessions.md"], "concepts": ["authentication", "jwt"],
        "files_modified": ["src/auth.ts", "src/login.ts"], "bead_id": "bd-12",
        "imported_id": "2026-01-09-decision-use-jwt",
    }  # fmt: skip
    assert memory.body == "Tokens need no table.\n\n**Why:** fewer queries."


WITH_LINES = """\
# Observation: Retry with jitter

**Type:** pattern
**Created:** 2026-01-09T04:37:20Z
**Bead:** [optional bead-id]
**Confidence**: medium
**Concepts:** `retry`, `network`
**Files:** `src/http.ts`, `src/retry.ts`

---

## Context

Servers came back all at once.
"""


def test_import_reads_an_observation_with_a_head_of_lines() -> None:
    memory = observation(WITH_LINES, "retry.md")
    assert memory.head == {
        "type": "pattern", "title": "Retry with jitter", "created": "2026-01-09T04:37:20+00:00",
        "confidence": "medium", "concepts": ["retry", "network"],
        "files_modified": ["src/http.ts", "src/retry.ts"], "imported_id": "retry",
    }  # fmt: skip
    assert memory.body == "## Context\n\nServers came back all at once."


def test_import_takes_missing_fields_from_the_file_name() -> None:
    memory = observation("Nothing but this.\n", "2026-01-09-bugfix-token-expiry.md")
    name = "2026-01-09-bugfix-token-expiry"
    assert memory.head == {"type": "bugfix", "title": "token expiry", "created": "2026-01-09", "imported_id": name}
    assert "created" not in observation("Text.\n", "2026-99-09-x.md").head


def test_import_reads_a_head_of_invalid_yaml_as_far_as_possible() -> None:
    memory = observation("---\ntype: warning\ntitle: Careful: slow\nconfidence: low\n---\nIt is slow.\n", "slow.md")
    assert (memory.head["type"], memory.head["title"], memory.head["confidence"]) == ("warning", "Careful: slow", "low")


def test_import_takes_bold_lines_inside_the_text_for_no_head() -> None:
    memory = observation("# Title\n\n**Root cause:** a race\n**Type:** decision\n", "2026-01-09-bugfix-x.md")
    assert memory.head["type"] == "bugfix"
    assert memory.body == "**Root cause:** a race\n**Type:** decision"


def test_import_keeps_the_old_number_of_an_observation() -> None:
    memory = observation("---\nid: 7\ntype: learning\n---\nText.\n", "a.md")
    assert memory.head["imported_id"] == 7
    assert {"7", "#7", "a"} <= set(memory.names)


def test_import_keeps_files_of_a_folder_with_our_ids_unchanged() -> None:
    files = [
        ("decision/a.md", f"---\nid: {AGMEM_ID}\ntype: decision\n---\nText.\n"),
        ("observations/2026-01-09-decision-b.md", WITH_YAML),
        ("_templates/c.md", "Template.\n"),
    ]
    batch = read_files(files)
    assert [(memory.path, memory.file) for memory in batch.memories] == files
