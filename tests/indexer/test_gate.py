"""The privacy gate for queries, memories and sessions: `local_only` is checked when text would leave."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from tests.embeddings.failures import server_error
from tests.embeddings.replies import Reply, Request
from tests.embeddings.server import EmbeddingServer
from tests.indexer.test_sessions import open_index
from tests.indexer.test_vectors import server as server, use
from tests.sources.opencode.stores import Client
from tests.tables import tables
from vault_index import VaultIndex
from vault_index.api.json_api import dispatch
from vault_index.config.edit import set_value
from vault_index.errors import UsageError
from vault_index.mcp_server.toolbox import Toolbox
from vault_index.mcp_server.tools import TOOLS
from vault_index.results.search import SearchResult

CASES = tables(__file__)

NOTES = {"oak.md": "# Oak\n\nThe oak is described here.\n", "private/elm.md": "The elm is described here.\n"}
PUBLIC = "/srv/public"
"""A folder whose queries may leave."""
TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
Edit = Callable[[str], str]


@pytest.fixture
def index(tmp_path: Path, server: EmbeddingServer) -> Iterator[VaultIndex]:
    with opened(tmp_path) as opened_index:
        write(tmp_path / "vault", NOTES)
        use(opened_index, server)
        opened_index.sync()
        server.requests.clear()
        yield opened_index


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with some repositories and links."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for root in ("clients/secret", "clients/acme/my-app", "mono", "repository"):
        (tmp_path / root / ".git").mkdir(parents=True)
    (tmp_path / "work").symlink_to(tmp_path / "clients")
    (tmp_path / "linked").symlink_to(tmp_path / "repository")
    return tmp_path


@pytest.fixture
def sessions(client: Client) -> Client:
    """One session in a folder that some tests keep local, and one in a public folder."""
    client.session("ses_s", "Hidden", project_id="global", directory="/home/user/secret")
    client.user("The secret heron", session="ses_s")
    client.session("ses_p", "Open", project_id="global", directory="/srv/public")
    client.user("An egret for everybody", session="ses_p")
    return client


def keep(index: VaultIndex, *projects: str) -> None:
    """Set it on disk only: an open index does not know it."""
    set_value(index.home, "sessions.opencode.local_only", "true" if not projects else str(list(projects)))


def stayed(result: SearchResult, server: EmbeddingServer) -> bool:
    """Return whether the query was answered by words, with a reason, and nothing was sent since the last call."""
    told = any("local_only keeps it on this machine" in why for why in result.degraded)
    assert told is not bool(server.texts)
    server.requests.clear()
    return told


def sent(server: EmbeddingServer, word: str) -> list[str]:
    return [text for text in server.texts if word in text]


# --- queries: the caller ---------------------------------------------------------------------------------------

ASKING = CASES["asking"]
"""A value of `local_only`, and a project that it covers."""


def test_gate_blocks_a_query_of_a_private_project(index: VaultIndex, server: EmbeddingServer, home: Path) -> None:
    misses = []
    for number, (kept, project) in enumerate(ASKING):
        keep(index, kept)
        if not index.recall(f"the oak of {number}", project=project).degraded or server.texts:
            misses.append((kept, project))
    assert misses == []
    assert index.privacy().results[0].path != "(queries)"
    assert index.recall("the oak", project="~/elsewhere/public").degraded != ()  # the folder is unknown
    assert index.recall("the oak that nobody knows", project="~/elsewhere/public", directory=PUBLIC).degraded == ()
    assert server.texts == ["the oak that nobody knows"]


@pytest.mark.parametrize(("kept", "leaves"), [((), False), (("secret",), False), (("other",), True)])
def test_gate_blocks_a_query_of_a_private_session(
    sessions: Client, server: EmbeddingServer, tmp_path: Path, kept: tuple[str, ...], leaves: bool
) -> None:
    with open_index(tmp_path) as index:
        use(index, server)
        index.sync()
        server.requests.clear()
        keep(index, *kept)
        index.recall("the heron", session="ses_s", directory=PUBLIC)
        assert bool(server.texts) is leaves
        server.requests.clear()
        assert stayed(index.search("heron", directory=PUBLIC, exclude_session="ses_s"), server) is not leaves
        for unknown in ("ses_", "ses_nobody_knows"):  # a prefix of an id may match any session
            index.recall("the heron", session=unknown, directory=PUBLIC)
            assert stayed(index.search("heron", directory=PUBLIC, exclude_session=unknown), server)


def test_gate_names_a_private_project_or_folder_as_the_reason(index: VaultIndex, server: EmbeddingServer) -> None:
    assert not stayed(index.search("the oak"), server)
    keep(index)
    assert stayed(index.search("the oak"), server)  # the folder is unknown
    assert not stayed(index.search("the oak", directory=PUBLIC), server)
    keep(index, "/srv/secret")
    for project, directory in (("secret", "/srv/public"), ("public", "/srv/secret"), (None, "/srv/secret")):
        assert index.recall("the oak", project=project, directory=directory).degraded
    result = index.search("the oak", directory="/srv/secret/src")
    assert stayed(result, server)
    assert result.results[0].path == "oak.md"


def test_gate_blocks_a_query_for_a_private_project(index: VaultIndex, server: EmbeddingServer, home: Path) -> None:
    public = {"z.md": "---\nproject: public\n---\nThe oak of all.\n"}
    write(home / "vault", {**public, "80-memory/a.md": "---\nsession: ses_here\nproject: x\n---\nThe oak.\n"})
    index.sync()
    server.requests.clear()
    misses = []
    for kept, query in (
        (("secret",), "project:secret oak"),
        (("secret",), "tag:project/secret oak"),
        (("/srv/secret",), "project:secret oak"),
        (("sec*",), "project:/srv/secret oak"),
        (("Secret",), "project:secret oak"),
        (("My Secret",), "tag:project/my-secret oak"),
        (("secret",), "session:ses_unknown oak"),
        ((), "project:anything oak"),
        (("~/clients",), 'project:"My App" oak'),
        (("~/clients",), "tag:project/my_app/notes oak"),
        (("~/clients",), "[Project:My-App] oak"),
        (("~/clients",), "[session:ses_unknown] oak"),
        (("x", "~/clients"), "session:SES_H oak"),
        (("public",), "source:vault title:z oak"),
    ):
        keep(index, *kept)
        if not stayed(index.search(query, directory=PUBLIC), server):
            misses.append((kept, query))
    assert misses == []
    keep(index, "~/clients")
    assert not stayed(index.search("project:Public oak", directory=PUBLIC), server)


@pytest.mark.parametrize(("setting", "query", "stays"), CASES["gate_blocks_a_query_within_a_private_path"])
def test_gate_blocks_a_query_within_a_private_path(
    index: VaultIndex, server: EmbeddingServer, setting: str, query: str, stays: bool
) -> None:
    set_value(index.home, "local_only", setting, source="vault")
    assert stayed(index.search(query, directory=PUBLIC), server) is stays
    assert stayed(index.search("elm", directory=str(index._runtime.config.sources[0].path / "private")), server)


def test_gate_checks_a_query_again_before_a_retry(index: VaultIndex, server: EmbeddingServer) -> None:
    use(index, server, max_retries="1")

    def unavailable(request: Request, reply: Reply) -> Reply:
        keep(index, "secret")
        return server_error(request, reply)

    server.fail_next(unavailable)
    assert index.search("project:secret oak", directory=PUBLIC).degraded
    assert len(server.requests) == 1


def damage_settings(index: VaultIndex) -> None:
    index.home.config_file.write_text("[sources", "utf-8")


def use_no_embedder(index: VaultIndex) -> None:
    set_value(index.home, "embedding.provider", "none")


def use_another_server(index: VaultIndex) -> None:
    set_value(index.home, "embedding.base_url", "http://127.0.0.1:9/v1")


def lower_the_limit(index: VaultIndex) -> None:
    set_value(index.home, "embedding.daily_token_limit", "1")


def damage_the_state(index: VaultIndex) -> None:
    index.close()
    for suffix in ("-wal", "-shm"):
        index.home.state_db.with_name(f"state.db{suffix}").unlink(missing_ok=True)
    index.home.state_db.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)


@pytest.mark.parametrize(
    "change", [damage_settings, use_no_embedder, use_another_server, lower_the_limit, damage_the_state]
)
def test_gate_blocks_a_query_if_the_settings_on_disk_forbid_it(
    index: VaultIndex, server: EmbeddingServer, change: Callable[[VaultIndex], None]
) -> None:
    change(index)
    answer = index.search("the oak is described")
    assert [hit.path for hit in answer.results][:1] == ["oak.md"]
    assert answer.degraded
    assert server.texts == []


def test_gate_removes_credentials_and_private_words_from_a_query(index: VaultIndex, server: EmbeddingServer) -> None:
    with pytest.raises(UsageError, match="no word to search for"):
        index.search("<private>oak</private>")
    assert server.texts == []
    index.search(f"why is {TOKEN} refused <private>my own words</private>", mode="vector")
    assert server.texts == ["why is [redacted: a GitHub token] refused"]
    (record,) = [one for one in index.privacy().results if one.path == "(queries)"]
    assert record.texts == 1


def test_gate_sends_a_query_as_typed_not_corrected(index: VaultIndex, server: EmbeddingServer, tmp_path: Path) -> None:
    set_value(index.home, "local_only", '["private/"]', source="vault")
    write(tmp_path / "vault", {"private/cure.md": "The patient takes zolpidemorin.\n"})
    index.sync()
    result = index.search("zolpidemorim", directory=PUBLIC)
    assert result.results[0].path == "private/cure.md"
    assert server.texts == ["zolpidemorim"]


def test_gate_removes_credentials_from_a_note(index: VaultIndex, server: EmbeddingServer, tmp_path: Path) -> None:
    fact = f"---\nfacts: [The deploy key was {TOKEN} before]\npassword: the name of our cat\n---\n"
    write(tmp_path / "vault", {"keys.md": f"{fact}The deploy key is {TOKEN} by now.\n"})
    index.sync()
    assert set(server.texts) == {
        "The deploy key is [redacted: a GitHub token] by now.",
        "The deploy key was [redacted: a GitHub token] before",
        "- password: the name of our cat",  # no credential, only a key that sounds like one
    }
    assert index.search(TOKEN, mode="text").results[0].path == "keys.md"
    assert index.embed_status().pending == 0


PROJECTS = CASES["projects"]


def test_gate_blocks_a_memory_of_a_private_project_in_any_spelling(
    index: VaultIndex, server: EmbeddingServer, home: Path
) -> None:
    """Added or imported, with or without the project in the file."""
    misses = []
    for number, (kept, form) in enumerate(PROJECTS):
        keep(index, kept)
        project = form.format(home=home)
        said = project if project.startswith("[public") else f"'{project}'"
        for edited in (False, True):
            folder = home / f"import/{number}/{edited}"
            text = f"WAL {number}: imported, {edited}."
            write(folder, {f"{number}-{edited}.md": f"---\ntype: note\nproject: {said}\n---\n{text}\n"})
            added = index.add(
                f"WAL {number}: added, {edited}.", project=project, title=f"{number} {edited}", force=True
            )
            paths = [added.path, index.import_(folder).results[0].path]
        for path in paths:
            file = home / "vault" / path
            file.write_text("---\ntype: note\n---\n" + file.read_text("utf-8").partition("\n---\n")[2], "utf-8")
        index.sync()
        index.embed()
        if sent(server, f"WAL {number}:"):
            misses.append((kept, form))
    assert misses == []
    keep(index, "nothing")
    index.embed()
    assert all(sent(server, f"WAL {number}:") for number in range(len(PROJECTS)))


def test_gate_blocks_a_memory_typed_in_a_private_folder(index: VaultIndex, server: EmbeddingServer, home: Path) -> None:
    inside, public = str(home / "clients/acme"), str(home / "public")
    keep(index, "~/clients", "secret")
    write(home / "clients/notes", {"i.md": "---\ntype: note\n---\nWAL imported.\n"})
    write(home / "vault/80-memory", {"hand.md": "By hand.\n"})
    index.sync()
    index.update("hand.md", content="WAL appended.", append=True, directory=inside)
    tagged = index.add("WAL of a tag #project/secret", directory=public).path
    kept = [
        index.add("WAL added.", directory=inside).path,
        index.add("WAL for a public project.", project="public", directory=[public, inside]).path,
        index.capture("*Remember*: WAL captured.", directory=inside).results[0].path,
        index.import_(home / "clients/notes").results[0].path,
        index.add("Before WAL.", directory=public).path,
        index.add("Said twice.", directory=public).path,
    ]
    toolbox = Toolbox(TOOLS, partial(dispatch, index))
    toolbox.call("memory_store", {"content": "WAL by an agent."}, folders=[inside])
    index.update(kept[-2], content="WAL updated.", directory=inside)
    index.add("Said twice.", tags="wal", directory=inside)
    index.add("WAL in public.", directory=public)
    (home / "vault/80-memory/hand.md").rename(home / "vault/80-memory/moved.md")
    file = home / "vault" / tagged
    file.write_text(file.read_text("utf-8").replace("#project/secret", ""), "utf-8")
    index.sync(embed=False)
    server.requests.clear()
    index.embed(rebuild=True)
    assert {text.partition(".")[0].partition("\n")[0] for text in sent(server, "WAL")} == {"WAL in public"}
    assert sent(server, "Said twice") == []
    assert sent(server, "oak")


def test_gate_blocks_a_memory_of_an_unknown_session_if_any_is_private(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path
) -> None:
    write(
        tmp_path / "vault",
        {"80-memory/note/a.md": "---\ntype: note\nproject: api\nsession: ses_elsewhere\n---\nWe use WAL.\n"},
    )
    for kept in ("/srv/clients", "secret"):
        keep(index, kept)
        index.sync()
        assert sent(server, "WAL") == []
    set_value(index.home, "sessions.opencode.local_only", "false")
    index.sync()
    assert len(sent(server, "WAL")) == 1


def test_gate_blocks_a_note_of_a_private_or_invalid_project(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path
) -> None:
    fronts = (
        "project: secret", "project: [a, secret]", "tags: [project/secret]", r'project: "/srv/\0"', r'project: "~\0"',
        "Project: Secret", "project: {name: secret}", "TAGS: project/SECRET", "tags: project/secret/api",
    )  # fmt: skip
    keep(index, "secret")
    texts = ("WAL of #project/Secret", "WAL\n\nProject:: [[Secret]]")
    write(tmp_path / "vault", {f"text {n}.md": f"{text}\n" for n, text in enumerate(texts)})
    write(tmp_path / "vault", {f"{n}.md": f"---\n{front}\n---\nWAL {n}.\n" for n, front in enumerate(fronts)})
    write(tmp_path / "vault", {"b.md": "---\nproject: b\n---\nWAL, too.\n"})
    index.sync()
    assert sent(server, "WAL") == ["WAL, too."]
    assert {one.path for one in index.list(project="Secret").results} == {"0.md", "1.md", "5.md", "6.md"}


SESSION_EDITS: dict[str, Edit] = {
    "project": lambda text: text.replace("project:", "was:"),
    "directory": lambda text: text.replace("project:", "was:").replace("directory:", "in:"),
    "session": lambda text: text.replace("session: ses_", "session: ses_p"),
    "unknown": lambda text: text.replace("session: ses_", "session: ses_nobody_"),
    "broken": lambda text: text.replace("title:", "title: ["),
    "no frontmatter": lambda text: text.partition("---\n")[2].partition("---\n")[2],
}


@pytest.mark.parametrize("gone", [False, True])
def test_gate_blocks_a_mirrored_file_of_a_private_session(
    sessions: Client, server: EmbeddingServer, tmp_path: Path, gone: bool
) -> None:
    for number, name in enumerate(SESSION_EDITS):
        sessions.session(f"ses_{number}", f"Kept {name}", project_id="global", directory="/home/user/secret")
        sessions.user(f"The heron of {name}", session=f"ses_{number}")
        sessions.session(f"ses_p{number}", project_id="global", directory="/srv/public")
    with open_index(tmp_path, mirror="sessions", local_only="secret") as index:
        use(index, server)
        index.sync(embed=False)
        if gone:
            sessions.run("DELETE FROM session")
        for name, edit in SESSION_EDITS.items():
            (file,) = (tmp_path / "vault/sessions").glob(f"*Kept {name}.md")
            file.write_text(edit(file.read_text("utf-8")), "utf-8")
        index.sync()
        for name in SESSION_EDITS:
            (file,) = (tmp_path / "vault/sessions").glob(f"*Kept {name}.md")
            file.rename(file.with_name(f"Renamed {name}.md"))
        index.sync()
    assert sent(server, "heron") == []
    assert sent(server, "egret")


def test_gate_blocks_a_session_of_a_link_or_of_another_machine(
    client: Client, server: EmbeddingServer, home: Path
) -> None:
    client.session("ses_s", "Hidden", project_id="global", directory=str(home / "work"))
    client.user("The heron", session="ses_s")
    with open_index(home, mirror="sessions", local_only=str(home / "clients")) as index:
        use(index, server)
        write(
            home / "vault/sessions",
            {"a.md": "---\nsession: ses_far\nproject: public\ndirectory: /srv/public\n---\nA heron far away.\n"},
        )
        index.sync()
        index.recall("the heron", session="ses_s")
    assert sent(server, "heron") == []


def test_privacy_names_text_sent_before_it_became_private(
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
    assert "ask the operator of the server to delete them" in found.hint
    index._runtime.reload()
    index.sync()
    assert [one.path for one in index.privacy().private] == ["a.md", "b.md", "private/elm.md"]


@pytest.mark.parametrize(("mirror", "path"), [("", "secret/ses_s.md"), ("sessions", "sessions/2026-11-18 Hidden.md")])
def test_privacy_names_sessions_sent_before_they_became_private(
    sessions: Client, server: EmbeddingServer, tmp_path: Path, mirror: str, path: str
) -> None:
    with open_index(tmp_path, mirror=mirror) as index:
        use(index, server)
        index.sync()
        assert index.privacy().private == ()
        named = []
        for setting in ("exclude", "local_only"):
            set_value(index.home, f"sessions.opencode.{setting}", "secret")
            named.append([(one.path, one.reason) for one in index.privacy().private])
            set_value(index.home, f"sessions.opencode.{setting}", "nothing")
    # A mirrored file is a note of the vault, to which `exclude` of sessions does not apply.
    assert named == [[] if mirror else [(path, "excluded")], [(path, "local_only")]]
