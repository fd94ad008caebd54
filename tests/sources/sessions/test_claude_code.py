"""Reading sessions of Claude Code: the text of the current branch, and the names of lost parts."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sources.sessions.claude import BEGAN, Json, Writer, read, told
from vault_index.sources.sessions.claude_code import ClaudeCode
from vault_index.sources.sessions.model import ToolCall

SESSION = Writer(Path()).session
REFUSED = (
    "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse the old one"
)


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    return Writer(tmp_path)


def test_claude_code_reads_reasoning_output_and_diffs_on_request(writer: Writer) -> None:
    writer.prompt("Change it")
    writer.answer({"type": "thinking", "thinking": "It is inverted."})
    writer.call("a", "Edit", file_path="app.py")
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a != b", "+a == b"]}]
    writer.result("a", "The file was updated", toolUseResult={"structuredPatch": patch})
    messages, _ = writer.read("reasoning", "output", "diffs")
    assert told(messages)[1] == "assistant: It is inverted."
    (call,) = messages[-1].parts
    assert isinstance(call, ToolCall)
    assert (call.output, call.diff) == ("The file was updated", "@@ -1,1 +1,1 @@\n-a != b\n+a == b")
    (call,) = writer.read()[0][-1].parts
    assert isinstance(call, ToolCall)
    assert (call.output, call.diff) == ("", "")


def test_claude_code_skips_text_that_the_client_writes_for_the_user(writer: Writer) -> None:
    prompts = json.loads(Path(__file__).with_name("claude_prompts.json").read_text("utf-8"))
    for content, _ in prompts:
        writer.prompt(content)
    assert writer.told() == [f"user: {one}" for _, said in prompts for one in said]


def test_claude_code_skips_text_of_the_client_itself(writer: Writer) -> None:
    writer.prompt("Go on")
    writer.prompt("The whole text of a skill", isMeta=True)
    writer.attachment("hook_additional_context", content=["what a hook recalled"])
    synthetic = {"id": "x", "model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]}
    writer.line("assistant", message=synthetic)
    failed = {"id": "y", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529 overloaded"}]}
    writer.line("assistant", message=failed, isApiErrorMessage=True)
    messages, _ = writer.read()
    assert told(messages) == ["user: Go on"]
    assert [message.error for message in messages if message.error] == ["API Error: 529 overloaded"]
    assert [message.model for message in messages] == ["", "", ""]


def test_claude_code_reads_dialogue_answers_and_refusals_as_the_user(writer: Writer) -> None:
    writer.prompt("Plan it")
    writer.call("a", "AskUserQuestion", questions=[])
    writer.result("a", "Your questions have been answered", toolUseResult={"answers": {"Which base?": "Postgres"}})
    writer.call("b", "ExitPlanMode", plan="1. Migrate")
    writer.result("b", REFUSED, failed=True, toolUseResult="Error")
    writer.answer("Then the old one.")
    assert writer.told() == [
        "user: Plan it", "assistant: AskUserQuestion `` completed", "user: Which base?: Postgres",
        "assistant: 1. Migrate", "assistant: ExitPlanMode `` error", "user: use the old one",
        "assistant: Then the old one.",
    ]  # fmt: skip


FOUR = ["user: First", "assistant: One.", "user: Second", "assistant: Two."]


@pytest.mark.parametrize(
    ("write", "left_out"),
    [
        (lambda w: [w.attachment(parentUuid="one", uuid="hook"), w.prompt("Second", parentUuid="hook")], 0),
        (lambda w: [w.line("progress", parentUuid="one"), w.line("progress"), w.prompt("Second")], 0),
        (lambda w: [w.line("system", subtype="api_error", parentUuid="first"), w.prompt("Second")], 0),
        (lambda w: [w.prompt("Continue.", isMeta=True, parentUuid="first"), w.prompt("Second")], 0),
        (lambda w: [w.answer("Two at once", parentUuid="first", uuid="two"), w.prompt("Second")], 0),
        (lambda w: [w.prompt("Second", parentUuid="first")], 0),
        (lambda w: [w.prompt("Second", parentUuid="one"), w.prompt("Of another terminal", parentUuid="last")], 0),
        (lambda w: [w.prompt("Second", parentUuid="one"),
                    w.raw({"type": "last-prompt", "leafUuid": "0" * 8, "explicit": True})], 2),
        (lambda w: [w.prompt("Second", parentUuid="one"), w.answer("Two."), w.prompt("3", parentUuid="one")], 4),
        (lambda w: [w.prompt("Again", parentUuid=None), w.answer("One again.")], 4),
        (lambda w: [w.prompt("Look", isSidechain=True), w.answer("Seen.", isSidechain=True)], 2),
    ],
    ids=["a hook's branch", "late lines of a helper", "a retry", "a continuation", "parallel answers", "a lost place",
         "two terminals", "a rewind", "two rewinds", "a rewind to the beginning", "a subagent of old versions"],
)  # fmt: skip
def test_claude_code_skips_only_rewinds_and_counts_them(
    writer: Writer, write: Callable[[Writer], object], left_out: int
) -> None:
    writer.prompt("First", uuid="first")
    writer.answer("One.", uuid="one")
    writer.prompt("Badly asked")
    writer.answer("What?", uuid="last")
    write(writer)
    messages, problems = writer.read()
    assert [problem.split()[0] for problem in problems] == ([str(left_out)] if left_out else [])
    shown = sum(b'"text": ' in line or b'"content": "' in line for line in writer.lines)
    hidden = sum(b'"isMeta": true' in line for line in writer.lines)
    assert len(messages) == shown - hidden - left_out


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (  # two calls at once are branches of one answer
            lambda w: [w.prompt("First"), w.call("a", command="ls one", uuid="a"),
                       w.call("b", new=False, command="ls two", uuid="b"), w.result("a", parentUuid="a"),
                       w.result("b", "Exit code 1\n", failed=True, parentUuid="b"), w.answer("Listed.")],
            [FOUR[0], "assistant: Bash `ls one` exit 0", "assistant: Bash `ls two` exit 1", "assistant: Listed."],
        ),
        (  # parents that are in no file
            lambda w: [w.prompt("First"), w.answer("One.", parentUuid="lost"), w.prompt("Second", parentUuid="none"),
                       w.answer("Two.", parentUuid="nowhere")],
            FOUR,
        ),
        (  # a prompt queued during an answer, and unfinished commands
            lambda w: [w.prompt("First"), w.call("a", command="make"),
                       w.result("a", "", toolUseResult={"stdout": "", "interrupted": True}),
                       w.attachment("queued_command", prompt="And the tests, too", commandMode="prompt"),
                       w.attachment("queued_command", prompt="<task-notification>…", commandMode="task-notification"),
                       w.attachment("queued_command", prompt="a plugin's", commandMode="prompt", isMeta=True),
                       w.call("b", command="make test"),
                       w.result("b", "", toolUseResult={"stdout": "", "backgroundTaskId": True})],
            [FOUR[0], "assistant: Bash `make` completed", "user: And the tests, too",
             "assistant: Bash `make test` completed"],
        ),
    ],
)  # fmt: skip
def test_claude_code_reads_the_current_branch(
    writer: Writer, write: Callable[[Writer], object], told: list[str]
) -> None:
    write(writer)
    assert writer.told() == told


def test_claude_code_counts_a_repeated_line_once_and_names_an_id_conflict(writer: Writer) -> None:
    writer.prompt("First", uuid="a")
    writer.lines.append(writer.lines[-1])
    writer.answer("One.", uuid="b")
    messages, problems = writer.read()
    assert told(messages) == ["user: First", "assistant: One."]
    assert problems == []
    writer.prompt("Something else", uuid="a")
    assert ["one id" in problem for problem in writer.read()[1]] == [True]


@pytest.mark.parametrize("inside", ["", "/.claude/worktrees/feature"])  # a worktree that the client makes
def test_claude_code_lists_the_head_of_a_session(writer: Writer, inside: str) -> None:
    writer.raw({"type": "mode", "mode": "normal", "sessionId": SESSION})
    writer.prompt("caveat", isMeta=True, cwd=f"/home/user/shop{inside}")
    writer.prompt("Mend the login\nplease", cwd=f"/home/user/shop{inside}")
    writer.answer("Done.")
    writer.write()
    session = ClaudeCode(writer.home).listing().sessions[SESSION].session
    assert (session.title, session.directory, session.project) == ("Mend the login", f"/home/user/shop{inside}", "shop")
    assert (session.version, session.created, session.parent, session.forked_from) == ("2.1.330", BEGAN + 1000, "", "")


def test_claude_code_titles_contain_no_part_of_a_secret(writer: Writer) -> None:
    writer.prompt(f"<private>hidden</private> {'x' * 80} AKIAIOSFODNN7EXAMPLE and ghp_{'a1B2' * 9}{'x' * 200}")
    writer.write()
    history(writer.home, {"display": "y" * 85 + " AKIAIOSFODNN7EXAMPLE", "timestamp": BEGAN, "sessionId": "gone"})
    titles = [one.session.title for one in ClaudeCode(writer.home).listing().sessions.values()]
    assert len(titles) == 2
    assert [title for title in titles if any(word in title for word in ("AKIA", "ghp", "hidden"))] == []


def named(title: object, kind: str = "custom-title", key: str = "customTitle") -> Json:
    return {"type": kind, key: title}


def test_claude_code_title_prefers_user_then_client_then_prompt(tmp_path: Path) -> None:
    by_client = named("Login mended", "ai-title", "aiTitle")
    cases: list[tuple[list[Json], str]] = [
        ([], "Mend the login"),
        ([by_client], "Login mended"),
        ([named("Shop"), by_client], "Shop"),
        ([named("Shop"), named("Till")], "Till"),
        ([named("Shop"), named("")], "Mend the login"),
        ([{**named("Login", "summary", "summary"), "leafUuid": "here"}], "Login"),
        ([{**named("Of another session", "summary", "summary"), "leafUuid": "elsewhere"}], "Mend the login"),
        ([named(["no", "text"], "ai-title", "aiTitle")], "Mend the login"),
    ]
    for number, (lines, title) in enumerate(cases):
        writer = Writer(tmp_path / str(number))
        writer.prompt("Mend the login")
        writer.answer("Done.", uuid="here")
        for line in lines:
            writer.raw(line)
        client = ClaudeCode(writer.write().home)
        session = client.read(client.listing().sessions[SESSION], ()).session
        assert (session.title, session.updated) == (title, BEGAN + 1000)


@pytest.mark.parametrize("inside", ["subagents", "subagents/run-1", "subagents/workflows/run-1"])
def test_claude_code_subagent_is_a_session_linked_by_its_call(writer: Writer, inside: str) -> None:
    writer.prompt("Who calls check()?")
    writer.call("a", "Task", description="Find usages", prompt="Where is check() called?")
    writer.result("a", "in app.py", toolUseResult={"agentId": "a115", "status": "completed"})
    writer.write()
    agent = Writer(writer.home, agent="a115", inside=inside)
    agent.prompt("Where is check() called?")
    agent.answer("In app.py.", attributionAgent="Explore")
    agent.write()
    agent.file.with_suffix(".meta.json").write_text('{"agentType": "Explore", "description": "Find usages"}')
    assert writer.told()[1] == "assistant: Task `Find usages` completed → agent-a115"
    session = ClaudeCode(writer.home).listing().sessions["agent-a115"].session
    assert (session.parent, session.title, session.project) == (SESSION, "Find usages", "shop")
    messages, problems = read(writer.home, "agent-a115")
    assert told(messages) == ["user: Where is check() called?", "assistant: In app.py."]
    assert messages[1].agent == "Explore"
    assert problems == []
    client = ClaudeCode(writer.home)
    assert client.resumable("agent-a115") == SESSION == client.resumable(SESSION)


def test_claude_code_finds_subagents_of_older_versions(writer: Writer) -> None:
    agent = Writer(writer.home, agent="b7")
    agent.prompt("Look")
    agent.answer("Seen.")
    folder = writer.home / "projects" / agent.project
    folder.mkdir(parents=True)
    (folder / "agent-b7.jsonl").write_bytes(b"\n".join(agent.lines) + b"\n")
    writer.prompt("Delegate")
    kept = writer.call("a", "Task", description="Look")
    writer.prompt("Look", isSidechain=True, parentUuid=None)
    writer.answer("Seen.", isSidechain=True)
    writer.result("a", parentUuid=kept)
    writer.prompt("Look again", isSidechain=True)
    writer.write()
    sessions = ClaudeCode(writer.home).listing().sessions
    assert {id_: one.session.parent for id_, one in sessions.items()} == {"agent-b7": SESSION, SESSION: ""}
    assert writer.told() == ["user: Delegate", "assistant: Task `Look` completed"]


def test_claude_code_ignores_sessions_without_messages(tmp_path: Path) -> None:
    cleared = Writer(tmp_path, "cleared")
    cleared.prompt("<command-name>/clear</command-name>")
    cleared.raw({"type": "custom-title", "customTitle": "Shop"})
    cleared.write()
    warm = Writer(tmp_path, "warm", agent="f00")
    warm.prompt("Warmup")
    warm.answer("I am ready.")
    warm.write()
    own = Writer(tmp_path, agent="acompact-9f")
    own.prompt("Everything that was said, to be summed up")
    own.write()
    Writer(tmp_path, "empty").write(end=b"")
    (tmp_path / "projects/-home-user-shop/notes.txt").write_text("no session")
    (tmp_path / "projects/-home-user-shop/a b.jsonl").write_bytes(b"")
    listing = ClaudeCode(tmp_path).listing()
    assert (listing.sessions, listing.faults, listing.problems) == ({}, (), ())


def test_claude_code_fork_of_older_versions_names_its_origin(writer: Writer) -> None:
    copied: Json = {"forkedFrom": {"sessionId": "old", "messageUuid": "x"}}
    writer.prompt("First", **copied)
    writer.answer("One.", **copied)
    writer.prompt("Another way")
    writer.write()
    assert ClaudeCode(writer.home).listing().sessions[SESSION].session.forked_from == "old"


def test_claude_code_session_in_two_folders_uses_the_newer_file(tmp_path: Path) -> None:
    for newer in ("-a", "-b"):
        for project in ("-a", "-b"):
            writer = Writer(tmp_path, project=project)
            writer.prompt(f"In {project}")
            writer.write()
            os.utime(writer.file, (1, 2 if project == newer else 1))
        assert told(read(tmp_path, SESSION)[0]) == [f"user: In {newer}"]


def test_claude_code_reports_an_unknown_version_once(tmp_path: Path) -> None:
    for number in range(3):
        writer = Writer(tmp_path, f"s{number}")
        writer.prompt("Hello", version="3.0.1" if number else "2.9.0")
        writer.write()
    client = ClaudeCode(tmp_path)
    assert client.listing().problems == client.listing().problems
    assert client.listing().problems == ("unknown Claude Code version 3.0.1: its sessions may be misread",)


def history(home: Path, *prompts: Json) -> None:
    text = "".join(json.dumps({"project": "/home/user/shop", **prompt}) + "\n" for prompt in prompts)
    (home / "history.jsonl").write_text(text)


def test_claude_code_keeps_the_prompts_of_a_deleted_session(tmp_path: Path) -> None:
    writer = Writer(tmp_path, "there")
    writer.prompt("Still there")
    writer.write()
    history(
        tmp_path,
        {"display": "Swept, one\nmore", "timestamp": BEGAN, "sessionId": "gone"},
        {"display": "Still there", "timestamp": BEGAN, "sessionId": "there"},
        {"display": "/clear", "timestamp": BEGAN + 1, "sessionId": "gone"},
        {"display": "Swept, two", "timestamp": BEGAN + 2, "sessionId": "gone"},
        {"display": "Nobody knows whose", "timestamp": BEGAN},
        {"display": "/clear", "timestamp": BEGAN, "sessionId": "nothing said"},
    )
    client = ClaudeCode(tmp_path)
    listing = client.listing()
    assert {id_: one.messages for id_, one in listing.sessions.items() if one.partial} == {"gone": 2}
    gone = listing.sessions["gone"].session
    assert (gone.title, gone.project, gone.created) == ("Swept, one", "shop", BEGAN)
    messages, _ = read(tmp_path, "gone")
    assert told(messages) == ["user: Swept, one\nmore", "user: Swept, two"]
    before = listing.sessions["gone"].stamp
    history(tmp_path, {"display": "Swept, one", "timestamp": BEGAN, "sessionId": "gone"})
    assert client.listing().sessions["gone"].stamp != before


UNKNOWN: list[tuple[dict[str, Any], str]] = [
    ({"type": "telepathy", "thought": "hm"}, "lines of type 'telepathy'"),
    ({}, "lines of type ''"),
    ({"type": "user", "uuid": "u", "message": {"content": 7}}, "lines of type 'user' without content"),
    ({"type": "user", "uuid": "u", "message": {"content": ["x"]}}, "blocks that are not objects"),
    ({"type": "user", "uuid": "u", "message": {"content": [{"type": "song"}]}}, "blocks of type 'song'"),
    ({"type": "user", "uuid": "u", "message": {"content": [{"type": "text"}]}}, "blocks of type 'text' without"),
]  # fmt: skip


def test_claude_code_names_each_unknown_kind_once(tmp_path: Path) -> None:
    for number, (value, named) in enumerate(UNKNOWN):
        writer = Writer(tmp_path / str(number))
        writer.prompt("First")
        writer.raw(value)
        writer.raw({**value, "uuid": "another"})
        writer.prompt("Second")
        messages, problems = writer.read()
        assert told(messages) == ["user: First", "user: Second"]
        assert [problem.count(named) for problem in problems] == [1]
        assert str(writer.file) in problems[0]
