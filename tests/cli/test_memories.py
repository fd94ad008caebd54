"""Commands that write memories: options, output and exit codes."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.process import Out, answer
from vault_index.cli import main
from vault_index.errors import NotFoundError
from vault_index.markdown.frontmatter import read_frontmatter

KEY = "AKIA" + "Z7Q2M4X6P9R3T5VW"


@pytest.fixture(autouse=True)
def ready(vault: Path, capsys: Out) -> None:
    assert main(["init", str(vault), "--provider", "none", "--quiet", "--toon"]) == 0
    capsys.readouterr()


@contextmanager
def piped(text: str) -> Iterator[None]:
    """Pipe this text into stdin."""
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as stdin, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", stdin)
        yield


def error(capsys: Out, *arguments: str) -> tuple[int, str]:
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().err)["error"]["message"]


def test_add_accepts_every_option(vault: Path, capsys: Out) -> None:
    old = answer(capsys, "add", "Readers wait.")
    words = "store Readers never wait --title WAL --subtitle s --digest d --project api --tags a,B --type decision"
    words += " --entered-by ann --expires 2090-01-01 --valid-until 2080-01-01 --confidence high --facts x,y --facts z"
    words += (
        f" --concepts c --files-read f.py --files-modified g.py --bead bd-1 --supersedes {old['id'][:6]} --path p/q"
    )
    stored = answer(capsys, *words.split())
    assert (stored["created"], stored["path"]) == (True, "80-memory/p/q.md")
    assert set(stored) == {"id", "path", "created", "duplicate_of", "near", "warnings", "degraded"}
    front = answer(capsys, "get", "p/q", "--full")["results"][0]["metadata"]["frontmatter"]
    assert front == {
        "id": stored["id"], "type": "decision", "title": "WAL", "subtitle": "s", "digest": "d", "tags": ["a", "b"],
        "project": "api", "created": front["created"], "updated": front["updated"], "entered_by": "ann",
        "expires": "2090-01-01", "valid_until": "2080-01-01", "confidence": "high", "supersedes": [old["id"]],
        "facts": ["x,y", "z"], "concepts": ["c"], "files_read": ["f.py"], "files_modified": ["g.py"], "bead_id": "bd-1",
    }  # fmt: skip
    assert (vault / "80-memory/p/q.md").read_text("utf-8").endswith("---\nReaders never wait\n")


def test_add_and_update_read_text_from_a_file_or_stdin(tmp_path: Path, vault: Path, capsys: Out) -> None:
    (tmp_path / "text.md").write_text("---\ntitle: From a file\ntags: [a]\nstatus: done\n---\nReaders wait.\n", "utf-8")
    stored = answer(capsys, "add", "--file", str(tmp_path / "text.md"), "--tags", "b")
    front = read_frontmatter((vault / stored["path"]).read_text("utf-8").split("\n")).values
    assert (front["title"], front["tags"], front["status"]) == ("From a file", ["b"], "done")
    for number, words in enumerate((["add", "--path", "s"], ["add", "-", "--path", "t"])):
        with piped(f"From pipe {number}."):
            answer(capsys, *words)
    with piped("And more."):
        answer(capsys, "update", "t", "--append")
    answer(capsys, "update", "t", "--append", "As words", "too.")
    with piped("not for a command that names a field"):
        answer(capsys, "update", "t", "--type", "decision")
    assert "From pipe 1.\n\nAnd more.\n\nAs words too." in answer(capsys, "get", "t")["results"][0]["content"]


BAD: list[tuple[list[str], int, str]] = [
    (["add"], 2, "the text of the memory is missing"),
    (["add", "x" * 10_241], 2, "more than memory.max_bytes (10,240)"),
    (["add", KEY], 2, "what looks like an AWS access key"),
    (["add", "x", "--file", "y"], 2, "given twice"),
    (["add", "--file", "/nowhere/at/all"], 3, "file not found: /nowhere"),
    (["update", "wal.md", "--content", "x"], 2, "only memories can be changed"),
    (["update", "nobody"], 2, "nothing to change"),
    (["delete", "nobody"], 3, "not found: "),
]


def test_add_refuses_bad_input_and_writes_nothing(vault: Path, capsys: Out) -> None:
    before = sorted(vault.rglob("*"))
    for arguments, code, message in BAD:
        ended, said = error(capsys, *arguments)
        assert (ended, message in said) == (code, True), said
    assert sorted(vault.rglob("*")) == before


def test_add_accepts_force_and_text_beginning_with_a_dash(capsys: Out) -> None:
    assert answer(capsys, "add", KEY, "--force")["created"]
    assert main(["add", "--toon", "--", "- an item"]) == 0
    assert "created: true" in capsys.readouterr().out


def test_prune_lists_then_deletes_expired_memories(vault: Path, capsys: Out) -> None:
    (vault / "80-memory").mkdir()
    file = vault / "80-memory" / "old.md"
    file.write_text("---\nexpires: 2020-01-01\n---\nOver.\n", "utf-8")
    assert answer(capsys, "prune", "--dry-run")["results"][0]["outcome"] == "would be trashed"
    assert error(capsys, "prune")[0] == 2
    assert file.exists()
    assert answer(capsys, "prune", "--force", "--before", "2019-01-01")["results"] == []
    assert answer(capsys, "prune", "--force")["results"][0]["details"]["expires"] == "2020-01-01"
    assert not file.exists()
    assert answer(capsys, "prune")["results"] == []


def test_capture_reads_a_file(tmp_path: Path, capsys: Out) -> None:
    (tmp_path / "out.txt").write_text("*Remember*: docker needs --init\n", "utf-8")
    capture = ["capture", str(tmp_path / "out.txt"), "--by", "bob"]
    assert answer(capsys, *capture, "--dry-run")["results"][0]["outcome"] == "would be created"
    assert answer(capsys, *capture)["results"][0]["outcome"] == "created"
    assert answer(capsys, "stats", "--agents")["results"] == [{"agent": "bob", "count": 1}]


def test_add_and_update_print_human_and_toon_output(tmp_path: Path, capsys: Out) -> None:
    stored = answer(capsys, "add", "Readers never wait for the one writer.", "--tags", "a")
    assert main(["add", "Readers never wait for the one writer.", "--tags", "b", "--human"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"Already stored {stored['id'][:8]}")
    assert "! added tags: b" in said
    assert main(["update", stored["id"], "--type", "decision", "--toon"]) == 0
    shown = capsys.readouterr().out.replace('"', "")  # TOON quotes an id of digits only
    assert shown == f"id: {stored['id'][:8]}\npath: {stored['path']}\ncreated: false\n"
    assert main(["prune", "--dry-run", "--human", "--quiet"]) == 0
    assert capsys.readouterr().out == "Nothing has expired.\n"
    assert main(["delete", stored["id"], "--markdown"]) == 0
    assert capsys.readouterr().out.startswith(f"trashed {stored['id'][:8]} · **Readers never wait")


def test_history_lists_compares_and_restores_versions(vault: Path, capsys: Out) -> None:
    uid = answer(capsys, "add", "The coot dives.", "--title", "Coots", "--by", "ann")["id"]
    path = answer(capsys, "update", uid, "--content", "It ``` swims.")["path"]
    told = answer(capsys, "history", uid[:8])
    assert set(told) == {"id", "path", "title", "results", "total", "forgotten"}
    assert [(one["number"], one["by"], one["action"]) for one in told["results"]] == [
        (2, "vault-index", "update"), (1, "ann", "add")
    ]  # fmt: skip
    diff = answer(capsys, "diff", uid, "--before", "1", "--after", "2")
    assert (diff["before"], diff["after"]) == (1, 2)
    for form, begins in (("human", ""), ("toon", "--- "), ("markdown", "````diff\n")):
        assert main(["history", uid, f"--{form}"]) == 0
        assert "vault-index" in capsys.readouterr().out
        assert main(["diff", uid, f"--{form}"]) == 0
        shown = capsys.readouterr().out
        assert (shown.startswith(begins), "+It ``` swims." in shown) == (True, True)
    assert answer(capsys, "revert", uid, "--to", "1")["path"] == path
    assert "dives" in (vault / path).read_text("utf-8")
    undone = answer(capsys, "undo")["results"][0]
    assert (undone["outcome"], undone["details"]["work"]) == ("undone", "revert")
    assert "swims" in (vault / path).read_text("utf-8")
    for wrong in (["revert", uid, "--to", "9"], ["history", "nobody"], ["diff", uid, "--after", "abcdef0"]):
        assert error(capsys, *wrong)[0] == NotFoundError.exit_code


def test_update_refuses_empty_text_by_default(vault: Path, tmp_path: Path, capsys: Out) -> None:
    stored = answer(capsys, "add", "The coot dives.", "--title", "Coots", "--type", "note")
    before = (vault / stored["path"]).read_bytes()
    (tmp_path / "empty").touch()
    for given in (["--content", ""], ["--file", str(tmp_path / "empty")]):
        assert error(capsys, "update", stored["id"], *given) == (2, "the text is empty: nothing was changed")
    for words in ([], ["--content", "-"], ["--tags", "a", "--content", "-"]):
        with piped("\n"):
            assert error(capsys, "update", stored["id"], *words) == (2, "the text is empty: nothing was changed")
    assert (vault / stored["path"]).read_bytes() == before
    answer(capsys, "update", stored["id"], "--content", "", "--title", "Coots", "--allow-empty")
    assert "dives" not in (vault / stored["path"]).read_text("utf-8")
