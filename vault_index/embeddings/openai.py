"""The embedder for OpenAI and for every server that speaks its embeddings API."""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import openai

from vault_index.config.values import without_password
from vault_index.embeddings.access import KNOWN_DIMENSIONS, base_url, endpoint, find_key, proxy_for
from vault_index.embeddings.answer import parse_vectors
from vault_index.embeddings.faults import Asked, refuses_base64, translate
from vault_index.embeddings.retry import Patience
from vault_index.errors import EmbedderError, TextTooLong
from vault_index.models import Vector, VectorSpace

if TYPE_CHECKING:
    from vault_index.config import EmbeddingConfig

DEFAULT_MODEL = "text-embedding-3-small"
_PROBE = "How long are your vectors?"
"""Sent once to a model of unknown dimensions."""
_LONGEST_WAIT = 120.0
_QUERY_TIMEOUT, _QUERY_LONGEST_WAIT = 10.0, 1.0
"""Somebody waits for the answer to a query, and it can be answered by keywords."""
_TALKATIVE = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")


class OpenAIEmbedder:
    """Asks a server; safe for several threads. Opening it sends nothing, but to a model of unknown dimensions."""

    remote = True

    def __init__(
        self,
        config: "EmbeddingConfig",
        space: VectorSpace | None = None,
        *,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """`space`: the one to answer for, where the configuration names another model of the same server by now.

        `sleep` replaces the waiting between two tries. Raises ConfigError, EmbedderError.
        """
        self.batch_tokens = config.batch_tokens
        self.batch_texts = config.batch_texts
        self._key = find_key(config)
        self._closed = threading.Event()
        self._sleep = sleep or self._closed.wait
        self._timeout = config.timeout
        self._patience = Patience(config.max_retries, _LONGEST_WAIT)
        self._query_patience = Patience(min(config.max_retries, 1), _QUERY_LONGEST_WAIT, or_give_up=True)
        self._format: Literal["base64", "float"] = "base64"
        self._paid: dict[str, Vector] = {}
        proxy = proxy_for(config)
        self.via = without_password(proxy)
        self._client = _client(base_url(config), self._key, proxy)
        model = space.model if space else config.model or DEFAULT_MODEL
        self.space = space or VectorSpace("openai", model, config.dimensions, endpoint(config))
        self._asked_dimensions = _asked_dimensions(config, self.space)
        if not self.space.dimensions:
            self.space = VectorSpace("openai", model, self._natural_dimensions(model), self.space.endpoint)

    def embed(self, texts: Sequence[str], before: Callable[[], object] | None = None) -> list[Vector]:
        """One request; a server that finds it too long is asked for the halves.

        Raises TextTooLong where a single text is. What came before it was paid for: the next call takes it from here.
        """
        missing = [text for text in dict.fromkeys(texts) if text not in self._paid]
        if missing:
            self._fill(missing, before)
        vectors = [self._paid[text] for text in texts]
        for text in texts:
            self._paid.pop(text, None)
        return vectors

    def embed_query(self, text: str, before: Callable[[], object] | None = None) -> Vector:
        timeout = min(self._timeout, _QUERY_TIMEOUT)
        return self._ask([text], self._query_patience, timeout, self.space.dimensions, before)[0]

    def prepare(self) -> None: ...

    def release(self, unused: float) -> bool:
        return False  # the model is the server's

    def close(self) -> None:
        """Ends waiting between two tries, too."""
        self._closed.set()
        self._client.close()

    def _fill(self, texts: list[str], before: Callable[[], object] | None) -> None:
        try:
            vectors = self._ask(texts, self._patience, self._timeout, self.space.dimensions, before)
        except TextTooLong:
            if len(texts) == 1:
                raise
            half = len(texts) // 2
            self._fill(texts[:half], before)
            self._fill(texts[half:], before)
            return
        self._paid.update(zip(texts, vectors, strict=True))

    def _natural_dimensions(self, model: str) -> int:
        known = KNOWN_DIMENSIONS.get(model)
        if known is not None:
            return known
        try:
            vector = self._ask([_PROBE], self._query_patience, self._timeout, None)[0]
        except EmbedderError:
            self.close()
            raise
        return len(vector) // 4

    def _ask(
        self,
        texts: Sequence[str],
        patience: Patience,
        timeout: float,
        dimensions: int | None,
        before: Callable[[], object] | None = None,
    ) -> list[Vector]:
        # No server takes an empty text, and no JSON half a surrogate pair.
        sent = [text.encode("utf-8", "replace").decode() or " " for text in texts]
        asked = Asked(self.space.endpoint, self.space.model, timeout, self._key, sent)

        def request() -> bytes:
            if before is not None:
                before()
            return self._request(asked)

        body = patience.keep_trying(request, self._sleep)
        return parse_vectors(body, len(texts), dimensions)

    def _request(self, asked: Asked) -> bytes:
        """The body of the answer to one request. Raises Unavailable where it makes sense to ask again."""
        if self._closed.is_set():
            raise _closed()
        try:
            # The raw answer: the library takes a malformed one for a good one, and its classes are slow to make.
            raw = self._client.embeddings.with_raw_response.create(
                input=asked.texts,
                model=asked.model,
                encoding_format=self._format,
                extra_body={"dimensions": self._asked_dimensions} if self._asked_dimensions else None,
                timeout=asked.timeout,
            )
        except openai.APIError as error:
            if self._format == "base64" and refuses_base64(error):
                self._format = "float"
                return self._request(asked)
            # Without the cause: its text is the server's, which may repeat the key or the note.
            raise translate(error, asked) from None
        except RuntimeError:  # of the HTTP library, where `close` came between
            if self._closed.is_set():
                raise _closed() from None
            raise
        return raw.http_response.content


def _client(url: str, key: str, proxy: str) -> openai.OpenAI:
    for name in _TALKATIVE:
        # At DEBUG they would log what is sent, at INFO every request.
        logging.getLogger(name).setLevel(logging.WARNING)
    # No redirects: the texts go where the setting says, or nowhere. The proxy is the one that is told, not one that the
    # library finds for itself.
    direct = dict.fromkeys(("http://", "https://", "all://"))
    http = openai.DefaultHttpxClient(follow_redirects=False, proxy=proxy or None, mounts={} if proxy else direct)
    return openai.OpenAI(api_key=key, base_url=url, max_retries=0, http_client=http)


def _asked_dimensions(config: "EmbeddingConfig", space: VectorSpace) -> int:
    """What to ask the server for; 0 for the model's own length, because many servers refuse to be asked."""
    if config.dimensions and config.dimensions == space.dimensions:
        return config.dimensions
    known = KNOWN_DIMENSIONS.get(space.model)
    return space.dimensions if known is not None and space.dimensions not in (0, known) else 0


def _closed() -> EmbedderError:
    return EmbedderError("the embedder was closed", "open it again")
