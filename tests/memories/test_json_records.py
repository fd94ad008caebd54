"""A memory as a JSON record is restored byte for byte, whatever its file contains."""

import json

import pytest
from hypothesis import given, strategies as st

from vault_index.errors import UsageError
from vault_index.memories.transfer.json_records import from_record, to_record

PLAIN = """\
---
id: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f
type: decision
title: Use WAL mode for the index
tags: [sqlite, ops/storage]
created: 2026-11-21T10:00:00+00:00
expires: 2027-02-01
facts: [readers never wait, 'one writer, at a time']
reviewed: true
weight: 3
---
WAL lets readers run while the daemon writes.
"""


def back(text: str, path: str = "note/a.md") -> str | None:
    """The file after a round trip through JSON."""
    return from_record(json.loads(json.dumps(to_record(path, text))), "record 1").file


def test_to_record_has_every_key_in_order_and_the_text() -> None:
    record = to_record("decision/use-wal.md", PLAIN)
    assert list(record) == [
        "path", "id", "type", "title", "tags", "created", "expires", "facts", "reviewed", "weight", "content"
    ]  # fmt: skip
    assert record["path"] == "decision/use-wal.md"
    assert record["tags"] == ["sqlite", "ops/storage"]
    assert record["reviewed"] is True
    assert record["content"] == "WAL lets readers run while the daemon writes.\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace("\n", "\r\n"),
        "\ufeff" + PLAIN,
        PLAIN.rstrip("\n"),
        "",
        "\n",
        "no frontmatter at all\n",
        "---\n---\nnothing in it\n",
        "---\ntitle: Foo: bar\n---\nbroken frontmatter\n",
        "---\nid: 1\n# a comment\ntitle: \"quoted\"\ntags:\n  - block\n  - list # why\n---\n\nafter a blank line\n\n\n",
        "---\npath: mine\ncontent: too\nraw: this\naccesses: 9\n---\nkeys that records have themselves\n",
        "---\nzip: 007\nversion: '1.10'\nwhen: 2026-01-01 10:00:00\nnothing: null\n---\nvalues YAML reads otherwise\n",
        "---\nnot: closed\n",
    ],
)  # fmt: skip
def test_from_record_restores_any_file_byte_for_byte(text: str) -> None:
    assert back(text) == text


@given(st.text(st.characters(codec="utf-8"), max_size=60), st.text(st.characters(codec="utf-8"), max_size=60))
def test_from_record_restores_any_head_and_body(head: str, body: str) -> None:
    text = f"---\n{head}\n---\n{body}"
    assert back(text) == text


def test_from_record_restores_bytes_that_are_not_utf8() -> None:
    text = b"caf\xe9 from long ago\n".decode("utf-8", "surrogateescape")
    assert (back(text) or "").encode("utf-8", "surrogateescape") == b"caf\xe9 from long ago\n"


def test_from_record_refuses_content_that_is_not_text() -> None:
    with pytest.raises(UsageError, match="not text"):
        from_record({"path": "note/a.md", "content": ["a"]}, "record 1")
