"""`sessions` and `resume` in every format, and sessions in `memory_list`."""

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import Out, vx
from tests.query.test_sessions import ALL
from tests.query.transcripts import held, transcript
from vault_index import VaultIndex
from vault_index.api import dispatch
from vault_index.cli import main
from vault_index.errors import UsageError
from vault_index.mcp_server.toolbox import answer_tool

DAY = ("--since", "2026-11-20", "--until", "2026-11-20")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with held(tmp_path_factory.mktemp("held"), ALL) as opened:
        yield opened


@pytest.fixture
def told(index: VaultIndex, capsys: Out) -> Any:
    def tell(*argv: str) -> str:
        assert main([*argv, "--home", str(index.home.data_dir)]) == 0
        return capsys.readouterr().out

    return tell


def test_sessions_lists_for_humans_and_agents(told: Any) -> None:
    head, first, *_, count = told("sessions", "--human").strip().split("\n")
    assert head.split() == ["id", "updated", "client", "project", "title", "time"]
    assert first.split()[1:4] == ["2026-11-21", "10:01", "codex"]
    assert count == "3 of 3 sessions"
    rows = told("sessions", "--toon").split("\n")
    assert rows[:2] == ["total: 3", "results[3]{id,client,project,title,updated,turns,spent,files,commands,tokens}:"]
    assert "claude-code,shop,Work b111-bills," in rows[-2]
    assert "| 2026-11-20 14:10 | opencode | api | Fix the login | 4 |" in told("sessions", "--markdown")
    assert told("sessions", "--project", "nowhere", "--human").startswith("No sessions.\n")


def test_sessions_file_shows_the_edits_of_each_session(told: Any) -> None:
    asked = ("sessions", "--file", "src/app.py")
    wrote = told(*asked, "--limit", "2", "--human")
    assert "wrote ×2" in wrote
    assert "2 of more" in wrote
    assert "total: more\n" in told(*asked, "--limit", "2", "--toon")
    assert [one["reads"] for one in json.loads(told(*asked, "--json"))["results"]] == [1, 1, 1]
    assert "edits" not in json.loads(told("sessions", "--json"))["results"][0]


SUMMARY = Path(__file__).with_name("summary.txt").read_text("utf-8")


def test_sessions_summary_prints_a_day(told: Any, index: VaultIndex) -> None:
    found = told("sessions", "--summary", *DAY, "--human")
    for one in index.sessions().results:
        found = found.replace(f" · {one.id[:8]}", "")
    assert found == SUMMARY


def test_sessions_file_resolves_relative_paths(
    told: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Out
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    text = transcript("ses_a", [("2026-11-20 09:00", "Assistant", "- edit: `app.py` (ok)")], directory=str(folder))
    with held(tmp_path, {**ALL, "ses_a": text}) as opened:
        for arguments in (["--project", "."], ["--project", str(folder)], ["--file", "./app.py"], ["--file", "app.py"]):
            assert main(["sessions", *arguments, "--json", "--home", str(opened.home.data_dir)]) == 0
            found = [one["session"] for one in json.loads(capsys.readouterr().out)["results"]]
            assert ("ses_a" in found, len(found) == 1) == (True, arguments != ["--file", "app.py"])


def test_resume_prints_a_shell_command(told: Any, index: VaultIndex, capsys: Out) -> None:
    assert told("resume", "fix", "login") == "opencode -s ses_login\n"
    assert json.loads(told("resume", "ses_login", "--json"))["command"] == ["opencode", "-s", "ses_login"]
    assert main(["resume", "agent-77", "--home", str(index.home.data_dir)]) == 0
    printed = capsys.readouterr()
    assert printed.out == "claude --resume b111-bills\n"
    assert "“Work agent-77” is a subagent's" in printed.err
    assert "does not exist: /home/user/shop" in printed.err


def test_resume_exec_replaces_the_process_in_the_session_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/opencode").write_text('#!/bin/sh\necho "$PWD" "$@"\nexit 7\n')
    (tmp_path / "bin/opencode").chmod(0o755)
    text = transcript("ses_a", [("2026-11-20 09:00", "User", "Hi.")], directory=str(folder))
    with held(tmp_path, {"ses_a": text}) as opened:
        path = {"PATH": f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}"}
        ended = vx("resume", "ses_a", "--exec", "--home", str(opened.home.data_dir), environ=path)
    assert (ended.returncode, ended.stdout) == (7, f"{folder} -s ses_a\n")


def test_resume_exec_reports_a_missing_program_or_folder(
    tmp_path: Path, index: VaultIndex, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    home = ("--home", str(index.home.data_dir))
    assert main(["resume", "0199-codex", "--exec", *home]) != 0
    assert "program not found: codex" in capsys.readouterr().err
    (tmp_path / "opencode").symlink_to("/bin/true")
    assert main(["resume", "ses_login", "--exec", *home]) != 0
    said = capsys.readouterr().err
    assert "does not exist: /home/user/api" in said
    assert "opencode -s ses_login" in said


def memory_list(index: VaultIndex, **arguments: Any) -> str:
    return answer_tool(partial(dispatch, index), {"name": "memory_list", "arguments": arguments})


def test_memory_list_returns_sessions_that_touched_a_file(index: VaultIndex) -> None:
    assert "wrote ×2" in memory_list(index, touched="/home/user/api/src/app.py")
    assert "total: 3" in memory_list(index, touched="src/app.py", kind="session")
    assert "cursor: 1" in memory_list(index, touched="src/app.py", limit=1)
    assert memory_list(index, touched="", summary=False, kind="note").startswith("total: 1\n")
    assert memory_list(index, client="codex").startswith("total: 1\n")
    with pytest.raises(UsageError, match="sessions has no parameter 'tags'"):
        memory_list(index, summary=True, tags=["x"])
    with pytest.raises(UsageError, match="need kind session, not note"):
        memory_list(index, summary=True, kind="note")
