"""What is read of sessions of Claude Code: what was said, on the branch that counts; and what is lost is named."""

import json
import os
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from tests.sources.sessions.claude import BEGAN, Json, Writer, read, told
from vault_index.sources.sessions.claude_code import ClaudeCode
from vault_index.sources.sessions.client import RewoundError
from vault_index.sources.sessions.model import ToolCall

SESSION = Writer(Path()).session
REFUSED = (
    "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse the old one"
)


# --- what was said -------------------------------------------------------------------------------------------------


def test_a_turn_is_the_prompt_its_answer_and_the_calls_with_what_came_of_them(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    prompt = writer.prompt("Mend the login 🙂")
    writer.attachment("skill_listing", content="- everything that the client can do")
    writer.answer({"type": "thinking", "thinking": "It is inverted."})
    writer.answer("I look first.", new=False)
    writer.call("a", "Read", new=False, file_path="app.py")
    writer.result("a", "1\tsecret of the file")
    writer.call("b", command="python3 app.py && ls /nowhere", description="Run it")
    writer.result("b", "Exit code 2\nls: cannot access", failed=True, toolUseResult="Error: Exit code 2")
    writer.call("c", command="true")
    writer.result("c", "")
    writer.call("d", "Edit", file_path="app.py")
    writer.result("d", "<tool_use_error>String not found</tool_use_error>", failed=True)
    writer.answer("Done.")
    writer.line("system", subtype="turn_duration", durationMs=5)
    writer.write()
    messages, problems = read(tmp_path, SESSION)
    assert problems == []
    assert told(messages) == [
        "user: Mend the login 🙂",
        "assistant: I look first.",
        "assistant: Read `app.py` completed",
        "assistant: Bash `python3 app.py && ls /nowhere` exit 2",
        "assistant: Bash `true` exit 0",
        "assistant: Edit `app.py` error",
        "assistant: Done.",
    ]
    assert {message.answers for message in messages[1:]} == {prompt}
    assert [message.tokens for message in messages] == [0, 120, 0, 0, 120, 120, 120, 120]
    assert {message.model for message in messages[1:]} == {"claude-opus-5-5"}
    assert messages[0].created == BEGAN
    assert all(message.finished for message in messages)
    (failed,) = messages[6].parts
    assert isinstance(failed, ToolCall)
    assert failed.error == "String not found"


@pytest.mark.parametrize("how", ["interrupted", "backgroundTaskId"])
def test_a_command_that_did_not_come_to_its_end_has_no_exit(tmp_path: Path, how: str) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Run it")
    writer.call("a", command="make")
    writer.result("a", "", toolUseResult={"stdout": "", how: True})
    writer.write()
    assert told(read(tmp_path, SESSION)[0])[1] == "assistant: Bash `make` completed"


def test_reasoning_output_and_diffs_are_there_where_they_are_asked_for(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Change it")
    writer.answer({"type": "thinking", "thinking": "It is inverted."})
    writer.call("a", "Edit", file_path="app.py")
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a != b", "+a == b"]}]
    writer.result("a", "The file was updated", toolUseResult={"structuredPatch": patch})
    writer.write()
    messages, _ = read(tmp_path, SESSION, "reasoning", "output", "diffs")
    assert told(messages)[1] == "assistant: It is inverted."
    (call,) = messages[-1].parts
    assert isinstance(call, ToolCall)
    assert (call.output, call.diff) == ("The file was updated", "@@ -1,1 +1,1 @@\n-a != b\n+a == b")
    (call,) = read(tmp_path, SESSION)[0][-1].parts
    assert isinstance(call, ToolCall)
    assert (call.output, call.diff) == ("", "")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Plain", ["Plain"]),
        ([{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}], ["One", "Two"]),
        ("<system-reminder>\nToday is Monday\n</system-reminder>\nWhy?", ["Why?"]),
        ("<system-reminder>\nToday is Monday\n</system-reminder>", []),
        (
            "<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n"
            "<command-args>the login</command-args>",
            ["/review the login"],
        ),
        ("<command-name>/clear</command-name>\n <command-message>clear</command-message>", []),
        ("<local-command-stdout>Bye</local-command-stdout>", []),
        ("<bash-input>make test</bash-input>", ["Bash `make test` completed"]),
        ("<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>", []),
        ("<task-notification>\n<task-id>a1</task-id>\n</task-notification>", []),
        ("[Request interrupted by user for tool use]", []),
        ("<b>Bold</b> is not the client's", ["<b>Bold</b> is not the client's"]),
        (
            [
                {"type": "text", "text": "See [Image #1]"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                {"type": "document", "title": "plan.pdf", "source": {"media_type": "application/pdf"}},
            ],
            ["See [Image #1]", "[image/png]", "[plan.pdf]"],
        ),
    ],
)
def test_prompts_without_what_the_client_writes_in_the_user_s_name(
    tmp_path: Path, content: object, said: Sequence[str]
) -> None:
    writer = Writer(tmp_path)
    writer.prompt("First")
    writer.prompt(content)
    writer.write()
    messages, problems = read(tmp_path, SESSION)
    assert told(messages) == ["user: First", *(f"user: {one}" for one in said)]
    assert problems == []


def test_what_the_client_says_itself_is_left_out(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Go on")
    writer.prompt("The whole text of a skill", isMeta=True)
    writer.attachment("hook_additional_context", content=["what a hook recalled"])
    synthetic = {"id": "x", "model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]}
    writer.line("assistant", message=synthetic)
    failed = {"id": "y", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529 overloaded"}]}
    writer.line("assistant", message=failed, isApiErrorMessage=True)
    writer.write()
    messages, _ = read(tmp_path, SESSION)
    assert told(messages) == ["user: Go on"]
    assert [message.error for message in messages if message.error] == ["API Error: 529 overloaded"]
    assert [message.model for message in messages] == ["", "", ""]


def test_a_prompt_that_waited_for_an_answer_is_the_user_s(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Start")
    writer.call("a", command="make")
    writer.result("a")
    writer.attachment("queued_command", prompt="And the tests, too", commandMode="prompt")
    writer.attachment("queued_command", prompt="<task-notification>…", commandMode="task-notification")
    writer.attachment("queued_command", prompt="a plugin's", commandMode="prompt", isMeta=True)
    writer.answer("Both are done.")
    writer.write()
    assert told(read(tmp_path, SESSION)[0]) == [
        "user: Start",
        "assistant: Bash `make` exit 0",
        "user: And the tests, too",
        "assistant: Both are done.",
    ]


def test_what_the_user_answered_or_refused_in_a_dialogue_is_the_user_s(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Plan it")
    writer.call("a", "AskUserQuestion", questions=[])
    writer.result("a", "Your questions have been answered", toolUseResult={"answers": {"Which base?": "Postgres"}})
    writer.call("b", "ExitPlanMode", plan="1. Migrate")
    writer.result("b", REFUSED, failed=True, toolUseResult="Error")
    writer.answer("Then the old one.")
    writer.write()
    assert told(read(tmp_path, SESSION)[0]) == [
        "user: Plan it",
        "assistant: AskUserQuestion `` completed",
        "user: Which base?: Postgres",
        "assistant: 1. Migrate",
        "assistant: ExitPlanMode `` error",
        "user: use the old one",
        "assistant: Then the old one.",
    ]


def test_compaction_leaves_what_stands_before_and_shows_its_summary(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Before")
    writer.answer("Answered before.")
    writer.compact(
        "This session is being continued from a previous conversation.\n\n"
        "<system-reminder>\nBash\n</system-reminder>\nSummary:\n1. Mend the login.\n\n"
        "If you need specific details from before compaction, read the full transcript at: /home/user/x.jsonl"
    )
    writer.prompt("After")
    writer.answer("Answered after.")
    writer.write()
    assert told(read(tmp_path, SESSION)[0]) == [
        "user: Before",
        "assistant: Answered before.",
        "summary: 1. Mend the login.",
        "user: After",
        "assistant: Answered after.",
    ]


# --- which lines count ---------------------------------------------------------------------------------------------


def test_what_was_taken_back_is_left_out(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("First")
    kept = writer.answer("One.")
    writer.prompt("Second, badly asked")
    writer.call("a", command="rm -r build")
    writer.result("a")
    writer.answer("Two.")
    writer.prompt("Second, better asked", parentUuid=kept)
    writer.raw({"type": "last-prompt", "leafUuid": "0" * 8, "explicit": True, "sessionId": SESSION})
    writer.answer("Three.")
    writer.write()
    messages, problems = read(tmp_path, SESSION)
    assert told(messages) == ["user: First", "assistant: One.", "user: Second, better asked", "assistant: Three."]
    assert problems == []


def test_going_back_to_the_first_prompt_leaves_nothing_of_the_old_one(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("First")
    writer.answer("One.")
    writer.prompt("First, again", parentUuid=None)
    writer.answer("Two.")
    writer.write()
    assert told(read(tmp_path, SESSION)[0]) == ["user: First, again", "assistant: Two."]


def test_calls_at_once_are_branches_of_one_answer_and_all_of_them_count(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Both, at once")
    first = writer.call("a", command="ls one")
    second = writer.call("b", new=False, command="ls two")
    writer.result("b", "Exit code 1\n", failed=True, parentUuid=second)
    writer.result("a", parentUuid=first)
    writer.answer("Both are listed.")
    writer.write()
    assert told(read(tmp_path, SESSION)[0]) == [
        "user: Both, at once",
        "assistant: Bash `ls one` exit 0",
        "assistant: Bash `ls two` exit 1",
        "assistant: Both are listed.",
    ]


@pytest.mark.parametrize("parent", ["nobody-knows", 7, ["x"], {"a": 1}])
def test_a_line_whose_parent_is_not_there_goes_on_from_the_one_before(tmp_path: Path, parent: object) -> None:
    writer = Writer(tmp_path)
    writer.prompt("First")
    writer.answer("One.", parentUuid="lost")
    writer.prompt("Second", parentUuid="lost, too")
    writer.answer("Two.", parentUuid=parent if isinstance(parent, str) else writer.last)
    writer.write()
    assert len(told(read(tmp_path, SESSION)[0])) == 4


def test_circles_end(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("First", uuid="a", parentUuid="c")
    writer.answer("One.", uuid="b", parentUuid="b")
    writer.prompt("Second", uuid="c", parentUuid="b")
    writer.write()
    assert told(read(tmp_path, SESSION)[0]) == ["user: First", "assistant: One.", "user: Second"]


def test_a_line_that_stands_twice_counts_once_and_another_of_its_id_is_named(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("First", uuid="a")
    writer.lines.append(writer.lines[-1])
    writer.answer("One.", uuid="b")
    writer.write()
    messages, problems = read(tmp_path, SESSION)
    assert told(messages) == ["user: First", "assistant: One."]
    assert problems == []
    writer.prompt("Something else", uuid="a")
    writer.write()
    assert ["one id" in problem for problem in read(tmp_path, SESSION)[1]] == [True]


def test_lines_without_ids_are_read_in_their_order(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    for text in ("First", "Second"):
        writer.prompt(text, uuid=None, parentUuid=None)
        writer.answer(f"To {text}.", uuid=None, parentUuid=None)
    writer.write()
    assert len(told(read(tmp_path, SESSION)[0])) == 4


def test_a_call_that_still_runs_is_not_finished_and_what_was_said_before_it_is(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Run it")
    writer.answer("I run it.")
    writer.call("a", new=False, command="make")
    writer.write()
    assert [message.finished for message in read(tmp_path, SESSION)[0]] == [True, True, False]


# --- which sessions there are --------------------------------------------------------------------------------------


def test_the_head_of_a_session(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.raw({"type": "mode", "mode": "normal", "sessionId": SESSION})
    writer.prompt("caveat", isMeta=True)
    writer.prompt("Mend the login\nplease")
    writer.answer("Done.")
    writer.write()
    session = ClaudeCode(tmp_path).listing().sessions[SESSION].session
    assert (session.title, session.directory, session.project) == ("Mend the login", "/home/user/shop", "shop")
    assert (session.version, session.created, session.parent, session.forked_from) == ("2.1.330", BEGAN + 1000, "", "")


def test_a_secret_in_the_first_prompt_is_not_cut_in_two(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("x" * 80 + " AKIAIOSFODNN7EXAMPLE and ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    writer.write()
    history(tmp_path, {"display": "y" * 85 + " AKIAIOSFODNN7EXAMPLE", "timestamp": BEGAN, "sessionId": "gone"})
    titles = [one.session.title for one in ClaudeCode(tmp_path).listing().sessions.values()]
    assert [title for title in titles if "AKIA" in title or "ghp" in title] == []


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([], "Mend the login"),
        ([{"type": "ai-title", "aiTitle": "Login mended"}], "Login mended"),
        ([{"type": "custom-title", "customTitle": "Shop"}, {"type": "ai-title", "aiTitle": "Login mended"}], "Shop"),
        ([{"type": "custom-title", "customTitle": "Shop"}, {"type": "custom-title", "customTitle": "Till"}], "Till"),
        (
            [{"type": "custom-title", "customTitle": "Shop"}, {"type": "custom-title", "customTitle": ""}],
            "Mend the login",
        ),
        ([{"type": "summary", "summary": "Login", "leafUuid": "here"}], "Login"),
        ([{"type": "summary", "summary": "Of another session", "leafUuid": "elsewhere"}], "Mend the login"),
        ([{"type": "ai-title", "aiTitle": ["no", "text"]}], "Mend the login"),
    ],
)
def test_the_title_is_the_user_s_else_the_client_s_else_the_first_prompt(
    tmp_path: Path, lines: Sequence[Json], title: str
) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Mend the login")
    writer.answer("Done.", uuid="here")
    for line in lines:
        writer.raw(line)
    writer.write()
    client = ClaudeCode(tmp_path)
    session, _ = client.read(client.listing().sessions[SESSION], (), [])
    assert session.title == title
    assert session.updated == BEGAN + 1000


@pytest.mark.parametrize("inside", ["subagents", "subagents/run-1", "subagents/workflows/run-1"])
def test_a_subagent_is_a_session_of_its_own_that_its_call_leads_to(tmp_path: Path, inside: str) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Who calls check()?")
    writer.call("a", "Task", description="Find usages", prompt="Where is check() called?")
    writer.result(
        "a", [{"type": "text", "text": "in app.py"}], toolUseResult={"agentId": "a115", "status": "completed"}
    )
    writer.write()
    agent = Writer(tmp_path, agent="a115", inside=inside)
    agent.prompt("Where is check() called?")
    agent.answer("In app.py.", attributionAgent="Explore")
    agent.write()
    agent.file.with_suffix(".meta.json").write_text('{"agentType": "Explore", "description": "Find usages"}')
    assert told(read(tmp_path, SESSION)[0])[1] == "assistant: Task `Find usages` completed → agent-a115"
    session = ClaudeCode(tmp_path).listing().sessions["agent-a115"].session
    assert (session.parent, session.title, session.project) == (SESSION, "Find usages", "shop")
    messages, problems = read(tmp_path, "agent-a115")
    assert told(messages) == ["user: Where is check() called?", "assistant: In app.py."]
    assert messages[1].agent == "Explore"
    assert problems == []
    client = ClaudeCode(tmp_path)
    assert client.resume("agent-a115") == ["claude", "--resume", SESSION] == client.resume(SESSION)


def test_subagents_of_older_versions_lie_beside_their_session_or_in_it(tmp_path: Path) -> None:
    agent = Writer(tmp_path, agent="b7")
    agent.prompt("Look")
    agent.answer("Seen.")
    folder = tmp_path / "projects" / agent.project
    folder.mkdir(parents=True)
    (folder / "agent-b7.jsonl").write_bytes(b"\n".join(agent.lines) + b"\n")
    writer = Writer(tmp_path)
    writer.prompt("Delegate")
    kept = writer.call("a", "Task", description="Look")
    writer.prompt("Look", isSidechain=True, parentUuid=None)
    writer.answer("Seen.", isSidechain=True)
    writer.result("a", parentUuid=kept)
    writer.prompt("Look again", isSidechain=True)
    writer.write()
    sessions = ClaudeCode(tmp_path).listing().sessions
    assert {id_: one.session.parent for id_, one in sessions.items()} == {"agent-b7": SESSION, SESSION: ""}
    assert told(read(tmp_path, SESSION)[0]) == ["user: Delegate", "assistant: Task `Look` completed"]


def test_sessions_in_which_nobody_said_anything_are_none(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    "copied", [{"forkedFrom": {"sessionId": "old", "messageUuid": "x"}}, {"requestSessionId": "old"}]
)
def test_a_fork_names_the_session_it_begins_with(tmp_path: Path, copied: Json) -> None:
    writer = Writer(tmp_path)
    writer.prompt("First", forkedFrom=copied.get("forkedFrom"))
    writer.answer("One.", **copied)
    writer.prompt("Another way")
    writer.answer("Two.")
    writer.write()
    original = Writer(tmp_path, "old")
    original.lines = [line.replace(SESSION.encode(), b"old") for line in writer.lines[:2]]
    original.write()
    sessions = ClaudeCode(tmp_path).listing().sessions
    assert {id_: one.session.forked_from for id_, one in sessions.items()} == {SESSION: "old", "old": ""}
    copies, originals = read(tmp_path, SESSION)[0][:2], read(tmp_path, "old")[0]
    assert [replace(one, end=0) for one in copies] == [replace(one, end=0) for one in originals]


def test_worktrees_that_the_client_makes_belong_to_the_project(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Go", cwd="/home/user/shop/.claude/worktrees/feature")
    writer.answer("Gone.")
    writer.write()
    assert ClaudeCode(tmp_path).listing().sessions[SESSION].session.project == "shop"


def test_of_a_session_in_two_folders_the_one_that_was_written_last_counts(tmp_path: Path) -> None:
    for newer in ("-a", "-b"):
        for project in ("-a", "-b"):
            writer = Writer(tmp_path, project=project)
            writer.prompt(f"In {project}")
            writer.write()
            os.utime(writer.file, (1, 2 if project == newer else 1))
        assert told(read(tmp_path, SESSION)[0]) == [f"user: In {newer}"]


def test_what_can_be_listed_is_listed_where_something_else_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for project in ("-a", "-b", "-c"):
        writer = Writer(tmp_path, f"in{project}", project=project)
        writer.prompt("Hello")
        writer.write()
    scandir = os.scandir

    def failing(folder: str) -> object:
        if os.fspath(folder).endswith("/-b"):
            raise PermissionError(13, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", failing)
    listing = ClaudeCode(tmp_path).listing()
    assert sorted(listing.sessions) == ["in-a", "in-c"]
    assert [fault.code for fault in listing.faults] == ["sessions_unreadable"]


def test_a_version_that_is_not_known_is_said_once(tmp_path: Path) -> None:
    for number in range(3):
        writer = Writer(tmp_path, f"s{number}")
        writer.prompt("Hello", version="3.0.1" if number else "2.9.0")
        writer.write()
    client = ClaudeCode(tmp_path)
    assert client.listing().problems == client.listing().problems
    assert client.listing().problems == ("Claude Code 3.0.1 is not known: what it wrote may be read wrongly",)


# --- prompts whose session is gone ---------------------------------------------------------------------------------


def history(home: Path, *prompts: Json) -> None:
    text = "".join(json.dumps({"project": "/home/user/shop", **prompt}) + "\n" for prompt in prompts)
    (home / "history.jsonl").write_text(text)


def test_of_a_session_that_was_swept_the_prompts_are_left(tmp_path: Path) -> None:
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
    assert {id_: (one.partial, one.messages) for id_, one in listing.sessions.items()} == {
        "there": (False, 1),
        "gone": (True, 2),
    }
    gone = listing.sessions["gone"].session
    assert (gone.title, gone.project, gone.created) == ("Swept, one", "shop", BEGAN)
    messages, _ = read(tmp_path, "gone")
    assert told(messages) == ["user: Swept, one\nmore", "user: Swept, two"]
    assert told(read(tmp_path, "gone", offset=messages[0].end)[0]) == ["user: Swept, two"]
    before = listing.sessions["gone"].stamp
    history(tmp_path, {"display": "Swept, one", "timestamp": BEGAN, "sessionId": "gone"})
    assert client.listing().sessions["gone"].stamp != before


def test_history_that_cannot_be_read_is_named_and_costs_nothing_else(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("Hello")
    writer.write()
    (tmp_path / "history.jsonl").write_bytes(b'{"display": "half\n[]\n{"display": 7, "sessionId": ["x"]}\n\xff\n')
    listing = ClaudeCode(tmp_path).listing()
    assert list(listing.sessions) == [SESSION]
    assert len(listing.problems) == 3


# --- losses are named ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"type": "telepathy", "thought": "hm"}, "lines of the type 'telepathy'"),
        ({"type": 7}, "lines of the type ''"),
        ({}, "lines of the type ''"),
        ({"type": "user", "uuid": "u"}, "lines of the type 'user' without content"),
        ({"type": "user", "uuid": "u", "message": {"content": 7}}, "lines of the type 'user' without content"),
        ({"type": "assistant", "uuid": "u", "message": []}, "lines of the type 'assistant' without content"),
        ({"type": "user", "uuid": "u", "message": {"content": ["x"]}}, "blocks that are no objects"),
        ({"type": "user", "uuid": "u", "message": {"content": [{"type": "song"}]}}, "blocks of the type 'song'"),
        (
            {"type": "user", "uuid": "u", "message": {"content": [{"type": "text"}]}},
            "blocks of the type 'text' without",
        ),
    ],
)
def test_what_is_not_known_is_named_once(tmp_path: Path, value: Json, named: str) -> None:
    writer = Writer(tmp_path)
    writer.prompt("First")
    writer.raw(value)
    writer.raw({**value, "uuid": "another"})
    writer.prompt("Second")
    writer.write()
    messages, problems = read(tmp_path, SESSION)
    assert told(messages) == ["user: First", "user: Second"]
    assert [problem.count(named) for problem in problems] == [1]
    assert str(writer.file) in problems[0]


def test_what_the_client_notes_for_itself_is_no_loss(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("First")
    for kind in ("mode", "cost-state", "file-history-snapshot", "queue-operation", "api-request-blob", "pr-link"):
        writer.raw({"type": kind})
    writer.lines.append(b'{"type":"api-request-shape","sessionId":"x","half')
    writer.write()
    assert read(tmp_path, SESSION)[1] == []


def test_a_line_that_is_still_being_written_waits(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.prompt("First")
    writer.write()
    whole = writer.file.read_bytes()
    writer.answer("One.")
    writer.write(end=b"")
    for size in (len(whole) + 1, len(whole) + 40, len(writer.file.read_bytes())):
        writer.file.write_bytes((b"\n".join(writer.lines) + b"\n")[:size])
        messages, problems = read(tmp_path, SESSION)
        assert (told(messages), problems) == (["user: First"], [])


GARBAGE = st.one_of(
    st.binary(max_size=60).map(lambda data: b"\xff" + data.replace(b"\n", b" ")),
    st.sampled_from([b"[1, 2]", b"null", b'"text"', b"{" * 5000, b"[" * 100_000, b'{"type": "user", "message": {"con']),
)


@settings(max_examples=60, deadline=None)
@given(garbage=st.lists(st.tuples(st.integers(0, 6), GARBAGE), min_size=1, max_size=8))
def test_garbage_between_the_lines_costs_nothing_and_each_of_it_is_named(
    tmp_path_factory: pytest.TempPathFactory, garbage: list[tuple[int, bytes]]
) -> None:
    writer = conversation(tmp_path_factory.mktemp("garbage"))
    writer.write()
    before = told(read(writer.home, SESSION)[0])
    for place, data in sorted(garbage, key=lambda one: one[0], reverse=True):
        writer.lines.insert(place, data)
    writer.write()
    messages, problems = read(writer.home, SESSION)
    assert told(messages) == before
    assert len(problems) == len(garbage)


@settings(max_examples=60, deadline=None)
@given(lost=st.sets(st.integers(0, 5), max_size=5))
def test_a_line_that_is_lost_takes_no_other_with_it(tmp_path_factory: pytest.TempPathFactory, lost: set[int]) -> None:
    writer = conversation(tmp_path_factory.mktemp("lost"))
    texts = ["First", "One.", "Second", "Two.", "Third", "Three."]
    for place in lost:
        writer.lines[place] = b'{"type": "user", "uuid":'
    writer.write()
    kept = [text for place, text in enumerate(texts) if place not in lost]
    messages, problems = read(writer.home, SESSION)
    assert [line.partition(": ")[2] for line in told(messages)] == kept
    assert len(problems) == len(lost)


def conversation(home: Path) -> Writer:
    writer = Writer(home)
    for prompt, answer in (("First", "One."), ("Second", "Two."), ("Third", "Three.")):
        writer.prompt(prompt)
        writer.answer(answer)
    return writer


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("\ud83d"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    re.findall(
        r"\w+",
        "type uuid parentUuid isSidechain timestamp cwd version message content id model usage name input toolUseResult"
        " structuredPatch lines answers agentId attachment prompt commandMode text thinking tool_use_id is_error plan"
        " logicalParentUuid isCompactSummary isMeta forkedFrom requestSessionId title source media_type sessionId"
        " customTitle summary leafUuid display project",
    )
)


@settings(max_examples=150, deadline=None)
@given(changes=st.lists(st.tuples(st.integers(0, 12), KEYS, JSON), min_size=1, max_size=6), offset=st.integers(0, 4000))
def test_values_of_any_type_anywhere_break_nothing(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, str, object]], offset: int
) -> None:
    writer = Writer(tmp_path_factory.mktemp("types"))
    writer.prompt([{"type": "text", "text": "First"}, {"type": "image", "title": "x", "source": {"media_type": "y"}}])
    writer.answer({"type": "thinking", "thinking": "hm"})
    writer.call("a", "Edit", new=False, file_path="app.py", plan="x")
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a"]}]
    writer.result("a", [{"type": "text", "text": "x"}], toolUseResult={"structuredPatch": patch, "agentId": "b"})
    writer.attachment("queued_command", prompt="waited", commandMode="prompt")
    writer.call("b", "AskUserQuestion")
    writer.result("b", "x", toolUseResult={"answers": {"a": "b"}})
    writer.compact("This session is being continued\nSummary:\nx")
    writer.raw({"type": "custom-title", "customTitle": "x"})
    writer.raw({"type": "summary", "summary": "x", "leafUuid": writer.last})
    writer.prompt("Last")
    for place, key, value in changes:
        line = json.loads(writer.lines[place % len(writer.lines)])
        replace_in(line, key, value)
        writer.lines[place % len(writer.lines)] = json.dumps(line).encode()
    writer.write()
    (writer.home / "history.jsonl").write_bytes(b"\n".join(writer.lines) + b"\n")
    client = ClaudeCode(writer.home)
    for listed in client.listing().sessions.values():
        for from_ in (0, offset):
            try:
                session, messages = client.read(listed, ("reasoning", "output", "diffs"), [], from_)
                texts = [session.title, session.directory, *told(list(messages))]
                assert re.fullmatch("[A-Za-z0-9_-]*", session.id + session.parent + session.forked_from)
            except RewoundError:
                assert from_
            else:
                "".join(texts).encode()  # no half characters


def replace_in(value: object, key: str, new: object) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            replace_in(inner, key, new)
        if key in value:
            value[key] = new
    elif isinstance(value, list):
        for inner in value:
            replace_in(inner, key, new)


# --- reading on ----------------------------------------------------------------------------------------------------


def test_reading_on_costs_and_gives_the_new_lines_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = conversation(tmp_path)
    writer.write()
    known, _ = read(tmp_path, SESSION)
    writer.line("system", subtype="turn_duration")
    writer.prompt("Fourth")
    writer.answer("Four.")
    writer.write()
    messages, problems = read(tmp_path, SESSION, offset=known[-1].end)
    assert told(messages) == ["user: Fourth", "assistant: Four."]
    assert problems == []


def test_an_answer_that_goes_on_belongs_to_its_prompt_and_is_counted_once(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    prompt = writer.prompt("Go")
    writer.answer("One")
    writer.write()
    (_, known), _ = read(tmp_path, SESSION)
    writer.answer("and two.", new=False)
    writer.write()
    (message,), _ = read(tmp_path, SESSION, offset=known.end)
    assert (message.answers, message.tokens, known.tokens) == (prompt, 0, 120)


@pytest.mark.parametrize(
    "how", ["taken back", "cut", "written anew", "inside a line", "beyond", "a call answered late"]
)
def test_what_does_not_go_on_from_there_is_told(tmp_path: Path, how: str) -> None:
    writer = Writer(tmp_path)
    writer.prompt("First")
    kept = writer.answer("One.")
    writer.prompt("Second")
    writer.call("a", command="make")
    writer.write()
    known, _ = read(tmp_path, SESSION)
    offset = known[-1].end
    if how == "taken back":
        writer.prompt("Third", parentUuid=kept)
    elif how == "begun anew":
        writer.prompt("Third", parentUuid=None)
    elif how == "cut":
        writer.lines = writer.lines[:2]
    elif how == "written anew":
        writer.lines = [line.replace(b"0", b"11") for line in writer.lines]
    elif how == "inside a line":
        offset -= 5
    elif how == "beyond":
        offset += 5
    else:
        writer.result("a")
    writer.write()
    with pytest.raises(RewoundError):
        read(tmp_path, SESSION, offset=offset)


class Story:
    """A session in the making, with what is to be read of it."""

    def __init__(self, writer: Writer, choice: random.Random) -> None:
        self.writer, self.choice = writer, choice
        self.waiting: list[tuple[str, str]] = []
        """Calls without a result, and the lines they stand in."""
        self.branched = self.open = False
        self.texts: list[str] = []
        self.places: list[tuple[str | None, list[str]]] = []
        """Where it can be taken back to, and what is said up to there."""

    def step(self, name: str, number: int) -> None:
        if name == "block":
            name = "answer" if not self.open else name
            self.places = self.places[: -1 if self.open else None]  # nobody goes back into the middle of an answer
        texts = getattr(self, name)(f"{name} {number}")
        self.open = name in ("answer", "block", "calls")
        if texts:
            self.waiting = [] if name != "calls" else self.waiting
            self.texts = [*self.texts, *texts]
        self.places.append((self.writer.last, self.texts))

    def prompt(self, text: str) -> list[str]:
        self.writer.prompt(text)
        return [f"user: {text}"]

    def answer(self, text: str) -> list[str]:
        self.writer.answer(text)
        return [f"assistant: {text}"]

    def block(self, text: str) -> list[str]:
        self.writer.answer(text, new=False)
        return [f"assistant: {text}"]

    def calls(self, text: str) -> list[str]:
        names = [f"{text} {part}" for part in range(self.choice.randint(1, 3))]
        self.waiting = [(name, self.writer.call(name, "Read", new=name == names[0], path=name)) for name in names]
        return [f"assistant: Read `{name}`" for name in names]

    def result(self, text: str, *, chained: bool = False) -> list[str]:
        if self.waiting:
            call, line = self.waiting.pop(self.choice.randrange(len(self.waiting)))
            self.branched |= bool(self.waiting) or not chained
            self.writer.result(call, parentUuid=self.writer.last if chained else line)
        return []

    def chained_result(self, text: str) -> list[str]:
        return self.result(text, chained=True)

    def noise(self, text: str) -> list[str]:
        self.writer.attachment()
        self.writer.prompt(text, isMeta=True)
        self.writer.raw({"type": "mode"})
        return []

    def compact(self, text: str) -> list[str]:
        self.writer.compact(text)
        return [f"summary: {text}"]

    def taken_back(self, text: str) -> list[str]:
        last, self.texts = self.choice.choice(self.places)
        self.branched = True
        self.writer.prompt(text, parentUuid=last)
        return [f"user: {text}"]


STEPS = st.sampled_from(
    ["prompt", "answer", "block", "calls", "result", "chained_result", "noise", "compact", "taken_back"]
)


@settings(max_examples=250, deadline=None)
@given(steps=st.lists(STEPS, max_size=25), choice=st.randoms(use_true_random=False))
def test_reading_on_from_any_message_gives_what_reading_everything_gives(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], choice: random.Random
) -> None:
    story = Story(Writer(tmp_path_factory.mktemp("story")), choice)
    for number, name in enumerate(["prompt", *steps]):
        story.step(name, number)
    home = story.writer.write().home
    messages, problems = read(home, SESSION)
    assert problems == []
    assert [line.removesuffix(" completed").rstrip() for line in told(messages)] == story.texts
    for place, known in enumerate(messages, 1):
        if known.end and known.finished:
            try:
                assert read(home, SESSION, offset=known.end)[0] == messages[place:]
            except RewoundError:
                assert story.branched
