import logging
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from email.utils import formatdate
from typing import Any

import pytest

from tests.embeddings import failures
from tests.embeddings.replies import Failure, vector
from tests.embeddings.server import EmbeddingServer
from tests.waiting import PATIENCE
from vault_index.config import EmbeddingConfig
from vault_index.embeddings.openai import OpenAIEmbedder
from vault_index.errors import EmbedderError, EmbedderRefused
from vault_index.models import Vector, VectorSpace

KEY = "sk-test-0123456789abcdef"
Open = Callable[..., OpenAIEmbedder]


@pytest.fixture
def waits() -> list[float]:
    """The seconds of the waits, which are skipped."""
    return []


@pytest.fixture
def open_it(server: EmbeddingServer, waits: list[float], monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    monkeypatch.setattr("vault_index.embeddings.openai._QUERY_TIMEOUT", PATIENCE)
    opened: list[OpenAIEmbedder] = []

    def open_it(space: VectorSpace | None = None, **settings: Any) -> OpenAIEmbedder:
        own: dict[str, Any] = {"provider": "openai", "base_url": server.base_url, "api_key": KEY, "timeout": PATIENCE}
        config = EmbeddingConfig(**own | settings)
        opened.append(OpenAIEmbedder(config, space, sleep=waits.append))
        return opened[-1]

    yield open_it
    for embedder in opened:
        embedder.close()


def numbers(vector: Vector) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def test_openai_embedder_sends_all_texts_in_one_request(server: EmbeddingServer, open_it: Open) -> None:
    vectors = open_it().embed(["one", "two", "three"])
    assert [numbers(v) for v in vectors] == [
        pytest.approx(vector(text, 1536), abs=1e-6) for text in ("one", "two", "three")
    ]
    (request,) = server.requests
    assert request.texts == ["one", "two", "three"]
    assert request.body["model"] == "text-embedding-3-small"
    assert set(request.body) == {"input", "model"}
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_openai_embedder_takes_dimensions_from_setting_or_request(server: EmbeddingServer, open_it: Open) -> None:
    embedder = open_it(dimensions=512)
    assert embedder.space.dimensions == 512
    assert len(embedder.embed(["text"])[0]) == 512 * 4
    assert server.requests[0].body["dimensions"] == 512
    server.dimensions = 768
    unknown = open_it(model="nomic-embed-text")
    assert unknown.space.dimensions == 768
    assert len(unknown.embed_query("text")) == 768 * 4
    assert len(server.requests) == 3
    server.fail_always(failures.server_error)
    with pytest.raises(EmbedderError, match="status 500"):
        open_it(model="mxbai-embed-large")


ODD = {
    "backwards": failures.numbered(lambda n: n, backwards=True),
    "strings, backwards": failures.numbered(str, backwards=True),
    "from one": failures.numbered(lambda n: n + 1),
    "the first without a number": failures.numbered(lambda n: n or None),
    "all zero": failures.numbered(lambda n: 0),
    "words for numbers": failures.numbered(lambda n: f"{n}th"),
}


@pytest.mark.parametrize("oddity", ODD.values(), ids=ODD)
def test_openai_embedder_accepts_unusual_replies(server: EmbeddingServer, open_it: Open, oddity: Failure) -> None:
    server.fail_always(oddity)
    found = [numbers(found) for found in open_it().embed(["one", "two"])]
    assert found == [pytest.approx(vector(text, 1536), abs=1e-6) for text in ("one", "two")]


@pytest.mark.parametrize(
    ("error", "retried"),
    [({"code": 429}, True), ({"code": "502"}, True), ({"code": "1214"}, True), ("", True), ({"code": 400}, False)],
)
def test_openai_embedder_reports_an_error_in_a_200_reply(
    server: EmbeddingServer, open_it: Open, error: dict[str, object] | str, retried: bool
) -> None:
    said = {"message": "Provider failed", **error} if isinstance(error, dict) else "Provider failed"
    failure = failures.says(200, {"error": said, "data": []})
    server.fail_next(*[failure] * 2)
    with pytest.raises(EmbedderError, match="Provider failed"):
        open_it(max_retries=1 if retried else 6).embed(["text"])
    assert len(server.requests) == (2 if retried else 1)


def test_openai_embedder_replaces_empty_texts_and_lone_surrogates(server: EmbeddingServer, open_it: Open) -> None:
    assert len(open_it().embed(["", "half \ud83d pair"])) == 2
    assert server.texts == [" ", "half ? pair"]


def test_openai_embedder_answers_for_a_model_being_replaced(server: EmbeddingServer, open_it: Open) -> None:
    space = VectorSpace("openai", "text-embedding-3-small", 512, server.base_url)
    embedder = open_it(space, model="another-model", dimensions=256)
    assert embedder.space == space
    assert len(embedder.embed_query("text")) == 512 * 4
    assert server.requests[0].body["model"] == "text-embedding-3-small"


@pytest.mark.parametrize(
    ("failure", "low", "high"),
    [
        (failures.rate_limited(retry_after="2"), 2.0, 2.25),
        (failures.rate_limited(retry_after=formatdate(4_000_000_000, usegmt=True)), 120.0, 120.0),
        (failures.overloaded, 0.25, 0.5),
        (failures.truncated, 0.25, 0.5),
    ],
)
def test_openai_embedder_retries_temporary_failures_after_a_wait(
    server: EmbeddingServer, open_it: Open, waits: list[float], failure: Failure, low: float, high: float
) -> None:
    server.fail_next(failure)
    assert len(open_it().embed(["text"])) == 1
    assert len(server.requests) == 2
    (wait,) = waits
    assert low <= wait <= high


def test_openai_embedder_limits_the_query_wait(server: EmbeddingServer, open_it: Open, waits: list[float]) -> None:
    embedder = open_it()
    server.fail_always(failures.server_error)
    with pytest.raises(EmbedderError):
        embedder.embed_query("text")
    assert len(server.requests) == 2
    server.fail_always(failures.rate_limited(retry_after="20"))
    with pytest.raises(EmbedderError, match="slow down"):
        embedder.embed_query("text")
    assert len(server.requests) == 3
    assert sum(waits) <= 1.0


def test_openai_embedder_repeats_a_timed_out_request_once(
    server: EmbeddingServer, open_it: Open, waits: list[float]
) -> None:
    server.fail_always(server.stall)
    with pytest.raises(EmbedderError, match=r"did not answer within 0\.1 s") as caught:
        open_it(timeout=0.1).embed(["text"])
    assert "embedding.timeout" in caught.value.hint
    assert len(waits) == 1


def test_openai_embedder_reports_an_unreachable_server(open_it: Open, waits: list[float]) -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(EmbedderError, match="cannot reach") as caught:
            open_it(base_url=url, max_retries=2).embed(["text"])
    assert url in caught.value.message
    assert len(waits) == 2


def test_openai_embedder_close_ends_a_retry_wait(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.fail_always(failures.rate_limited(retry_after="100"))
    embedder = OpenAIEmbedder(EmbeddingConfig(provider="openai", base_url=server.base_url, api_key=KEY))
    waiting = threading.Event()
    wait = embedder._sleep

    def say_so_and_wait(seconds: float) -> None:
        waiting.set()
        wait(seconds)

    monkeypatch.setattr(embedder, "_sleep", say_so_and_wait)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(embedder.embed, ["text"])
        assert waiting.wait(PATIENCE)
        embedder.close()
        with pytest.raises(EmbedderError, match="closed"):
            asked.result(PATIENCE)
    assert len(server.requests) == 1


def test_openai_embedder_does_not_retry_a_refusal(server: EmbeddingServer, open_it: Open) -> None:
    refusals = {
        failures.unauthorized: ("does not accept the API key", "api_key_env"),
        failures.quota: ("no quota left", "credit"),
        failures.redirect: ("redirects", "base_url"),
    }
    embedder = open_it()
    for number, (failure, (message, hint)) in enumerate(refusals.items(), start=1):
        server.fail_always(failure)
        with pytest.raises(EmbedderRefused, match=message) as caught:
            embedder.embed(["text"])
        assert hint in caught.value.hint
        assert len(server.requests) == number


def test_openai_embedder_names_a_wrong_setting(server: EmbeddingServer, open_it: Open) -> None:
    with pytest.raises(EmbedderRefused) as caught:
        open_it(base_url=server.base_url.removesuffix("/v1")).embed(["text"])
    assert "/v1" in caught.value.hint
    server.only_own_dimensions = True
    with pytest.raises(EmbedderError, match="does not support specifying dimensions") as unable:
        open_it(dimensions=512).embed(["text"])
    assert "embedding.dimensions" in unable.value.hint
    server.model = "text-embedding-3-large"
    with pytest.raises(EmbedderRefused, match="text-embedding-3-small") as unknown:
        open_it().embed(["text"])
    assert "embedding.model" in unknown.value.hint


@pytest.mark.parametrize("failure", [failures.unauthorized, failures.repeats_input, failures.server_error])
def test_openai_embedder_keeps_key_and_text_out_of_errors_and_logs(
    server: EmbeddingServer, open_it: Open, caplog: pytest.LogCaptureFixture, failure: Failure
) -> None:
    caplog.set_level(logging.DEBUG)
    embedder = open_it(max_retries=1)
    embedder.embed(["a private thought"])
    assert caplog.text == ""
    server.fail_always(failure)
    for text in ("private", "my most private thought, and " + "some more of it " * 20):
        with pytest.raises(EmbedderError) as caught:
            embedder.embed([text])
        error = caught.value
        seen = f"{error.message} {error.hint} {error!r} {embedder!r} {vars(embedder)['_patience']} {caplog.text}"
        assert error.__cause__ is None
        assert error.__suppress_context__
        assert KEY not in seen
        assert "private" not in seen


def test_openai_embedder_skips_the_proxy_for_a_local_server(
    server: EmbeddingServer, open_it: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EmbeddingServer() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.base_url)
        monkeypatch.delenv("NO_PROXY")
        embedder = open_it()
        embedder.embed(["mine alone"])
        assert (server.texts, proxy.texts, embedder.via) == (["mine alone"], [], "")


def test_openai_embedder_uses_the_proxy_for_a_remote_server(open_it: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddingServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.replace("//", "//me:hunter2@"))
        embedder = open_it(base_url="http://api.openai.com/v1")
        with pytest.raises(EmbedderRefused):  # this proxy forwards nothing
            embedder.embed(["a text"])
        (request,) = proxy.requests
        assert (request.path, request.body["encoding_format"]) == ("http://api.openai.com/v1/embeddings", "base64")
        assert embedder.via == proxy.base_url.replace("//", "//…@")
        assert embedder.space.endpoint == "http://api.openai.com/v1"
