"""Sessions of all clients: lists, filters by file, summaries, and resuming."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import write
from tests.query.sessions import make_home
from tests.query.transcripts import held, transcript
from tests.sources.opencode.stores import FIXTURES
from tests.tables import tables
from vault_index import VaultIndex
from vault_index.config.edit import set_value
from vault_index.errors import NotFoundError, UsageError

CASES = tables(__file__)

LOGIN = transcript("ses_login", [
    ("2026-11-20 09:00", "User", "The login is inverted."),
    ("2026-11-20 09:01", "Assistant",
     "- read: `src/app.py` (ok)\n- edit: `/home/user/api/src/app.py` (ok)\n- bash: `pytest -q` (exit 1)"),
    ("2026-11-20 09:20", "User", "Again."),
    ("2026-11-20 14:00", "Assistant", "- edit: `src/app.py` (ok)\n- bash: `pytest -q` (exit 0)\n\nDone."),
], ended="2026-11-20 14:10", title="Fix the login", tokens=1200)  # fmt: skip
SHOP = {"client": "claude-code", "project": "shop", "directory": "/home/user/shop"}
BILLS = transcript("b111-bills", [
    ("2026-11-19 23:50", "User", "Number the bills."),
    ("2026-11-20 00:10", "Assistant", "- Read: `/home/user/shop/src/app.py` (ok)\n- Bash: `make all` (error: `Exit`)"),
    ("2026-11-20 00:15", "Assistant",
     "- Write: `/home/user/shop/bills.py` (ok)\n- Agent: `Look` → [[agent-77]] (ok)"),
], tokens=500, **SHOP)  # fmt: skip
AGENT = transcript("agent-77", [
    ("2026-11-20 00:16", "Assistant", "- Edit: `/home/user/shop/cart.py` (ok)\n- Edit: `src/x.py` (error: `none`)"),
], parent="[[b111-bills]]", **SHOP)  # fmt: skip
PATCH = transcript("0199-codex", [
    ("2026-11-21 10:00", "User", "Patch."),
    ("2026-11-21 10:01", "Assistant",
     "- exec_command: `sed -n 1,200p src/app.py` (exit 0)\n"
     "- apply_patch: `*** Begin Patch *** Update File: web/index.ts` (ok)"),
], client="codex", model="gpt-x")  # fmt: skip
ALL = {"ses_login": LOGIN, "b111-bills": BILLS, "agent-77": AGENT, "0199-codex": PATCH}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with held(tmp_path_factory.mktemp("held"), ALL) as opened:
        yield opened


def names(index: VaultIndex, **options: object) -> list[str]:
    return [one.session for one in index.sessions(**options).results]  # type: ignore[arg-type]


def test_sessions_lists_all_clients_newest_first(index: VaultIndex) -> None:
    found = index.sessions()
    assert [one.session for one in found.results] == ["0199-codex", "ses_login", "b111-bills"]
    assert found.total == 3
    one = found.results[1]
    assert (one.client, one.title, one.project, one.directory) == ("opencode", "Fix the login", "api", "/home/user/api")
    assert (one.turns, one.tokens, one.files, one.commands) == (4, 1200, 1, 2)
    assert one.duration == 30 * 60  # 9:00 to 9:20 and 14:00 to 14:10
    assert found.results[0].tokens is None
    assert "edits" not in asdict(one) or one.edits is None


@pytest.mark.parametrize(("options", "expected"), CASES["sessions_filters_by_client_project_and_time"])
def test_sessions_filters_by_client_project_and_time(
    index: VaultIndex, options: dict[str, object], expected: list[str]
) -> None:
    assert names(index, **options) == expected


@pytest.mark.parametrize(("file", "expected"), CASES["sessions_of_a_file_tell_writes_from_reads"])
def test_sessions_of_a_file_tell_writes_from_reads(
    index: VaultIndex, file: str, expected: dict[str, list[int]]
) -> None:
    found = index.sessions(file=file)
    assert {one.session: [one.edits, one.reads] for one in found.results} == expected
    assert found.total == len(expected)


@pytest.mark.parametrize(("options", "days", "clients"), CASES["session_days_count_by_first_and_last_day"])
def test_session_days_count_by_first_and_last_day(
    index: VaultIndex, options: dict[str, Any], days: list[object], clients: list[object]
) -> None:
    found = index.session_days(**options)
    assert [[one.day, one.sessions] for one in found.results] == days
    assert sorted([one.name, one.sessions] for one in found.clients) == clients
    assert found.total == sum(one.sessions for one in found.projects) == sum(one.sessions for one in found.clients)


def test_sessions_find_a_file_by_any_name(tmp_path: Path) -> None:
    names = (
        "LoginPage.tsx", "файл.py", "文件管理.py", "日.md", "my file.py", "Übersicht.md", "a.b-c_d.test.ts", ".env",
        "don't.md", "C:\\proj\\win.cs", "src/[id]/page.tsx", "x", "foo+bar.py", "__init__.py",
    )  # fmt: skip
    texts = {
        f"ses_{number}": transcript(f"ses_{number}", [("2026-11-20 09:00", "Assistant", f"- edit: `{name}` (ok)")])
        for number, name in enumerate(names)
    }
    with held(tmp_path, texts) as opened:
        found = {name: [one.session for one in opened.sessions(file=name).results] for name in names}
    assert found == {name: [f"ses_{number}"] for number, name in enumerate(names)}


def test_sessions_count_a_call_repeated_by_two_chunks_once(tmp_path: Path) -> None:
    calls = "\n".join(f"- edit: `src/{'app' if number % 2 else 'other'}.py` (ok)" for number in range(40))
    text = transcript("ses_a", [("2026-11-20 09:00", "Assistant", calls)])
    with held(tmp_path, {"ses_a": text}, tokens=40) as opened:
        assert opened.sessions(file="app.py").results[0].edits == 20


def test_session_summary_lists_the_work_by_project(index: VaultIndex) -> None:
    told = index.session_summary(since="2026-11-20", until="2026-11-20")
    assert (told.sessions, told.total, told.tokens) == (2, 2, 1200)  # work begun the day before belongs to that day
    api, shop = told.results
    assert (api.project, api.duration, api.commands, api.failed) == ("api", 30 * 60, 2, 1)
    assert [(one.title, one.client, one.began[11:16], one.ended[11:16]) for one in api.sessions] == [
        ("Fix the login", "opencode", "09:00", "14:10")
    ]
    assert [(one.path, one.edits) for one in api.written] == [("src/app.py", 2)]
    assert [(one.program, one.runs, one.failed) for one in api.programs] == [("pytest", 2, 1)]
    assert [(one.command, one.failed, one.runs, one.outcome) for one in api.failing] == [("pytest -q", 1, 2, "ok")]
    assert (shop.project, shop.tokens, shop.subagents, len(shop.sessions)) == ("shop", None, 1, 1)
    assert shop.sessions[0].began[11:16] == "00:10"  # the evening before belongs to another day
    assert {one.path for one in shop.written} == {"bills.py", "cart.py"}
    assert [(one.command, one.outcome) for one in shop.failing] == [("make all", "error: Exit")]


def test_sessions_of_real_clients_tell_who_wrote_a_file(tmp_path: Path) -> None:
    home, client = make_home(tmp_path)
    client.close()
    shutil.copy(FIXTURES / "opencode.db", tmp_path / "opencode")
    recorded = ("amp", "claude-code", "codex", "copilot", "gemini", "pi", "qwen")
    for name in recorded:
        set_value(home, f"sessions.{name}.enabled", "true")
        set_value(home, f"sessions.{name}.data", str(FIXTURES.parent / "sessions" / name))
    with VaultIndex.open(home) as opened:
        opened.sync()
        touched = opened.sessions(file="/home/user/demo/shop/app.py").results
        assert {one.client for one in touched if one.edits} == {*recorded}
        [agent] = [one for one in touched if one.parent]
        assert (agent.edits, agent.reads) == (0, 1)
        assert opened.resume(agent.session).command == ("claude", "--resume", agent.parent)
        [shop] = opened.session_summary(since="2026-11-01", project="shop").results
        assert [(one.path, one.edits) for one in shop.written] == [("app.py", len(recorded))]
        assert [one.outcome for one in shop.failing] == ["exit 2"]
        assert opened.sessions(client="opencode", subagents=True).total == 4
        [one] = opened.sessions(client="opencode", file="app.py").results
        assert (one.session, one.edits, one.reads) == ("ses_e02fa71d5ffeihEmyQeshcxlu5", 1, 3)


def test_resume_enters_the_folder_and_runs_the_command_of_the_client(tmp_path: Path) -> None:
    commands = {
        "opencode": ("opencode", "-s"),
        "claude-code": ("claude", "--resume"),
        "codex": ("codex", "resume"),
        "gemini": ("gemini", "--resume"),
        "copilot": ("copilot", "--resume"),
        "pi": ("pi", "--session"),
        "qwen": ("qwen", "--resume"),
        "amp": ("amp", "threads", "continue"),
        "crush": ("crush", "--session"),
    }
    folder = tmp_path / "it's here"
    folder.mkdir()
    said = [("2026-11-20 09:00", "User", "Hi.")]
    texts = {client: transcript(client, said, client=client, directory=str(folder)) for client in commands}
    with held(tmp_path, texts) as opened:
        for client, command in commands.items():
            told = opened.resume(client)
            assert (told.command, told.there, told.client) == ((*command, client), True, client)
            assert told.shell == f"""cd '{tmp_path}/it'"'"'s here' && {" ".join(told.command)}"""


@pytest.mark.parametrize("ref", ["ses_login", "ses_lo", "fix login", "LOGIN", "api/ses_login.md"])
def test_resume_finds_a_session_by_id_path_or_title(index: VaultIndex, ref: str) -> None:
    assert index.resume(ref).session == "ses_login"
    assert index.resume(index.resume(ref).id[:10]).session == "ses_login"


def test_resume_finds_a_client_id_that_begins_like_note_ids(tmp_path: Path) -> None:
    id_ = "0199c0de-1111-7222-8333-444455556666"
    with held(tmp_path, {id_: transcript(id_, [("2026-11-20 09:00", "User", "Hi.")], client="codex")}) as opened:
        for number in "12":
            note = f"---\nid: 0199c0de-aaaa-4bbb-8ccc-{number * 12}\n---\n\nNote {number}.\n"
            write(tmp_path / "vault", {f"80-memory/{number}.md": note})
        opened.sync(source="vault")
        assert {opened.resume(ref).session for ref in ("0199c0de", id_, id_.upper())} == {id_}


def test_resume_names_a_missing_or_ambiguous_session(index: VaultIndex) -> None:
    with pytest.raises(NotFoundError, match="session not found: 'nowhere'"):
        index.resume("nowhere")
    with pytest.raises(UsageError, match="3 sessions match"):
        index.resume("Work")
    with pytest.raises(UsageError, match=r"empty\.md is not a session"):
        index.resume("empty.md")


def test_resume_refuses_an_id_that_looks_like_an_option(tmp_path: Path) -> None:
    ids = {"--dangerously-skip": "codex", "a; rm -rf .": "codex", "ses_a": "another"}
    said = [("2026-11-20 09:00", "User", "Hi.")]
    texts = {str(n): transcript(session, said, client=client) for n, (session, client) in enumerate(ids.items())}
    with held(tmp_path, texts) as opened:
        for number, client in enumerate(ids.values()):
            with pytest.raises(UsageError, match=f"resuming sessions of {client} is not supported"):
                opened.resume(f"api/{number}.md")
