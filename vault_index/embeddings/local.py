"""The embedder on this machine: the model that comes with the package, or the multilingual one; nothing leaves."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from vault_index.embeddings import wordpiece
from vault_index.embeddings.spaces import MULTILINGUAL, check_model
from vault_index.errors import EmbedderRefused
from vault_index.models import Vector, VectorSpace

if TYPE_CHECKING:
    from vault_index.config import EmbeddingConfig

_AT_ONCE = 2
"""Texts that are embedded side by side: Python, and what the model does on one core, leave the other one idle."""
_BATCH_TEXTS = 16
"""About half a second of work: a larger batch would not be faster, but could not be interrupted for longer."""


class Model(Protocol):
    """Weights and vocabulary in memory. Safe for several threads."""

    def embed(self, text: str) -> Vector: ...

    def embed_query(self, text: str) -> Vector: ...


class LocalEmbedder:
    """Loads the model with the first text; safe for several threads.

    Every text is a call of its own: the models quantise per call, so only then does a vector depend on nothing else.
    """

    remote = False
    via = ""

    def __init__(self, config: "EmbeddingConfig", space: VectorSpace | None = None) -> None:
        """`space`, where it is not the one that `config` names. Raises ConfigError, EmbedderRefused."""
        self.space = check_model(config, space)
        self.batch_tokens = config.batch_tokens
        self.batch_texts = min(config.batch_texts, _BATCH_TEXTS)
        self._model: Model | None = None
        self._used_at = 0.0
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], before: Callable[[], object] | None = None) -> list[Vector]:
        from concurrent.futures import ThreadPoolExecutor  # late: a question has no use for it

        model = self._loaded()
        with ThreadPoolExecutor(_AT_ONCE) as apart:  # begun by who asks: it has their priority
            return list(apart.map(model.embed, texts))

    def embed_query(self, text: str, before: Callable[[], object] | None = None) -> Vector:
        return self._loaded().embed_query(text)

    def prepare(self) -> None:
        """Begin to load the model, and come back when what Python takes part in is done: the rest is done beside it."""
        if self._model is None:
            with suppress(Exception):  # it is told of where the model is asked for something
                _import(self.space)
            threading.Thread(target=self._try_loading, daemon=True).start()

    def release(self, unused: float) -> bool:
        with self._lock:
            if self._model is None or time.monotonic() - self._used_at < unused:
                return False
            self._model = None
            wordpiece.release()
            return True

    def close(self) -> None:
        self.release(0.0)

    def _loaded(self) -> Model:
        with self._lock:
            if self._model is None:
                self._model = _load(self.space)
            self._used_at = time.monotonic()
            return self._model

    def _try_loading(self) -> None:
        with suppress(EmbedderRefused):
            self._loaded()


def _import(space: VectorSpace) -> type[Model]:
    # Late, as numpy and onnxruntime come with them.
    if space == MULTILINGUAL:
        from vault_index.embeddings.multilingual import MultilingualModel

        return MultilingualModel
    from vault_index.embeddings.english import EnglishModel

    return EnglishModel


def _load(space: VectorSpace) -> Model:
    try:
        return _import(space)()
    except Exception as error:  # the errors of onnxruntime have no base of their own
        raise EmbedderRefused(
            f"the local model cannot be loaded: {type(error).__name__}",
            "install it again, or set another embedding.provider",
        ) from error
