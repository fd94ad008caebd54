"""Text for a remote embedder is checked when it leaves, by the current settings and files."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from tests.embeddings.failures import server_error
from tests.embeddings.replies import Reply, Request
from tests.embeddings.server import EmbeddingServer
from tests.indexer.test_vectors import codes, server as server, use
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
