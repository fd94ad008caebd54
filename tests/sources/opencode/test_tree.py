import os
from pathlib import Path

from tests.sources.opencode.stores import T0, messages, transcripts, tree
from vault_index.sources.opencode.tree import Tree
from vault_index.sources.sessions.model import Text

SESSION = {"id": "ses_1", "projectID": "p1", "directory": "/home/user/api/src", "title": "Einführung",
           "version": "1.1.65", "time": {"created": T0, "updated": T0 + 5000}}  # fmt: skip
USER = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": T0 + 1000}}
ASSISTANT = {"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "parentID": "msg_1",
             "path": {"cwd": "/home/user/old"}, "time": {"created": T0 + 2000, "completed": T0 + 3000}}  # fmt: skip
FILES = {
    "session/p1/ses_1.json": SESSION,
    "project/p1.json": {"id": "p1", "worktree": "/home/user/api"},
    "message/ses_1/msg_1.json": USER,
    "message/ses_1/msg_2.json": ASSISTANT,
    "part/msg_1/prt_1.json": {"type": "text", "text": "Frage"},
    "part/msg_2/prt_1.json": {"type": "text", "text": "Antwort 🙂"},
}


def test_tree_names_truncated_and_lost_files_and_reads_the_rest(tmp_path: Path) -> None:
    broken = {
        "session/p1/ses_2.json": '{"id": "ses_2", "title": "half',
        "message/ses_1/msg_3.json": '{"id": "msg_3", "role": "us',
        "part/msg_2/prt_2.json": '{"type": "te',
        "message/ses_1/msg_0.json": {**USER, "id": "msg_0", "time": {"created": T0 + 9000}},  # ids wrap
        "part/msg_0/prt_1.json": {"type": "text", "text": "Ende"},
    }
    problems: list[str] = []
    store = tree(tmp_path, {**FILES, **broken})
    (tmp_path / "part/msg_2/prt_3.json").symlink_to("/dev/zero")
    found = messages(store, "ses_1", problems)
    assert [message.id for message in found] == ["msg_1", "msg_2", "msg_0"]
    texts = [part.text for message in found for part in message.parts if isinstance(part, Text)]
    assert texts == ["Frage", "Antwort 🙂", "Ende"]
    assert sorted(problem.partition(" cannot be read (")[0] for problem in problems) == [
        str(tmp_path / "part/msg_2/prt_3.json"),
        str(tmp_path / "session/p1/ses_2.json"),
        "message msg_3",
        "part prt_2 of message msg_2",
    ]
    os.unlink(tmp_path / "part/msg_1/prt_1.json")
    problems.clear()
    assert len(messages(store, "ses_1", problems)) == 3
    assert "message msg_1 has no parts" in problems
    (transcript,) = transcripts(store, []).values()
    assert 'project: "api"\ndirectory: "/home/user/api/src"' in transcript.text


def test_tree_session_changes_with_a_message(tmp_path: Path) -> None:
    store = tree(tmp_path, FILES)
    (before,) = store.sessions([])
    os.utime(tmp_path / "message/ses_1/msg_2.json", (4e9, 4e9))
    (after,) = store.sessions([])
    assert before.messages == after.messages == 2
    assert after.stamp.mtime_ns == 4_000_000_000_000_000_000 > before.stamp.mtime_ns


def test_tree_of_the_first_versions_is_read(tmp_path: Path) -> None:
    old = {
        "info/ses_1.json": {"id": "ses_1", "title": "Old", "version": "0.3.1", "time": {"created": T0, "updated": T0}},
        "message/ses_1/msg_1.json": USER,
        "message/ses_1/msg_2.json": ASSISTANT,
        "part/ses_1/msg_1/prt_1.json": {"type": "text", "text": "Question"},
        "part/ses_1/msg_2/prt_1.json": {"type": "text", "text": "Answer"},
    }
    tree(tmp_path, old)
    problems: list[str] = []
    text = transcripts(Tree(tmp_path, True), problems)["Old"].text
    assert problems == []
    assert 'project: "old"\ndirectory: "/home/user/old"' in text
    assert "Question\n\n## Assistant · 2026-11-18 11:06\n\nAnswer\n" in text
