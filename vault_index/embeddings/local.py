"""The local embedder, with the bundled English model or the multilingual one; sends nothing."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from vault_index.config.schema import EmbeddingConfig
from vault_index.embeddings.spaces import BOTH, ENGLISH, check_model
from vault_index.errors import EmbedderRefused
from vault_index.models import Vector, VectorSpace

_AT_ONCE = 2
"""Texts embedded in parallel, because one text does not use all cores."""
_BATCH_TEXTS = 16
"""Maximum texts per batch: about 0.5 s of work. Larger ones only delay interrupts."""


class Model(Protocol):
    """Weights and vocabulary in memory. Thread-safe."""

    def embed(self, text: str) -> Vector:
        """Return the unit vector of a passage."""

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a query."""


class LocalEmbedder:
    """Loads the model with the first text. Thread-safe.

    Embeds each text in its own call, because the models quantise per call and a batch would change
    the vectors.
    """

    remote = False
    via = ""

    def __init__(self, config: EmbeddingConfig, space: VectorSpace | None = None) -> None:
        """Use `space`, or that of `config`. Raises ConfigError, EmbedderRefused."""
        self.space = check_model(config, space)
        self.batch_tokens = config.batch_tokens
        self.batch_texts = min(config.batch_texts, _BATCH_TEXTS)
        self._model: Model | None = None
        self._used_at = 0.0
        self._lock = threading.Lock()

    def embed(
        self, texts: Sequence[str], before: Callable[[], object] | None = None
    ) -> list[Vector]:
        """Return one vector per text, in order. Sends nothing, so `before` is not called."""
        from concurrent.futures import ThreadPoolExecutor  # late: queries do not need it

        model = self._loaded()
        with ThreadPoolExecutor(_AT_ONCE) as apart:  # inherits the caller's priority
            return list(apart.map(model.embed, texts))

    def embed_query(self, text: str, before: Callable[[], object] | None = None) -> Vector:
        """Return the vector of a query. Sends nothing, so `before` is not called."""
        return self._loaded().embed_query(text)

    def prepare(self) -> None:
        """Import the model's modules, then load the model in a thread."""
        if self._model is None:
            with suppress(Exception):  # the next `embed` reports it
                _import(self.space)
            threading.Thread(target=self._try_loading, daemon=True).start()

    def release(self, unused: float) -> bool:
        """Free the model if it was not used for `unused` seconds; return whether it was freed."""
        with self._lock:
            if self._model is None or time.monotonic() - self._used_at < unused:
                return False
            self._model = None
            return True

    def close(self) -> None:
        """Free the model."""
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
    # Imported late, because these import numpy and onnxruntime.
    if space == ENGLISH:
        from vault_index.embeddings.inference import EnglishModel

        return EnglishModel
    from vault_index.embeddings.multilingual import BothModels, MultilingualModel

    return BothModels if space == BOTH else MultilingualModel


def _load(space: VectorSpace) -> Model:
    try:
        return _import(space)()
    except Exception as error:  # onnxruntime has no base class of errors
        raise EmbedderRefused(
            f"the local model cannot be loaded: {type(error).__name__}",
            "reinstall vault-index and its model, or set another embedding.provider",
        ) from error
