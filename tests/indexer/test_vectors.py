"""Vectors of an index, with the embeddings of a real server on 127.0.0.1 or the local model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.vaults import opened, rows, write
from tests.embeddings.failures import (
    POISON,
    changed,
    over,
    overloaded,
    poisoned,
    says,
    spoiled,
    unauthorized,
    wrong_dimensions,
)
from tests.embeddings.replies import Failure
from tests.embeddings.server import EmbeddingServer
from vault_index import VaultIndex
from vault_index.api import to_json
from vault_index.config.edit import set_value
from vault_index.progress import CancelToken
from vault_index.results.base import Problem

NOTES = {
    f"{n:02}.md": f"# Note {n}\n\nThe {word} is described here.\n"
    for n, word in enumerate(("oak", "elm", "ash", "yew"))
}
NOTES["private/diary.md"] = "My secret is the colour purple.\n"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with EmbeddingServer(dimensions=64) as running:
        yield running


def use(index: VaultIndex, server: EmbeddingServer, **settings: str) -> None:
    """Set the index to embed at `server`."""
    chosen = {"base_url": server.base_url, "model": "toy", "dimensions": "64", "max_retries": "0", **settings}
    for key, value in chosen.items():
        set_value(index.home, f"embedding.{key}", value)
    set_value(index.home, "embedding.provider", "openai")
    index._runtime.reload()


@pytest.fixture
def index(tmp_path: Path, server: EmbeddingServer) -> Iterator[VaultIndex]:
    with opened(tmp_path) as opened_index:
        write(tmp_path / "vault", NOTES)
        use(opened_index, server)
        yield opened_index


def codes(problems: tuple[Problem, ...]) -> list[str]:
    return [problem.code for problem in problems]


def test_sync_sends_each_text_once_with_its_title(index: VaultIndex, server: EmbeddingServer) -> None:
    report = index.sync()
    assert (report.embedded, report.pending, report.problems) == (5, 0, ())
    assert sorted(server.texts)[2] == "Note 1\n# Note 1\n\nThe elm is described here."
    assert len(server.texts) == 5
    assert index.search("elm described", mode="vector").results[0].path == "01.md"


def test_cache_restores_vectors_of_a_deleted_index(index: VaultIndex, server: EmbeddingServer) -> None:
    index.sync()
    before = rows(index.home.index_db)
    index.close()
    index.home.index_db.unlink()
    with VaultIndex.open(index.home) as again:
        report = again.sync()
        assert (report.embedded, report.pending) == (0, 0)
        assert len(server.texts) == 5
        assert rows(index.home.index_db) == before
        with EmbeddingServer(dimensions=64) as second:  # another server may have another model of that name
            use(again, second)
            assert (again.sync().embedded, len(second.texts)) == (5, 5)


def test_sync_embeds_only_changed_texts(index: VaultIndex, server: EmbeddingServer, tmp_path: Path) -> None:
    index.sync()
    (tmp_path / "vault" / "00.md").rename(tmp_path / "vault" / "renamed.md")
    assert index.sync().embedded == 0
    write(tmp_path / "vault", {"01.md": "A line on top.\n\n" + NOTES["01.md"]})
    report = index.sync()
    assert (report.embedded, report.pending) == (1, 0)
    assert len(server.texts) == 6


@pytest.mark.parametrize("failure", [unauthorized, wrong_dimensions])
def test_search_works_with_a_failing_embedder(index: VaultIndex, server: EmbeddingServer, failure: Failure) -> None:
    server.fail_always(failure)
    report = index.sync()
    assert (report.added, report.embedded, report.pending) == (5, 0, 5)
    assert codes(report.problems) == ["embedder"]
    assert report.problems[0].hint
    assert "sk-test" not in repr(report)
    assert {record.path for record in index.privacy().results} == set(NOTES)  # written before the request
    answer = index.search("the elm")
    assert answer.results[0].path == "01.md"
    assert answer.degraded
    assert "embedder" in codes(index.status().problems)
    server.fail_always(None)
    assert index.sync().pending == 0
    assert index.status().problems == ()
    assert index.search("the elm").degraded == ()


def test_embed_resumes_after_a_failure(index: VaultIndex, server: EmbeddingServer) -> None:
    use(index, server, batch_texts="2")
    index.sync(embed=False)
    server.fail_next()
    assert index._runtime.embed_step().embedded == 2
    server.fail_next(overloaded)
    assert codes(index.embed().problems) == ["embedder"]
    assert index.embed().pending == 0
    answered = [request.texts for request in server.requests]
    assert sorted(text for texts in (answered[0], *answered[2:]) for text in texts) == sorted(set(server.texts))


def test_embed_resumes_after_it_was_cancelled(index: VaultIndex, server: EmbeddingServer) -> None:
    use(index, server, batch_texts="2")
    token = CancelToken()
    report = index.sync(
        progress=lambda stage, _done, _total: token.cancel() if stage == "embed" else None, cancel=token
    )
    assert (report.embedded, report.pending > 0, report.finished) == (2, True, False)
    assert to_json(report)["finished"] is False
    rest = index.embed()
    assert (rest.pending, rest.finished) == (0, True)
    assert "finished" not in to_json(rest)
    assert not index.embed(rebuild=True, cancel=CancelToken(lambda: True)).finished
    assert index.embed().pending == 0


def test_embed_builds_a_new_model_while_the_old_one_serves(index: VaultIndex, server: EmbeddingServer) -> None:
    index.sync()
    use(index, server, model="other", dimensions="32", batch_texts="2")
    index._runtime.embed_step()
    status = index.embed_status()
    assert (status.model, status.building, status.vectors) == ("toy", "other", 5)
    assert index.search("elm described", mode="vector").degraded == ()
    assert server.requests[-1].body["model"] == "toy"
    assert index.embed().pending == 0
    status = index.embed_status()
    assert (status.model, status.dimensions, status.building) == ("other", 32, None)
    assert index.search("elm described", mode="vector").results[0].path == "01.md"
    rows(index.home.index_db)


def test_privacy_ledger_names_documents_without_text(index: VaultIndex, server: EmbeddingServer) -> None:
    index.sync()
    index.search("purple prose")
    records = index.privacy().results
    assert {record.path for record in records} == {*NOTES, "(queries)"}
    assert {(record.endpoint, record.model, record.texts) for record in records} == {(server.base_url, "toy", 1)}
    assert all(record.tokens > 0 for record in records)
    assert b"purple" not in index.home.cache_db.read_bytes()


def test_embed_stops_before_the_daily_limit(index: VaultIndex, server: EmbeddingServer) -> None:
    use(index, server, daily_token_limit="40", batch_texts="1")
    report = index.sync()
    assert report.embedded in range(1, 5)
    assert report.pending == 5 - report.embedded
    assert codes(report.problems) == ["embedder"]
    assert "daily limit of 40" in report.problems[0].message
    assert sum(record.tokens for record in index.privacy().results) <= 40
    sent = len(server.texts)
    assert index.search("the elm").results[0].path == "01.md"
    assert len(server.texts) in (sent, sent + 1)


BAD_TEXTS = {
    "NaN that is no JSON": (says(500, {"error": {"message": "unsupported value: NaN"}}, poisoned), "value: NaN"),
    "content filter": (says(400, {"error": {"message": "filtered", "code": "content_filter"}}, poisoned), "filtered"),
    "error in a 200": (says(200, {"error": {"message": "no output"}}, poisoned), "no output"),
    "null": (spoiled(None), "invalid vector"),
    "empty": (spoiled([]), "0 dimensions"),
    "zeros": (spoiled([0.0] * 64), "zero or non-finite"),
    "two for one": (changed(lambda items, sent: items * (1 + poisoned(sent))), "2 vectors for 1 texts"),
}


@pytest.mark.parametrize(("failure", "reason"), BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_embed_skips_a_text_that_the_server_cannot_embed(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path, failure: Failure, reason: str
) -> None:
    write(tmp_path / "vault", {"02 bad.md": f"A {POISON} text.\n"})
    server.fail_always(failure)
    report = index.sync()
    assert (report.embedded, report.pending, report.problems) == (5, 1, ())
    (problem,) = index.status().problems
    assert (problem.code, problem.message.partition(": ")[0]) == ("not_embedded", "02 bad.md:1")
    assert reason in problem.message
    assert index.file_status("02 bad.md").problems == (problem,)
    sent = len(server.texts)
    assert (index.embed().pending, index.embed_plan().chunks, len(server.texts)) == (1, 0, sent)


def test_embed_retries_a_refused_text_when_it_or_the_model_changes(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path
) -> None:
    write(tmp_path / "vault", {"bad.md": f"A {POISON} text.\n"})
    server.fail_always(spoiled(None))
    index.sync()
    before = len(server.texts)
    index.embed(rebuild=True)
    assert any(POISON in text for text in server.texts[before:])
    use(index, server, model="other")
    assert index.embed().embedded == 5
    assert index.status().embedder.model == "other"  # the refused text does not delay it
    assert codes(index.status().problems) == ["not_embedded"]
    write(tmp_path / "vault", {"bad.md": "A good text.\n"})
    assert (index.sync().pending, index.status().problems) == (0, ())


LIMITS = {
    "texts, 400": says(400, {"error": {"code": "1214", "message": "at most 4 texts"}}, over(4)),
    "texts, list": says(400, [{"error": {"code": 400, "message": "at most 4 requests in one batch"}}], over(4)),
    "texts, 500": says(500, {"error": {"message": "batch size is invalid"}}, over(4)),
    "tokens": says(413, {"message": "Too many input tokens"}, lambda sent: sum(map(len, sent.texts)) > 200),
    "vectors": changed(lambda items, sent: items[:4]),
}


@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_embed_learns_the_limit_on_texts_per_request(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path, limit: Failure
) -> None:
    write(tmp_path / "vault", {f"n{number}.md": f"The lamp of room {number} is lit.\n" for number in range(8)})
    server.fail_always(limit)
    report = index.sync()
    assert (report.embedded, report.pending, report.problems) == (13, 0, ())
    assert index.search("elm described", mode="vector").results[0].path == "01.md"
    index.close()
    sent = len(server.texts)
    write(tmp_path / "vault", {f"m{number}.md": f"The door of room {number} is open.\n" for number in range(8)})
    with VaultIndex.open(index.home) as again:
        assert (again.sync().embedded, again.status().problems) == (8, ())
    assert len(server.texts) == sent + 8


def test_embed_plan_sends_nothing(index: VaultIndex, server: EmbeddingServer) -> None:
    index.sync(embed=False)
    plan = index.embed_plan()
    assert (plan.provider, plan.model, plan.chunks, plan.cached, plan.kept_local) == ("openai", "toy", 5, 0, 0)
    assert plan.tokens > 5
    assert server.requests == []
    index.embed()
    assert index.embed_plan().chunks == 0


@pytest.mark.parametrize("everything", [False, True])
def test_embed_activates_a_model_despite_unreadable_files(
    index: VaultIndex, server: EmbeddingServer, tmp_path: Path, everything: bool
) -> None:
    vault, away = tmp_path / "vault", tmp_path / "away"
    index.sync()
    use(index, server, model="other")
    if everything:
        vault.rename(away)
    else:
        (vault / "00.md").rename(vault / ".00.md.icloud")  # as iCloud leaves an offloaded file
    report = index.embed()
    assert report.pending == (5 if everything else 1)
    assert index.search("elm described", mode="vector").results[0].path == "01.md"
    assert index.status().embedder.model == ("toy" if everything else "other")
    if everything:
        away.rename(vault)
    else:
        (vault / ".00.md.icloud").rename(vault / "00.md")
    index.sync()
    assert (index.status().embedder.model, index.embed().pending) == ("other", 0)


def test_search_uses_the_old_vector_while_tags_and_titles_change(index: VaultIndex, server: EmbeddingServer) -> None:
    """The body is the same, so its old vector answers until the new one exists."""
    stored = index.add("Herons nest in the reeds.", title="Where herons nest")
    index.sync()
    for field, waiting in {"tags": 1, "title": 1, "facts": 2}.items():
        answer = index.update(stored.id, **{field: "Nests"})  # type: ignore[arg-type]
        found = index.search("herons nest in the reeds", mode="vector")
        assert (found.results[0].id, answer.degraded) == (
            stored.id,
            (f"vector: pending for {waiting} of its passages",),
        )
        assert found.degraded == (f"vector: pending for {waiting} of {index.stats().chunks} passages",)
    report = index.sync()
    assert (report.embedded, report.pending, index.search("herons").degraded) == (2, 0, ())
    before = rows(index.home.index_db)
    index.rebuild()
    assert rows(index.home.index_db) == before
    sent = len(server.texts)
    index.update(stored.id, tags="Birds")
    assert index.update(stored.id, tags="Nests").degraded == ()  # cached, so nothing is sent for it
    assert (index.sync().pending, len(server.texts)) == (0, sent)


def test_add_embeds_a_long_memory_at_once_with_the_local_model(tmp_path: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        body = "\n\n".join(f"## Part {part}\n\nThe heron of part {part} fishes alone." for part in range(40))
        stored = index.add(body, title="Herons")
        assert (stored.degraded, index.file_status(stored.path).vectors) == ((), 40)
        for change in ({"tags": ["birds"]}, {"facts": ["They are grey"]}, {"content": "Owls.\n"}):
            assert index.update(stored.id, **change).degraded == ()
            assert index.file_status(stored.path).pending == 0
        again = index.add("Owls.", title="Herons", facts=["They are grey"], tags=["night"])  # its tags are inherited
        assert (again.duplicate_of, index.file_status(stored.path).pending) == (stored.id, 0)
        assert index.search("owls").degraded == ()
