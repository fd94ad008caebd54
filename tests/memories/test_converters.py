"""Memories of other programs are read in every format that these use."""

import json
from typing import Any

import pytest

from tests.tables import tables
from vault_index.errors import UsageError
from vault_index.memories.transfer.import_record import ImportRecord
from vault_index.memories.transfer.json_records import read_json
from vault_index.memories.transfer.reading import read_files

CASES = tables(__file__)
AGMEM_ID = "5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f"


def one(record: Any) -> ImportRecord:
    batch = read_json(json.dumps([record]), "export.json")
    assert not batch.failed
    return batch.memories[0]


def observation(text: str, name: str = "2026-01-09-decision-use-jwt.md") -> ImportRecord:
    batch = read_files([(f"observations/{name}", text)])
    assert not batch.failed
    return batch.memories[0]


@pytest.mark.parametrize("case", CASES["json"], ids=lambda case: case["program"])
def test_import_reads_records_of_other_programs(case: dict[str, Any]) -> None:
    memory = one(json.loads(case["given"]))
    assert memory.head == case["head"]
    assert memory.body == case.get("body", memory.body)
    assert memory.accesses == case.get("accesses", 0)
    assert {*case.get("names", ())} <= {*memory.names}


def test_import_omits_a_digest_that_repeats_the_text() -> None:
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


@pytest.mark.parametrize("case", CASES["observation"], ids=lambda case: case["program"])
def test_import_reads_observations_in_every_form(case: dict[str, Any]) -> None:
    memory = observation(case["given"], case["name"])
    assert (memory.head, memory.body) == (case["head"], case["body"])


def test_import_ignores_an_invalid_date_in_a_file_name() -> None:
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
        ("observations/2026-01-09-decision-b.md", CASES["observation"][0]["given"]),
        ("_templates/c.md", "Template.\n"),
    ]
    batch = read_files(files)
    assert [(memory.path, memory.file) for memory in batch.memories] == files
