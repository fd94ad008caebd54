"""Queries pass the same gate as texts: who asks, and for what, is judged when they leave, and that is redacted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from tests.embeddings.failures import server_error
from tests.embeddings.replies import Reply, Request
from tests.embeddings.server import EmbeddingServer
from tests.indexer.test_outbound import client as client
from tests.indexer.test_sessions import open_index
from tests.indexer.test_vectors import server as server, use
from tests.sources.opencode.stores import Client
from vault_index import VaultIndex
from vault_index.api.json_api import call
from vault_index.config.edit import set_value
from vault_index.results.search import SearchResult

NOTES = {"oak.md": "# Oak\n\nThe oak is described here.\n", "private/elm.md": "The elm is described here.\n"}
TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def index(tmp_path: Path, server: EmbeddingServer) -> Iterator[VaultIndex]:
    with opened(tmp_path) as opened_index:
        write(tmp_path / "vault", NOTES)
        use(opened_index, server)
        opened_index.sync()
        server.requests.clear()
        yield opened_index


def keep(index: VaultIndex, *projects: str) -> None:
    """On the disk alone: whoever has the index open knows nothing of it."""
    set_value(index.home, "opencode.local_only", "true" if not projects else str(list(projects)))


def stayed(result: SearchResult, server: EmbeddingServer) -> bool:
    """Answered by words, with the reason told, and nothing sent."""
    told = any("local_only keeps it on this machine" in why for why in result.degraded)
    assert told is not bool(server.texts)
    return told


# --- who asks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kept", "project"),
    [
        ("secret", "secret"),
        ("sec*", "secret"),
        ("~/clients/secret", "secret"),
        ("~/clients", "~/clients/secret"),
        ("~/clients", "~/clients/secret/src"),
        ("~/mono/secret", "~/mono/secret/src"),
        ("secret", "~/clients/secret/src"),
        ("Secret", "secret"),
    ],
)
def test_the_words_of_a_private_project_are_not_sent(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: str, project: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for root in ("clients/secret", "mono"):
        (tmp_path / root / ".git").mkdir(parents=True)
    keep(index, kept)
    recalled = index.recall("the oak that nobody knows", project=project)
    assert any("local_only" in why for why in recalled.degraded)
    assert server.texts == []
    assert index.privacy().results[0].path != "(queries)"
    assert index.recall("the oak that nobody knows", project="~/elsewhere/public").degraded == ()
    assert server.texts == ["the oak that nobody knows"]


def test_a_link_to_a_private_folder_is_that_folder(index: VaultIndex, server: EmbeddingServer, tmp_path: Path) -> None:
    (tmp_path / "clients").mkdir()
    (tmp_path / "work").symlink_to(tmp_path / "clients")
    keep(index, f"{tmp_path}/work")
    index.recall("the oak", project=str(tmp_path / "clients"))
    keep(index, f"{tmp_path}/clients")
    index.recall("the oak", project=str(tmp_path / "work"))
    assert server.texts == []


def test_a_session_that_was_held_in_a_link_to_a_private_folder_stays_home(
    client: Client, server: EmbeddingServer, tmp_path: Path
) -> None:
    (tmp_path / "clients").mkdir()
    (tmp_path / "work").symlink_to(tmp_path / "clients")
    client.session("ses_s", "Hidden", project_id="global", directory=str(tmp_path / "work"))
    client.user("The heron", session="ses_s")
    with open_index(tmp_path) as index:
        use(index, server)
        keep(index, str(tmp_path / "clients"))
        index.sync()
        index.recall("the heron", session="ses_s")
    assert not any("heron" in text for text in server.texts)


@pytest.mark.parametrize(("kept", "sent"), [((), False), (("secret",), False), (("other",), True)])
def test_the_words_of_a_session(
    client: Client, server: EmbeddingServer, tmp_path: Path, kept: tuple[str, ...], sent: bool
) -> None:
    client.session("ses_s", "Hidden", project_id="global", directory="/home/user/secret")
    client.user("The heron", session="ses_s")
    with open_index(tmp_path) as index:
        use(index, server)
        index.sync()
        server.requests.clear()
        keep(index, *kept)
        index.recall("the heron", session="ses_s")
        assert bool(server.texts) is sent
        server.requests.clear()
        index.recall("the heron", session="ses_nobody_knows")
        assert server.texts == []


def test_a_person_asks_whatever_projects_are_private(index: VaultIndex, server: EmbeddingServer) -> None:
    keep(index)
    assert not stayed(index.search("the oak"), server)


@pytest.mark.parametrize("kept", ["secret", "~/clients"])
@pytest.mark.parametrize("method", ["search", "why", "timeline", "recall"])
def test_what_is_asked_in_a_private_folder_is_not_sent(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, kept: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    inside, beside = tmp_path / "clients/secret/src", tmp_path / "public"
    (tmp_path / "clients/secret/.git").mkdir(parents=True)
    keep(index, kept)
    more = {"ref": "oak.md"} if method == "why" else {}

    def ask(*directories: Path) -> None:
        call(index, method, {"query": "the oak", "directory": [str(one) for one in directories], **more})

    ask(inside)
    ask(beside, inside)
    assert server.texts == []
    ask(beside)
    assert server.texts == ["the oak"]


def test_a_private_folder_and_a_private_project_both_count(index: VaultIndex, server: EmbeddingServer) -> None:
    keep(index, "/srv/secret")
    for project, directory in (("secret", "/srv/public"), ("public", "/srv/secret"), (None, "/srv/secret")):
        assert index.recall("the oak", project=project, directory=directory).degraded
    assert server.texts == []


def test_it_is_said_why_a_question_of_a_private_folder_is_answered_by_words(
    index: VaultIndex, server: EmbeddingServer
) -> None:
    keep(index, "/srv/secret")
    result = index.search("the oak", directory="/srv/secret/src")
    assert stayed(result, server)
    assert result.results[0].path == "oak.md"


@pytest.mark.parametrize(
    ("directory", "sent"),
    [("/home/user/secret", False), ("/home/user/secret/src", False), ("/home/user", True), ("/srv", True)],
)
def test_where_every_session_is_private_the_folders_of_sessions_are(
    client: Client, server: EmbeddingServer, tmp_path: Path, directory: str, sent: bool
) -> None:
    client.session("ses_s", "Hidden", project_id="global", directory="/home/user/secret")
    with open_index(tmp_path) as index:
        use(index, server)
        index.sync()
        server.requests.clear()
        keep(index)
        assert stayed(index.search("passwords", directory=directory), server) is not sent


# --- what is asked for -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kept", "query"),
    [
        (("secret",), "project:secret oak"),
        (("secret",), "tag:project/secret oak"),
        (("/srv/secret",), "project:secret oak"),
        (("sec*",), "project:/srv/secret oak"),
        (("Secret",), "project:secret oak"),
        (("My Secret",), "tag:project/my-secret oak"),
        (("secret",), "session:ses_unknown oak"),
        ((), "project:anything oak"),
    ],
)
def test_a_query_for_a_private_project_is_not_sent(
    index: VaultIndex, server: EmbeddingServer, kept: tuple[str, ...], query: str
) -> None:
    keep(index, *kept)
    assert stayed(index.search(query), server)


@pytest.mark.parametrize(
    ("setting", "query", "stays"),
    [
        ('["private/"]', "path:private elm", True),
        ('["private/"]', "path:private/elm.md elm", True),
        ('["private/"]', "elm", False),
        ("true", "source:vault elm", True),
        ("true", "elm", True),
        ('["private/"]', "source:vault elm", False),
    ],
)
def test_a_query_within_a_private_place_is_not_sent(
    index: VaultIndex, server: EmbeddingServer, setting: str, query: str, stays: bool
) -> None:
    set_value(index.home, "local_only", setting, source="vault")
    assert stayed(index.search(query), server) is stays


def test_it_is_judged_again_before_the_next_try(index: VaultIndex, server: EmbeddingServer) -> None:
    use(index, server, max_retries="1")

    def unavailable(request: Request, reply: Reply) -> Reply:
        keep(index, "secret")
        return server_error(request, reply)

    server.fail_next(unavailable)
    assert index.search("project:secret oak").degraded
    assert len(server.requests) == 1


# --- the settings of the moment --------------------------------------------------------------------------------


def damage(index: VaultIndex) -> None:
    index.home.config_file.write_text("[sources", "utf-8")


def use_none(index: VaultIndex) -> None:
    set_value(index.home, "embedding.provider", "none")


def use_other_server(index: VaultIndex) -> None:
    set_value(index.home, "embedding.base_url", "http://127.0.0.1:9/v1")


def lower_the_limit(index: VaultIndex) -> None:
    set_value(index.home, "embedding.daily_token_limit", "1")


def damage_the_state(index: VaultIndex) -> None:
    index.close()
    for suffix in ("-wal", "-shm"):
        index.home.state_db.with_name(f"state.db{suffix}").unlink(missing_ok=True)
    index.home.state_db.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)


@pytest.mark.parametrize("change", [damage, use_none, use_other_server, lower_the_limit, damage_the_state])
def test_no_query_is_sent_against_the_settings_on_the_disk(
    index: VaultIndex, server: EmbeddingServer, change: Callable[[VaultIndex], None]
) -> None:
    change(index)
    answer = index.search("the oak is described")
    assert [hit.path for hit in answer.results][:1] == ["oak.md"]
    assert answer.degraded
    assert server.texts == []


def test_queries_go_on_while_another_model_is_built(index: VaultIndex, server: EmbeddingServer) -> None:
    set_value(index.home, "embedding.model", "other")
    assert index.search("the oak").degraded == ()
    assert server.requests[-1].body["model"] == "toy"


# --- what leaves -----------------------------------------------------------------------------------------------


def test_a_query_leaves_without_credentials_and_is_counted(index: VaultIndex, server: EmbeddingServer) -> None:
    index.search(f"why is {TOKEN} refused <private>my own words</private>", mode="vector")
    assert server.texts == ["why is [redacted: a GitHub token] refused"]
    (record,) = [one for one in index.privacy().results if one.path == "(queries)"]
    assert record.texts == 1


def test_of_a_query_that_is_all_private_nothing_leaves(index: VaultIndex, server: EmbeddingServer) -> None:
    assert index.search("<private>oak</private>").degraded
    assert server.texts == []


def test_a_note_leaves_without_credentials(index: VaultIndex, server: EmbeddingServer, tmp_path: Path) -> None:
    fact = f"---\nfacts: [The deploy key was {TOKEN} before]\npassword: the name of our cat\n---\n"
    write(tmp_path / "vault", {"keys.md": f"{fact}The deploy key is {TOKEN} by now.\n"})
    index.sync()
    assert set(server.texts) == {
        "The deploy key is [redacted: a GitHub token] by now.",
        "The deploy key was [redacted: a GitHub token] before",
        "- password: the name of our cat",  # a key of one's own says what is there
    }
    assert index.search(TOKEN, mode="text").results[0].path == "keys.md"
    assert index.embed_status().pending == 0


# --- what is from a private project ----------------------------------------------------------------------------


def memories_sent(server: EmbeddingServer) -> list[str]:
    return [text for text in server.texts if "WAL" in text]


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text,
        lambda text: text.replace("project: secret\n", ""),
        lambda text: text.replace("project: secret", "project: public"),
        lambda text: text.replace("title:", "title: ["),
        lambda text: text.partition("---\n")[2].partition("---\n")[2],
    ],
    ids=["as it is", "no project", "another project", "broken", "no frontmatter"],
)
@pytest.mark.parametrize("kept", ["secret", "~/clients/secret", "~/clients"])
@pytest.mark.parametrize("how", ["capture", "add"])
def test_a_memory_of_a_private_project_stays_home(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    edit: Callable[[str], str], kept: str, how: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "clients/secret/.git").mkdir(parents=True)
    keep(index, kept)
    if how == "capture":
        (stored,) = index.capture("*Remember*: We use WAL.", project=str(tmp_path / "clients/secret")).results
        path = stored.path
    else:
        path = index.add("We use WAL.", project="secret").path
    assert server.texts == []
    index.embed()
    file = tmp_path / "vault" / path
    file.write_text(edit(file.read_text("utf-8")), "utf-8")
    index.sync()
    assert memories_sent(server) == []
    if how == "capture" and "id:" in file.read_text("utf-8"):
        file.rename(file.with_name("moved.md"))
        index.sync()
        assert memories_sent(server) == []


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize(
    ("kept", "project"),
    [
        ("client-*", "/srv/client-one"),
        ("client-*", "/srv/client-one/"),
        ("client-*", "~/client-one"),
        ("client-*", "acme/client-one"),
        ("acme*", "acme/client-one"),
        ("client-*", r"C:\work\client-one"),
        ("client-*", "[[client-one]]"),
        ("client-*", "[[projects/client-one|The client]]"),
        ("client-*", "Client-One"),
        ("Client-One", "client-one"),
        ("client-*", "[public, /srv/client-one]"),
        ("/srv", "/srv/client-one"),
        ("~/clients", "~/clients/one"),
        ("repository", "{home}/repository/src"),
        ("linked", "{home}/linked"),
        ("repository", "{home}/linked"),
    ],
)
@pytest.mark.parametrize("how", ["add", "import"])
def test_a_memory_stays_home_however_its_project_is_written(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    how: str, kept: str, project: str, edited: bool,
) -> None:  # fmt: skip
    """`edited`: the file no longer says it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "repository/.git").mkdir(parents=True)
    (tmp_path / "repository/src").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "repository")
    keep(index, kept)
    project = project.format(home=tmp_path)
    if how == "add":
        path = index.add("We use WAL.", project=project).path
    else:
        said = project if project.startswith("[public") else f"'{project}'"
        write(tmp_path / "import", {"a.md": f"---\ntype: note\nproject: {said}\n---\nWe use WAL.\n"})
        path = index.import_(tmp_path / "import").results[0].path
    if edited:
        (tmp_path / "vault" / path).write_text("---\ntype: note\n---\nWe use WAL.\n", "utf-8")
    index.sync()
    index.embed()
    assert memories_sent(server) == []


@pytest.mark.parametrize("project", ["/srv/public", "[[public]]", "acme/public", "client"])
def test_one_of_another_project_leaves_however_that_is_written(
    index: VaultIndex, server: EmbeddingServer, project: str
) -> None:
    keep(index, "client-*", "srv", "acme")
    index.add("We use WAL.", project=project)
    index.embed()
    assert len(memories_sent(server)) == 1


@pytest.mark.parametrize("project", [r"/srv/\0", r"~\0"])
def test_a_folder_that_cannot_be_stays_home_and_holds_nothing_up(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path, project: str
) -> None:
    keep(index, "secret")
    write(tmp_path / "vault", {"a.md": f'---\nproject: "{project}"\n---\nWe use WAL.\n', "b.md": "WAL, too.\n"})
    index.sync()
    assert memories_sent(server) == ["WAL, too."]


def test_a_memory_of_another_project_leaves(index: VaultIndex, server: EmbeddingServer, tmp_path: Path) -> None:
    keep(index, "secret", str(tmp_path / "clients"))
    (tmp_path / "public/.git").mkdir(parents=True)
    index.capture("*Remember*: We use WAL.", project=str(tmp_path / "public"))
    index.add("WAL is for readers.", project="public", title="Readers")
    index.add("WAL is for everybody.", title="Everybody")
    index.embed()
    assert len(memories_sent(server)) == 3


def test_a_captured_memory_of_which_nobody_knows_the_folder_stays_home(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path
) -> None:
    write(
        tmp_path / "vault",
        {"80-memory/note/a.md": "---\ntype: note\nproject: api\nsession: ses_elsewhere\n---\nWe use WAL.\n"},
    )
    keep(index, "/srv/clients")
    index.sync()
    assert memories_sent(server) == []
    keep(index, "secret")
    index.sync()
    assert len(memories_sent(server)) == 1


@pytest.mark.parametrize("front", ["project: secret", "project: [a, secret]", "tags: [project/secret]"])
def test_a_note_that_names_a_private_project_stays_home(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path, front: str
) -> None:
    keep(index, "secret")
    write(
        tmp_path / "vault", {"a.md": f"---\n{front}\n---\nWe use WAL.\n", "b.md": "---\nproject: b\n---\nWAL, too.\n"}
    )
    index.sync()
    assert memories_sent(server) == ["WAL, too."]


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("project:", "was:"),
        lambda text: text.replace("project:", "was:").replace("directory:", "in:"),
        lambda text: text.replace("session: ses_s", "session: ses_p"),
        lambda text: text.replace("session: ses_s", "session: ses_nobody"),
        lambda text: text.replace("title:", "title: ["),
        lambda text: text.partition("---\n")[2].partition("---\n")[2],
    ],
    ids=["project", "directory", "session", "unknown", "broken", "no frontmatter"],
)
@pytest.mark.parametrize("gone", [False, True])
def test_a_session_that_was_written_as_a_file_stays_home_whatever_it_says(
    client: Client, server: EmbeddingServer, tmp_path: Path, edit: Callable[[str], str], gone: bool
) -> None:
    client.session("ses_s", "Hidden", project_id="global", directory="/home/user/secret")
    client.user("The secret heron", session="ses_s")
    client.session("ses_p", "Open", project_id="global", directory="/srv/public")
    client.user("An egret for everybody", session="ses_p")
    with open_index(tmp_path, mirror="sessions", local_only="secret") as index:
        use(index, server)
        index.sync(embed=False)
        if gone:
            client.run("DELETE FROM session WHERE id IN ('ses_s', 'ses_p')")
        (file,) = (tmp_path / "vault/sessions").glob("*Hidden.md")
        file.write_text(edit(file.read_text("utf-8")), "utf-8")
        index.sync()
        file.rename(file.with_name("Renamed.md"))
        index.sync()
    assert not any("heron" in text for text in server.texts)
    assert any("egret" in text for text in server.texts)


def test_a_session_of_another_machine_stays_home(client: Client, server: EmbeddingServer, tmp_path: Path) -> None:
    with open_index(tmp_path, mirror="sessions", local_only="secret") as index:
        use(index, server)
        write(
            tmp_path / "vault/sessions",
            {"a.md": "---\nsession: ses_far\nproject: public\ndirectory: /srv/public\n---\nA heron.\n"},
        )
        index.sync()
    assert not any("heron" in text for text in server.texts)


# --- what was sent before --------------------------------------------------------------------------------------


def test_what_was_sent_before_it_became_private_is_named(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path
) -> None:
    assert (index.privacy().private, index.privacy().hint) == ((), "")
    notes = {"a.md": "---\nproject: later\n---\nA.\n", "b.md": "B.\n", "c.md": "C.\n", "d.md": "D.\n"}
    write(tmp_path / "vault", notes)
    index.sync()
    keep(index, "later")
    set_value(index.home, "local_only", '["private/"]', source="vault")
    set_value(index.home, "exclude", '["b.md"]', source="vault")
    (tmp_path / "vault/c.md").unlink()
    found = index.privacy()
    endpoint = (server.base_url,)
    assert [(one.path, one.reason, one.endpoints) for one in found.private] == [
        ("a.md", "local_only", endpoint),
        ("b.md", "excluded", endpoint),
        ("private/elm.md", "local_only", endpoint),
    ]
    assert "ask whoever runs the server to delete it" in found.hint
    index._runtime.reload()
    index.sync()
    assert [one.path for one in index.privacy().private] == ["a.md", "b.md", "private/elm.md"]


@pytest.mark.parametrize("mirror", ["", "sessions"])
@pytest.mark.parametrize(("setting", "reason"), [("local_only", "local_only"), ("exclude", "excluded")])
def test_so_is_a_session(
    client: Client, server: EmbeddingServer, tmp_path: Path, mirror: str, setting: str, reason: str
) -> None:
    client.session("ses_s", "Hidden", project_id="global", directory="/home/user/secret")
    client.user("The heron", session="ses_s")
    with open_index(tmp_path, mirror=mirror) as index:
        use(index, server)
        index.sync()
        assert index.privacy().private == ()
        set_value(index.home, f"opencode.{setting}", "secret")
        named = [(one.path, one.reason) for one in index.privacy().private]
    expected = [("secret/ses_s.md" if not mirror else "sessions/2026-11-18 Hidden.md", reason)]
    assert named == ([] if mirror and setting == "exclude" else expected)  # a file that is there is a note of the vault
