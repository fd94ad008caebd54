"""The commands that write memories: what they take, print and return."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import vx
from vault_index.cli import main
from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.markdown.frontmatter import read_frontmatter

KEY = "AKIA" + "Z7Q2M4X6P9R3T5VW"


@pytest.fixture(autouse=True)
def ready(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(vault), "--provider", "none", "--quiet", "--toon"]) == 0
    capsys.readouterr()


@contextmanager
def piped(text: str) -> Iterator[None]:
    """Somebody writes this into stdin."""
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as stdin, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", stdin)
        yield


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    assert main([*arguments, "--json"]) == code
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    return said


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().err)["error"]["message"]


def test_a_memory_with_every_option(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = answer(capsys, "add", "Readers wait.")
    words = "store Readers never wait --title WAL --subtitle s --digest d --project api --tags a,B --type decision"
    words += " --entered-by ann --expires 2090-01-01 --valid-until 2080-01-01 --confidence high --facts x,y --facts z"
    words += (
        f" --concepts c --files-read f.py --files-modified g.py --bead bd-1 --supersedes {old['id'][:6]} --path p/q"
    )
    stored = answer(capsys, *words.split())
    assert (stored["created"], stored["path"]) == (True, "80-memory/p/q.md")
    assert set(stored) == {"id", "path", "created", "duplicate_of", "near", "replaces", "warnings", "degraded"}
    front = answer(capsys, "get", "p/q", "--full")["results"][0]["metadata"]["frontmatter"]
    assert front == {
        "id": stored["id"], "type": "decision", "title": "WAL", "subtitle": "s", "digest": "d", "tags": ["a", "b"],
        "project": "api", "created": front["created"], "updated": front["updated"], "entered_by": "ann",
        "expires": "2090-01-01", "valid_until": "2080-01-01", "confidence": "high", "supersedes": [old["id"]],
        "facts": ["x,y", "z"], "concepts": ["c"], "files_read": ["f.py"], "files_modified": ["g.py"], "bead_id": "bd-1",
    }  # fmt: skip
    assert (vault / "80-memory/p/q.md").read_text("utf-8").endswith("---\nReaders never wait\n")


def test_the_text_may_come_from_a_file_or_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.md").write_text("From a file.", "utf-8")
    answer(capsys, "add", "--file", str(tmp_path / "text.md"))
    for number, words in enumerate((["add", "--path", "s"], ["add", "-", "--path", "t"])):
        with piped(f"From pipe {number}."):
            answer(capsys, *words)
    found = [hit["title"] for hit in answer(capsys, "list", "--kind", "memory")["results"]]
    assert sorted(found) == ["From a file", "From pipe 0", "From pipe 1"]
    with piped("And more."):
        answer(capsys, "update", "t", "--append")
    answer(capsys, "update", "t", "--append", "As words", "too.")
    assert "From pipe 1.\n\nAnd more.\n\nAs words too." in answer(capsys, "get", "t")["results"][0]["content"]


def test_frontmatter_of_a_file_or_a_pipe_is_that_of_the_memory(
    tmp_path: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "---\ntitle: {}\ntags: [a]\nstatus: done\n---\nReaders never wait.\n"
    (tmp_path / "text.md").write_text(text.format("From a file"), "utf-8")
    stored = [answer(capsys, "add", "--file", str(tmp_path / "text.md"), "--tags", "b")]
    with piped(text.format("From a pipe")):
        stored.append(answer(capsys, "add", "--title", "Piped"))
    fronts = [read_frontmatter((vault / one["path"]).read_text("utf-8").split("\n")).values for one in stored]
    assert [(front["title"], front["tags"], front["status"]) for front in fronts] == [
        ("From a file", ["b"], "done"),
        ("Piped", ["a"], "done"),
    ]


def test_a_command_that_names_a_field_leaves_stdin_alone(capsys: pytest.CaptureFixture[str]) -> None:
    stored = answer(capsys, "add", "Readers never wait.")
    with piped("not for me"):
        answer(capsys, "update", stored["id"], "--type", "decision")
    assert "Readers never wait." in answer(capsys, "get", stored["id"])["results"][0]["content"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["add"], 2, "what shall be remembered?"),
        (["add", " "], 2, "there is nothing to remember"),
        (["add", "x" * 10_241], 2, "more than the 10,240"),
        (["add", KEY], 2, "what looks like an AWS access key"),
        (["add", "x", "--expires", "2001-01-01"], 2, "past"),
        (["add", "x", "--file", "y"], 2, "given twice"),
        (["add", "--file", "/nowhere/at/all"], 3, "there is no file"),
        (["add", "x", "--supersedes", "nothing"], 3, "nothing is called"),
        (["update", "wal.md", "--content", "x"], 2, "is no memory"),
        (["update", "nobody", "--content", "x"], 3, "nothing is called"),
        (["update", "nobody"], 2, "nothing to change"),
        (["delete", "nobody"], 3, "nothing is called"),
        (["prune"], 2, "nobody to ask"),
        (["capture"], 2, "what shall be looked through?"),
    ],
)
def test_bad_input(
    vault: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    before = sorted(vault.rglob("*"))
    ended, said = error(capsys, *arguments)
    assert (ended, message in said) == (code, True), said
    assert sorted(vault.rglob("*")) == before
    assert {NotFoundError.exit_code, UsageError.exit_code} == {2, 3}


def test_force_and_a_text_that_begins_with_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "add", KEY, "--force")["created"]
    assert main(["add", "--toon", "--", "- an item"]) == 0
    assert "created: true" in capsys.readouterr().out


def test_deleting_several_reports_each(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = answer(capsys, "add", "Readers never wait.")
    said = answer(capsys, "delete", stored["id"][:8], "nobody", code=VaultIndexError.exit_code)
    assert said["results"][0]["outcome"] == "trashed"
    assert said["failed"][0]["position"] == "nobody"
    assert not (vault / stored["path"]).exists()


def test_archiving_and_having_it_found_again(capsys: pytest.CaptureFixture[str]) -> None:
    stored = answer(capsys, "add", "Herons nest in the reeds.")
    said = answer(capsys, "archive", stored["id"][:8], "nobody", code=VaultIndexError.exit_code)
    assert [one["outcome"] for one in said["results"]] == ["archived"]
    assert [one["position"] for one in said["failed"]] == ["nobody"]
    assert answer(capsys, "search", "herons")["results"] == []
    assert answer(capsys, "search", "herons", "--state", "archived")["results"][0]["archived"]
    for form, told in (("--human", "already archived on"), ("--toon", "archived on"), ("--markdown", "| archived |")):
        assert main(["archive", stored["id"], form]) == 0
        assert told in capsys.readouterr().out
    assert answer(capsys, "archive", "--restore", stored["path"])["results"][0]["outcome"] == "restored"
    assert len(answer(capsys, "search", "herons")["results"]) == 1


def test_pruning(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (vault / "80-memory").mkdir()
    file = vault / "80-memory" / "old.md"
    file.write_text("---\nexpires: 2020-01-01\n---\nOver.\n", "utf-8")
    assert answer(capsys, "prune", "--dry-run")["results"][0]["outcome"] == "would be trashed"
    assert file.exists()
    assert answer(capsys, "prune", "--force", "--before", "2019-01-01")["results"] == []
    assert answer(capsys, "prune", "--force")["results"][0]["details"]["expires"] == "2020-01-01"
    assert not file.exists()


def test_capture_takes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out.txt").write_text("*Remember*: docker needs --init\n", "utf-8")
    assert (
        answer(capsys, "capture", str(tmp_path / "out.txt"), "--dry-run")["results"][0]["outcome"] == "would be created"
    )
    assert answer(capsys, "capture", str(tmp_path / "out.txt"), "--by", "bob")["results"][0]["outcome"] == "created"
    assert answer(capsys, "list", "--by", "bob")["total"] == 1


def test_what_people_and_agents_see(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = answer(capsys, "add", "Readers never wait for the one writer.", "--tags", "a")
    assert main(["add", "Readers never wait for the one writer.", "--tags", "b", "--human"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"Known already {stored['id'][:8]}")
    assert "! tags added to it: b" in said
    assert main(["update", stored["id"], "--type", "decision", "--toon"]) == 0
    shown = capsys.readouterr().out.replace('"', "")  # an id of digits alone is quoted
    assert shown == f"id: {stored['id'][:8]}\npath: {stored['path']}\ncreated: false\n"
    assert main(["prune", "--dry-run", "--human", "--quiet"]) == 0
    assert capsys.readouterr().out == "Nothing has expired.\n"
    assert main(["delete", stored["id"], "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("| outcome | id | title |")


def test_another_process_finds_it_at_once(home: Path) -> None:
    added = vx("add", "The staging password rotates on Mondays", "--json", environ={"VAULT_INDEX_HOME": str(home)})
    assert added.returncode == 0, added.stderr
    found = vx("search", "staging password", "--json", environ={"VAULT_INDEX_HOME": str(home)})
    assert json.loads(found.stdout)["results"][0]["id"] == json.loads(added.stdout)["id"]


def test_stats_of_tags_and_agents_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, "add", "Readers never wait.", "--tags", "wal", "--by", "ann")
    said = answer(capsys, "stats", "--tags", "--agents")
    assert {"tag": "wal", "count": 1} in said["tags"]
    assert said["agents"] == [{"agent": "ann", "count": 1}]


def test_what_a_memory_said_is_listed_compared_and_put_back(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uid = answer(capsys, "add", "The coot dives.", "--title", "Coots", "--by", "ann")["id"]
    path = answer(capsys, "update", uid, "--content", "It ``` swims.")["path"]
    told = answer(capsys, "history", uid[:8])
    assert set(told) == {"id", "path", "title", "results", "total", "forgotten"}
    assert [(one["number"], one["by"], one["action"]) for one in told["results"]] == [
        (2, "vault-index", "update"), (1, "ann", "add")
    ]  # fmt: skip
    assert set(told["results"][0]) == {"number", "seen", "by", "action", "path", "bytes", "commit"}
    diff = answer(capsys, "diff", uid, "--before", "1", "--after", "2")
    assert (diff["before"], diff["after"]) == (1, 2)
    shown: dict[tuple[str, str], str] = {}
    for form in ("human", "toon", "markdown"):
        for command in ("history", "diff"):
            assert main([command, uid, f"--{form}"]) == 0
            shown[command, form] = capsys.readouterr().out
    assert all("vault-index" in shown["history", form] for form in ("human", "toon", "markdown"))
    assert all("+It ``` swims." in shown["diff", form] for form in ("human", "toon", "markdown"))
    assert shown["diff", "markdown"].startswith("````diff\n")
    assert shown["diff", "toon"].startswith("--- ")
    assert answer(capsys, "revert", uid, "--to", "1")["path"] == path
    assert "dives" in (vault / path).read_text("utf-8")
    undone = answer(capsys, "undo")["results"][0]
    assert (undone["outcome"], undone["details"]["work"]) == ("undone", "revert")
    assert "swims" in (vault / path).read_text("utf-8")
    for wrong in (["revert", uid, "--to", "9"], ["history", "nobody"], ["diff", uid, "--after", "abcdef0"]):
        assert error(capsys, *wrong)[0] == NotFoundError.exit_code


def test_no_empty_text_is_taken_by_accident(vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
