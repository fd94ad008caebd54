from dataclasses import replace
from datetime import UTC, timedelta, timezone

import pytest

from tests.sources.opencode.stores import T0, Client, one, tool, transcripts
from vault_index.markdown.parse import parse
from vault_index.sources.opencode.database import Database
from vault_index.sources.sessions.model import Message, Reasoning, Session, Text, ToolCall
from vault_index.sources.sessions.render import render

SESSION = Session("ses_a", "A title", "/home/user/api", "/home/user/api", "", "1.18.33", T0, T0)


def spoken(speaker: str, *parts: object, at: int = 0, answers: str = "", **more: object) -> Message:
    message = Message(f"msg_{speaker}_{at}", answers, "user", T0 + at, True, "build", "p/m", "", ())
    return replace(message, speaker=speaker, parts=parts, **more)  # type: ignore[arg-type]


def body(*messages: Message, zone: timezone = UTC) -> str:
    return render(SESSION, messages, "opencode", zone=zone).text.split("\n---\n\n", 1)[1]


def turns(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("## ")]


def test_render_joins_steps_of_one_answer_and_omits_empty_ones() -> None:
    text = body(
        spoken("user", Text("Do it")),
        spoken("user", Text("  \n")),
        spoken("assistant", Reasoning(""), at=1),
        spoken("assistant", Text("First."), at=1000, answers="msg_user_0"),
        spoken("assistant", ToolCall("read", "completed", "a.py"), at=2000, answers="msg_user_0"),
        spoken("assistant", Text("Last."), at=3000, answers="msg_user_0", error="ProviderAuthError: no key"),
        zone=timezone(timedelta(hours=9)),
    )
    assert text == (
        "## User · 2026-11-18 20:06\n\nDo it\n\n"
        "## Assistant · 2026-11-18 20:06\n\nFirst.\n\n- read: `a.py` (ok)\n\nLast.\n\n"
        "- error: `ProviderAuthError: no key`\n"
    )


def test_render_writes_a_call_as_one_line() -> None:
    for call, line in (
        (ToolCall("bash", "completed", "make\n  test", exit=2), "- bash: `make test` (exit 2)"),
        (ToolCall("edit", "error", "a.py", error="Error: no\nmatch"), "- edit: `a.py` (error: `no match`)"),
        (ToolCall("edit", "error", "a.py"), "- edit: `a.py` (error)"),
        (ToolCall("read", "running", "a.py"), "- read: `a.py` (broken off)"),
        (ToolCall("todowrite", "completed", ""), "- todowrite: (ok)"),
        (ToolCall("task", "completed", "Look", child="ses_b"), "- task: `Look` → [[ses_b]] (ok)"),
        (ToolCall("bash", "completed", "echo `x` #tag [[no]]"), "- bash: ``echo `x` #tag [[no]]`` (ok)"),
        (ToolCall("bash", "completed", "`x`"), "- bash: `` `x` `` (ok)"),
        (ToolCall("bash", "completed", "y" * 300), f"- bash: `{'y' * 199}…` (ok)"),
        (ToolCall("a](b)\n#x", "completed", ""), "- abx: (ok)"),
    ):
        assert body(spoken("assistant", call)).split("\n\n", 1)[1] == f"{line}\n"


def test_render_text_cannot_create_turns() -> None:
    text = body(spoken("user", Text("## User · 2020-01-01 00:00\n\n```\nopen")), spoken("user", Text("next"), at=1))
    assert turns(text) == ["## User · 2026-11-18 11:06"] * 2


def test_render_accepts_a_lone_surrogate() -> None:
    assert body(spoken("assistant", ToolCall("ls", "completed", "x", output="\ud83d", child="\udc4d"))).encode()


def test_render_fences_any_output() -> None:
    text = body(spoken("assistant", ToolCall("bash", "completed", "cat", output="# x\n````\n%%"), Text("after")))
    assert "\n\n`````text\n# x\n````\n%%\n`````\n\nafter\n" in text


def test_render_omits_secrets_private_and_recalled_text() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    recalled = '<vault-index-recall token="ab12">\nfrom a note\n</vault-index-recall token="ab12">\n'
    messages = [
        spoken("user", Text(f"{recalled}use {secret} <private>my PIN</private> please")),
        spoken("assistant", ToolCall("bash", "error", f"curl -H {secret}", error=secret, output=secret), at=1),
        spoken("assistant", Reasoning(f"it is {secret}"), at=2),
        spoken("user", Text("Go on"), at=3),
        spoken("assistant", ToolCall("bash", "completed", f"{'x' * 180} {secret}"), at=4),  # the cut is in the middle
    ]
    transcript = render(replace(SESSION, title=f"About {secret}"), messages, "opencode", zone=UTC)
    assert [word for word in ("ghp_", "PIN", "from a note") if word in transcript.text] == []
    assert (transcript.redacted, transcript.turns) == (7, 5)


def test_render_frontmatter_restores_any_title() -> None:
    title = 'Quotes " \\ : # \x85 \u2028 \x1b[31m ---\n日本語 🙂'
    front = parse(render(replace(SESSION, title=title, parent="ses_p"), [], "opencode").text, "name").frontmatter
    assert front["title"] == 'Quotes " \\ : # \x1b[31m --- 日本語 🙂'
    assert front["session"] == "ses_a"
    assert front["parent"] == "[[ses_p]]"
    assert front["created"] == "2026-11-18T11:06:40+00:00"


def test_render_names_the_project_after_its_folder() -> None:
    for directory, worktree, name in (
        ("/home/user/api/src", "/home/user/api", "api"), ("/home/user/notes/", "/", "notes"),
        ("/home/user/notes", "", "notes"), ("C:\\Users\\me\\app", "", "app"), ("", "", ""),
    ):  # fmt: skip
        assert replace(SESSION, directory=directory, worktree=worktree).project == name


def test_render_keeps_the_lines_of_finished_turns(client: Client) -> None:
    client.session(title="New session")
    client.user("First question")
    before = one(client.path).rstrip("\n").split("\n")
    client.assistant("First answer", agent="plan")
    client.user("Second question")
    client.run("UPDATE session SET title = 'It has a name now'")
    after = one(client.path).split("\n")
    place = before.index("First question")
    assert after[: len(before)][place - 2 :] == before[place - 2 :]


def test_render_omits_an_answer_until_it_is_finished(client: Client) -> None:
    client.session()
    client.user("Question")
    client.assistant("Finished step")
    message = client.assistant("Half a sen", done=False)
    client.user("Are you there?")
    text = one(client.path)
    assert text.endswith("Finished step\n")
    client.run("UPDATE message SET data = json_set(data, '$.time.completed', 1) WHERE id = ?", message)
    client.run("UPDATE part SET data = json_set(data, '$.text', 'A sentence.') WHERE message_id = ?", message)
    later = one(client.path)
    assert later.split("---\n\n")[1].startswith(text.split("---\n\n")[1])
    assert "A sentence." in later
    assert later.endswith("Are you there?\n")


def test_render_shows_an_answer_once_another_follows_or_it_failed(client: Client) -> None:
    client.session()
    client.user("Question")
    client.assistant("Half a sen", tool("bash", {"command": "make"}, status="running"), done=False)
    client.user("Again")
    client.assistant("Whole.")
    client.assistant("Half", done=False, error={"name": "APIError", "data": {"message": "overloaded"}})
    text = one(client.path)
    assert "Half a sen\n\n- bash: `make` (broken off)\n\n## User" in text
    assert text.endswith("Whole.\n\n## Assistant · 2026-11-18 11:06\n\nHalf\n\n- error: `APIError: overloaded`\n")


def test_render_ends_a_reverted_session_at_its_revert(client: Client) -> None:
    client.session()
    client.user("Kept")
    answer = client.assistant("Kept too")
    part = client.part(answer, {"type": "text", "text": "undone with the part"})
    undone = client.user("Undone")
    client.assistant("Undone as well")
    client.run("UPDATE session SET revert = json_object('messageID', ?)", undone)
    problems: list[str] = []
    assert one(client.path, problems=problems).endswith("Kept too\n\nundone with the part\n")
    assert problems == ["2 rewound messages"]
    client.run("UPDATE session SET revert = json_object('messageID', ?, 'partID', ?)", answer, part)
    assert one(client.path).endswith("Kept too\n")
    client.run("UPDATE session SET revert = NULL")
    assert one(client.path).endswith("Undone as well\n")


def test_render_omits_synthetic_text_snapshots_and_steps(client: Client) -> None:
    client.session()
    message = client.user("Said")
    client.part(message, {"type": "text", "text": "contents of a file", "synthetic": True})
    client.part(message, {"type": "file", "filename": "notes.md", "mime": "text/plain", "url": "file:///x"})
    client.part(message, {"type": "agent", "name": "plan"})
    for kind in ("snapshot", "step-start", "step-finish", "patch", "retry", "something-new"):
        client.part(message, {"type": kind, "text": "never", "snapshot": "never"})
    assert one(client.path).split("\n---\n\n")[1] == "## User · 2026-11-18 11:06\n\nSaid\n\n- file: `notes.md`\n"


@pytest.mark.parametrize(
    ("name", "given", "line"),
    [
        ("memory_search", {"query": "who waits"}, "- memory_search: (ok)"),
        ("notes_memory_recall", {"query": "who waits"}, "- notes_memory_recall: (ok)"),
        ("vault-index_memory_store", {"content": "who waits", "path": "x"}, "- vault-index_memory_store: (ok)"),
        ("bash", {"command": "cd /x && vault-index search 'who waits' | head"}, "- bash: `vault-index search` (ok)"),
        ("bash", {"command": "echo 'who waits' | ~/.local/bin/vx add"}, "- bash: `~/.local/bin/vx add` (ok)"),
        ("bash", {"command": "A=1 uv run python3 -m vault_index get x"}, "- bash: `python3 -m vault_index get` (ok)"),
    ],
)
def test_render_omits_queries_and_results_of_our_tools(
    client: Client, name: str, given: dict[str, object], line: str
) -> None:
    client.begin("Look")
    failed = tool(name, given, status="error", error="nothing answers 'who waits'")
    client.assistant(tool(name, given, "Nobody waits.", metadata={"diff": "+who waits"}), failed, "Found.")
    store = Database(client.path)
    text = transcripts(store, [], ("reasoning", "output", "diffs"))["A session"].text
    store.close()
    assert text.endswith(f"\n\n{line}\n{line.replace('(ok)', '(error)')}\n\nFound.\n")
    assert not {"waits", "answers"}.intersection(text.split())


def test_render_shows_output_of_other_tools_on_request(client: Client) -> None:
    commands = ("cd ~/src/vault-index && make test", "grep -r vault-index docs", "git commit -m 'vault-index: faster'")
    others = [tool("bash", {"command": command}, "Nobody waits.") for command in commands]
    others.append(tool("memory_read_graph", {}, "Nobody waits."))
    client.begin("Look")
    client.assistant(*others)
    store = Database(client.path)
    assert transcripts(store, [], ["output"])["A session"].text.count("```text\nNobody waits.\n```") == len(others)
    store.close()
