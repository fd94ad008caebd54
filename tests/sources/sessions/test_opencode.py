"""Sessions as documents: the list, the changes, and the omitted parts."""

import shutil
from pathlib import Path

import pytest

from tests.sources.opencode.stores import FIXTURES, T0, Client, opencode_source, tree
from vault_index.errors import NotFoundError
from vault_index.models import DocumentRef, FileStamp
from vault_index.sources.sessions.source import SessionSource


def source(client: Client, **settings: object) -> SessionSource:
    return opencode_source(client.path.parent, **settings)


def stamps(opened: SessionSource) -> dict[str, FileStamp]:
    return {ref.path: ref.stamp for ref in opened.scan_places([""]).refs}


def text(opened: SessionSource, path: str) -> str:
    ref = opened.look(path)
    assert ref is not None
    return opened.read(ref).text


def test_opencode_session_is_a_document_of_its_project(client: Client) -> None:
    client.session()
    client.user("Hello")
    client.session("ses_empty")
    client.session("ses_else", project_id="global", directory="/")
    client.user("Hi", session="ses_else")
    opened = source(client)
    scan = opened.scan_places([""])
    assert [ref.path for ref in scan.refs] == ["api/ses_a.md", "elsewhere/ses_else.md"]
    assert (scan.faults, scan.problems) == ((), ())
    assert [ref.path for ref in opened.scan_places(["api"]).refs] == ["api/ses_a.md"]
    raw = opened.read(scan.refs[0])
    assert (raw.kind, raw.ref, raw.faults) == ("session", scan.refs[0], ())
    assert raw.text.endswith("\n\nHello\n")
    assert opened.look("web/ses_a.md") is None
    assert opened.stamp("api/ses_b.md") is None
    with pytest.raises(NotFoundError):
        opened.read(DocumentRef("opencode", "api/ses_b.md", FileStamp(0, 0, 0)))


def test_opencode_stamp_differs_only_for_a_changed_session(client: Client) -> None:
    for name in ("ses_a", "ses_b"):
        client.session(name)
        client.user("Question", session=name)
    opened = source(client)
    before, version = stamps(opened), opened.version()
    assert (stamps(opened), opened.version()) == (before, version)
    client.assistant("Answer", session="ses_b")
    after = stamps(opened)
    assert after["api/ses_a.md"] == before["api/ses_a.md"]
    assert after["api/ses_b.md"] != before["api/ses_b.md"]
    assert opened.stamp("api/ses_b.md") == after["api/ses_b.md"]
    assert opened.version() != version
    client.run("DELETE FROM session")
    scan = opened.scan_places([""])
    assert (scan.refs, scan.knows("api/ses_a.md"), opened.stamp("api/ses_a.md")) == ((), True, None)


def test_opencode_stamp_changes_with_every_write_of_a_client(client: Client) -> None:
    client.session()
    client.user("Question")
    client.assistant("Answer", "more of it")
    opened = source(client)
    for change in (
        "UPDATE session SET title = 'Another'",
        """UPDATE session SET revert = '{"messageID": "msg_x"}'""",
        "UPDATE message SET time_updated = time_updated + 99000",
        "UPDATE part SET data = json_set(data, '$.text', 'Other words'), time_updated = time_updated + 199000",
        "DELETE FROM part WHERE id = (SELECT max(id) FROM part)",
        "DELETE FROM message WHERE id = (SELECT max(id) FROM message)",
    ):
        before = stamps(opened)
        client.run(change)
        assert stamps(opened) != before, change


def test_opencode_stamp_ignores_a_streaming_answer(client: Client) -> None:
    client.session()
    client.user("Question")
    message = client.assistant("Let me", done=False)
    opened = source(client)
    before = stamps(opened)
    client.part(message, {"type": "text", "text": "think"})
    assert stamps(opened) == before
    client.run(
        "UPDATE message SET data = json_set(data, '$.time.completed', 1), time_updated = 9e12 WHERE id = ?", message
    )
    assert stamps(opened) != before
    assert "think" in text(opened, "api/ses_a.md")


def test_opencode_fork_shows_its_new_turns_and_follows_its_original(client: Client) -> None:
    client.session("ses_o", "Original")
    client.user("Shared question", session="ses_o")
    client.assistant("Shared answer", session="ses_o")
    last = client.user("Only in the original", session="ses_o")
    client.fork("ses_o", "ses_f", until=last)
    opened = source(client)
    assert text(opened, "api/ses_f.md").endswith("---\n\n*Forked from [[ses_o]]; the turns before are there.*\n")
    client.user("New in the fork", session="ses_f")
    client.fork("ses_f", "ses_g")
    client.user("New in the fork of the fork", session="ses_g")
    forks = {name: text(opened, f"api/ses_{name}.md") for name in "ofg"}
    assert "Shared" in forks["o"]
    assert "Shared" not in forks["f"] + forks["g"]
    assert "New in the fork\n" in forks["f"]
    assert "New in the fork\n" not in forks["g"]
    assert "*Forked from [[ses_f]];" in forks["g"]
    before = stamps(opened)
    client.run("DELETE FROM session WHERE id = 'ses_o'")
    after = stamps(opened)
    assert after["api/ses_f.md"] != before["api/ses_f.md"]
    whole = text(opened, "api/ses_f.md")
    assert "Shared answer" in whole
    assert "Forked from" not in whole


def test_opencode_reads_databases_of_all_channels_and_older_trees(client: Client) -> None:
    client.session("ses_1", "In the database", directory="/home/user/api")
    client.user("From the database", session="ses_1")
    time = {"time": {"created": T0, "updated": T0}}
    files = {f"session/p1/{id_}.json": {"id": id_, "directory": "/home/user/api", **time} for id_ in ("ses_1", "ses_2")}
    for id_ in ("ses_1", "ses_2"):
        files[f"message/{id_}/msg_{id_}.json"] = {"role": "user", **time}
        files[f"part/msg_{id_}/prt_1.json"] = {"type": "text", "text": "From the tree"}
    tree(client.path.parent / "storage", files)
    beta = Client(client.path.with_name("opencode-beta.db"))
    beta.session("ses_b")
    beta.user("Beta", session="ses_b")
    beta.close()
    opened = source(client)
    assert sorted(stamps(opened)) == ["api/ses_1.md", "api/ses_2.md", "api/ses_b.md"]
    assert "From the database" in text(opened, "api/ses_1.md")
    assert "From the tree" in text(opened, "api/ses_2.md")


def test_opencode_unknown_layout_is_reported_and_keeps_documents(client: Client) -> None:
    client.session()
    client.user("Hello")
    old = Client(client.path.with_name("opencode-next.db"))
    old.run("INSERT INTO migration VALUES ('20300101_v3', 0)")
    old.run("ALTER TABLE part RENAME TO piece")
    scan = source(client).scan_places([""])
    old.close()
    assert [ref.path for ref in scan.refs] == ["api/ses_a.md"]
    (problem,) = scan.problems
    assert problem.code == "client_schema"
    assert "20300101_v3" in problem.message
    assert [fault.code for fault in scan.faults] == ["client_schema"]
    assert not scan.knows("api/ses_from_there.md")


def test_opencode_reopens_a_replaced_database(client: Client, tmp_path: Path) -> None:
    client.session()
    client.user("Hello")
    opened = source(client)
    assert len(stamps(opened)) == 1
    client.close()
    for file in client.path.parent.iterdir():
        file.unlink()
    shutil.copy(FIXTURES / "opencode.db", client.path)
    assert len(stamps(opened)) == 4


def test_opencode_skips_excluded_projects_and_keeps_local_ones(client: Client) -> None:
    client.session("ses_s", project_id="global", directory="/home/user/secret")
    client.user("Hush", session="ses_s")
    client.session("ses_p", project_id="global", directory="/srv/public")
    client.user("Hello", session="ses_p")
    for pattern in ("secret", "sec*", "/home/user/secret", "/home/*/secret", "/home/user"):
        opened = source(client, exclude=(pattern,))
        assert list(stamps(opened)) == ["public/ses_p.md"], pattern
        assert opened.look("secret/ses_s.md") is None
        kept = source(client, local_only=(pattern,))
        assert [kept.stays_home(path) for path in ("secret/ses_s.md", "public/ses_p.md")] == [True, False], pattern
    assert source(client, local_only=True).stays_home("public/ses_p.md")


def test_opencode_reports_redacted_and_broken_parts(client: Client) -> None:
    client.session()
    message = client.user("the token is ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    for number in range(12):
        client.part(message, "broken", f"prt_x{number:02}")
    opened = source(client)
    (ref,) = opened.scan_places([""]).refs
    faults = opened.read(ref).faults
    assert [(fault.code, fault.message) for fault in faults[-2:]] == [
        ("session", "and 2 more of this kind"),
        ("redacted", "1 credential left out"),
    ]
    assert {fault.path for fault in faults} == {"api/ses_a.md"}
