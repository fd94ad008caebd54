"""Reading: encodings, stamps, and files that are never opened."""

import codecs
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from tests.sources.trees import build, vault_at
from vault_index.errors import NotFoundError, VaultIndexError
from vault_index.models import RawDocument
from vault_index.sources.files import decode, is_readable_name, parts_of, shown_name


def read(root: Path, data: bytes) -> RawDocument:
    build(root)
    (root / "n.md").write_bytes(data)
    source = vault_at(root)
    ref = source.look("n.md")
    assert ref is not None
    return source.read(ref)


def test_read_returns_text_hash_and_size(tmp_path: Path) -> None:
    texts = {
        b"": "", b"a\r\nb\rc\n": "a\r\nb\rc\n", b"no newline": "no newline", "é 笔记 🎉".encode(): "é 笔记 🎉",
        codecs.BOM_UTF8 + b"bom\r\n": "bom\r\n", codecs.BOM_UTF16_LE + "é\n笔".encode("utf-16-le"): "é\n笔",
        codecs.BOM_UTF16_BE + "é\n笔".encode("utf-16-be"): "é\n笔",
        codecs.BOM_UTF32_LE + "é\n笔".encode("utf-32-le"): "é\n笔",
    }  # fmt: skip
    for data, text in texts.items():
        raw = read(tmp_path / "vault", data)
        assert (raw.text, raw.content_hash, raw.faults) == (text, hashlib.sha256(data).digest(), ())
        assert raw.ref.stamp.size == len(data)


def test_read_replaces_bad_bytes_and_names_their_line(tmp_path: Path) -> None:
    for data, text, line in (
        (b"caf\xe9\n", "caf\ufffd\n", 1),
        (b"a\r\nb\rc\nd\xff", "a\r\nb\rc\nd\ufffd", 4),
        (codecs.BOM_UTF8 + b"a\n\x80", "a\n\ufffd", 2),
        ("a\u2028b\n".encode() + b"\xff", "a\u2028b\n\ufffd", 2),
        (codecs.BOM_UTF16_LE + "a\nb".encode("utf-16-le") + b"\x00", "a\nb\ufffd", 2),
    ):
        raw = read(tmp_path / "vault", data)
        assert raw.text == text
        assert [(fault.code, fault.path, fault.line) for fault in raw.faults] == [("encoding", "n.md", line)]


@given(st.binary(max_size=200))
def test_decode_turns_any_bytes_into_text(data: bytes) -> None:
    text, line = decode(data)
    text.encode()
    assert line is None or line >= 1


def test_read_repeats_a_file_that_changes_during_the_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = build(tmp_path / "vault", "n.md", text="first\n")
    source = vault_at(root)
    (ref,) = source.scan().refs
    real = os.read
    calls: list[int] = []

    def change_once(descriptor: int, size: int) -> bytes:
        calls.append(size)
        data = real(descriptor, size)
        if len(calls) == 1:
            (root / "n.md").write_text("second, longer\n", encoding="utf-8")
        return data

    monkeypatch.setattr(os, "read", change_once)
    raw = source.read(ref)
    assert raw.text == "second, longer\n"
    assert raw.ref == source.look("n.md")


def test_read_leaves_an_ever_changing_file_to_the_next_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = build(tmp_path / "vault", "n.md", text="x")
    source = vault_at(root)
    (ref,) = source.scan().refs
    real = os.read

    def grow(descriptor: int, size: int) -> bytes:
        data = real(descriptor, size)
        with open(root / "n.md", "ab") as file:
            file.write(b"y" * (1 if data else 0))
        return data

    monkeypatch.setattr(os, "read", grow)
    raw = source.read(ref)
    monkeypatch.undo()
    assert raw.text.startswith("x")
    assert raw.ref != source.look("n.md")


def test_read_refuses_a_path_that_became_another_kind_of_file(tmp_path: Path) -> None:
    root = build(tmp_path / "vault", "n.md", "other.md")
    source = vault_at(root, max_file_bytes=10)
    ref = source.look("n.md")
    assert ref is not None
    (root / "n.md").write_bytes(b"x" * 11)
    with pytest.raises(VaultIndexError, match="limit of 10"):
        source.read(ref)
    (root / "n.md").unlink()
    with pytest.raises(NotFoundError, match="is gone"):
        source.read(ref)
    for make in (os.mkfifo, os.mkdir):
        make(root / "n.md")
        with pytest.raises(VaultIndexError, match="is not a file"):
            source.read(ref)
        (root / "n.md").rename(tmp_path / make.__name__)


def test_stamp_and_link_describe_a_document(tmp_path: Path) -> None:
    root = build(tmp_path / "My Vault", "a b/ü.md", "c.canvas")
    source = vault_at(root)
    (first, _) = source.scan().refs
    assert source.stamp(first.path) == first.stamp
    assert source.stamp("gone.md") is None
    assert source.link("a b/ü.md") == "obsidian://open?vault=My%20Vault&file=a%20b%2F%C3%BC"
    assert source.link("c.canvas") == "obsidian://open?vault=My%20Vault&file=c.canvas"


def test_is_readable_name_refuses_names_that_are_not_utf8() -> None:
    assert is_readable_name("café 笔记 🎉")
    assert not is_readable_name("caf\udce9")
    assert shown_name("caf\udce9/x") == "caf\\xe9/x"


def test_parts_of_refuses_paths_that_are_not_plain() -> None:
    for path in ("", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "./a", "a\0b"):
        assert parts_of(path) is None, path
