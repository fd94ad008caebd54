"""Text for a remote embedder is checked when it leaves, by the current settings and files."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from tests.embeddings.failures import server_error
from tests.embeddings.replies import Reply, Request
from tests.embeddings.server import EmbeddingServer
from tests.indexer.test_sessions import open_index
from tests.indexer.test_vectors import codes, server as server, use
from tests.sources.opencode.stores import Client
from vault_index import VaultIndex
from vault_index.config.edit import set_value

PUBLIC = {f"{n}.md": f"# Note {n}\n\nThe {word} is described here.\n" for n, word in enumerate(("oak", "elm", "ash"))}
PRIVATE = {f"private/{n}.md": f"The secret number {n} is purple.\n" for n in range(3)}


@pytest.fixture
def index(tmp_path: Path, server: EmbeddingServer) -> Iterator[VaultIndex]:
    """An index of public files that has sent nothing yet."""
    with opened(tmp_path) as opened_index:
        write(tmp_path / "vault", {**PUBLIC, **PRIVATE})
        use(opened_index, server)
        opened_index.sync(embed=False)
        yield opened_index


def keep_private(index: VaultIndex) -> None:
    """On disk only: an open index does not know it."""
    set_value(index.home, "local_only", '["private/"]', source="vault")


def exclude_private(index: VaultIndex) -> None:
    set_value(index.home, "exclude", '["private/"]', source="vault")


def remove_source(index: VaultIndex) -> None:
    text = index.home.config_file.read_text("utf-8")
    index.home.config_file.write_text(text.replace("[sources.vault]", "[sources.other]"), "utf-8")


def delete_private(index: VaultIndex) -> None:
    for path in PRIVATE:
        (index._runtime.config.sources[0].path / path).unlink()


def change_private(index: VaultIndex) -> None:
    write(index._runtime.config.sources[0].path, dict.fromkeys(PRIVATE, "It is nothing.\n"))


def damage_settings(index: VaultIndex) -> None:
    index.home.config_file.write_text("[sources", "utf-8")


def use_other_server(index: VaultIndex) -> None:
    set_value(index.home, "embedding.base_url", "http://127.0.0.1:9/v1")


SOME_LEAVE = [keep_private, exclude_private, delete_private, change_private]
NOTHING_LEAVES = [remove_source, damage_settings, use_other_server]
ALL_CHANGES = pytest.mark.parametrize("change", [*SOME_LEAVE, *NOTHING_LEAVES])
EACH_REASON = pytest.mark.parametrize("change", [keep_private, damage_settings, use_other_server])


def secrets_in(server: EmbeddingServer) -> list[str]:
    return [text for text in server.texts if "secret" in text]


@ALL_CHANGES
def test_embed_obeys_the_current_settings_and_files(
    index: VaultIndex, server: EmbeddingServer, change: Callable[[VaultIndex], None]
) -> None:
    change(index)
    report = index.embed()
    assert secrets_in(server) == []
    assert len(server.texts) == (0 if change in NOTHING_LEAVES else 3)
    assert report.pending == (0 if change is keep_private else 6 - len(server.texts))
    assert not [record for record in index.privacy().results if record.path in PRIVATE]
    if change is damage_settings:
        (problem,) = report.problems
        assert problem.code == "embedder"
        assert "nothing is sent while the settings cannot be read" in problem.message
    if change is change_private:
        assert index.embed_plan().unread == 3
        assert index.sync().pending == 0
        assert server.texts.count("It is nothing.") == 1


@EACH_REASON
def test_embed_obeys_a_change_between_two_requests(
    index: VaultIndex, server: EmbeddingServer, change: Callable[[VaultIndex], None]
) -> None:
    use(index, server, batch_texts="1")

    def after_the_first(request: Request, reply: Reply) -> Reply:
        change(index)
        return reply

    server.fail_next(after_the_first)
    index.embed()
    assert secrets_in(server) == []
    assert len(server.texts) == (1 if change in NOTHING_LEAVES else 3)


@EACH_REASON
def test_embed_obeys_a_change_before_a_retry(
    index: VaultIndex, server: EmbeddingServer, change: Callable[[VaultIndex], None]
) -> None:
    use(index, server, max_retries="2")

    def unavailable(request: Request, reply: Reply) -> Reply:
        change(index)
        return server_error(request, reply)

    server.fail_next(unavailable)
    index.embed()
    assert len(server.requests[0].texts) == 6
    again = [text for request in server.requests[1:] for text in request.texts]
    assert len(again) == (0 if change in NOTHING_LEAVES else 3)
    assert not any("secret" in text for text in again)


@ALL_CHANGES
def test_embed_plan_and_counts_match_the_sent_texts(
    index: VaultIndex, server: EmbeddingServer, change: Callable[[VaultIndex], None]
) -> None:
    index._runtime.embed_step()
    write(index._runtime.config.sources[0].path, {f"private/new {n}.md": f"Another secret: {n}.\n" for n in range(2)})
    index.sync(embed=False)
    sent = len(server.texts)
    change(index)
    for path in index._runtime.config.sources[0].path.glob("private/new *.md"):
        if change in (delete_private, change_private):
            path.unlink()
    kept = 2 if change is keep_private else 0
    assert index.status().index.pending == index.stats().pending == index.embed_status().pending == 2 - kept
    assert index.embed_status().kept_local == kept
    if change in (*SOME_LEAVE, remove_source):
        plan = index.embed_plan()
        left = 0 if change is keep_private else 2
        assert (plan.chunks, plan.kept_local, plan.unread, plan.tokens) == (0, kept, left, 0)
    assert index.embed().pending == 2 - kept
    assert len(server.texts) == sent


def test_embed_does_not_send_notes_moved_into_a_private_folder(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path
) -> None:
    keep_private(index)
    (tmp_path / "vault/0.md").rename(tmp_path / "vault/private/0 was public.md")
    assert (index.embed_plan().chunks, index.embed_plan().unread) == (2, 1)
    index.embed()
    index.sync([tmp_path / "vault/2.md"])
    index._runtime.reload()
    index.sync()
    assert not any("oak" in text for text in server.texts)
    assert index.embed_status().kept_local == 4


def test_embed_does_not_send_a_folder_replaced_by_a_private_link(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path
) -> None:
    write(tmp_path / "vault", {"open/a.md": "The secret of the sea.\n"})
    index.sync(embed=False)
    keep_private(index)
    (tmp_path / "vault/open").rename(tmp_path / "vault/private/open")
    (tmp_path / "vault/open").symlink_to(tmp_path / "vault/private/open")
    index.embed()
    assert secrets_in(server) == []


def test_embed_sends_nothing_private_after_sync_of_a_path_or_import(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path
) -> None:
    keep_private(index)
    assert index.sync([tmp_path / "vault/1.md"]).pending == 0
    assert len(server.texts) == 3
    write(tmp_path / "memories", {"a.md": "---\ntype: decision\n---\nWe use WAL.\n"})
    index.import_(tmp_path / "memories")
    assert any("WAL" in text for text in server.texts)
    assert secrets_in(server) == []


def test_embed_sends_a_shared_text_under_its_public_file(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path
) -> None:
    write(tmp_path / "vault", {"private/a.md": "The very same words.\n", "z.md": "The very same words.\n"})
    index.sync(embed=False)
    keep_private(index)
    index.embed()
    assert server.texts.count("The very same words.") == 1
    named = {record.path for record in index.privacy().results}
    assert "z.md" in named
    assert "private/a.md" not in named


def test_embed_is_not_delayed_by_changed_files(index: VaultIndex, server: EmbeddingServer, tmp_path: Path) -> None:
    use(index, server, batch_texts="1")
    write(tmp_path / "vault", {"0.md": "Changed.\n", "1.md": "Changed, too.\n"})
    steps = [index._runtime.embed_step() for _ in range(5)]
    assert [step.embedded for step in steps] == [1, 1, 1, 1, 0]
    assert steps[-1].pending == 2


def test_embed_activates_a_model_if_only_private_notes_lack_vectors(index: VaultIndex, server: EmbeddingServer) -> None:
    index.embed()
    keep_private(index)
    use(index, server, model="other")
    index.embed()
    status = index.embed_status()
    assert (status.model, status.building, status.kept_local) == ("other", None, 3)


def test_embed_obeys_a_lowered_limit(index: VaultIndex, server: EmbeddingServer) -> None:
    set_value(index.home, "embedding.daily_token_limit", "1")
    assert codes(index.embed().problems) == ["embedder"]
    assert server.texts == []


@pytest.mark.parametrize("setting", ["true", "secret", "/home/user/secret"])
@pytest.mark.parametrize("mirror", ["", "sessions"])
def test_embed_does_not_send_sessions_that_became_private(
    client: Client, server: EmbeddingServer, tmp_path: Path, mirror: str, setting: str
) -> None:
    client.session("ses_s", "Hidden", project_id="global", directory="/home/user/secret")
    client.user("The secret heron", session="ses_s")
    client.session("ses_p", "Open", project_id="global", directory="/srv/public")
    client.user("An egret for everybody", session="ses_p")
    with open_index(tmp_path, mirror=mirror) as index:
        use(index, server)
        index.sync(embed=False)
        set_value(index.home, "sessions.opencode.local_only", setting)
        assert index.embed_plan().kept_local == (2 if setting == "true" else 1)
        assert index.embed().pending == 0
    assert secrets_in(server) == []
    assert any("egret" in text for text in server.texts) is (setting != "true")
    assert any("compares passwords" in text for text in server.texts)


def test_embed_does_not_send_files_of_private_sessions_after_mirroring(
    client: Client, server: EmbeddingServer, tmp_path: Path
) -> None:
    client.run("UPDATE project SET worktree = '/home/user/secret' WHERE id = 'p1'")
    client.session("ses_s", "Hidden", directory="/elsewhere/checkout")
    client.user("The secret heron", session="ses_s")
    with open_index(tmp_path, mirror="sessions", local_only="/home/user/secret") as index:
        use(index, server)
        index.sync()
        (file,) = (tmp_path / "vault/sessions").glob("*Hidden.md")
        set_value(index.home, "sessions.opencode.enabled", "false")
        set_value(index.home, "sessions.mirror", "")
        index._runtime.reload()
        index.sync()
        set_value(index.home, "sessions.mirror", "sessions")
        file.write_text(file.read_text("utf-8").replace("title: Hidden", "title: [Hidden"), "utf-8")
        index._runtime.reload()
        index.sync()
    assert secrets_in(server) == []
    assert any("compares passwords" in text for text in server.texts)
