"""The embedder that comes with the package: all-MiniLM-L6-v2 on the CPU, nothing leaves the machine."""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

# Since 1.31 it would tell Microsoft's servers that it is used, unless this is set before its first import.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

from vault_index.embeddings.wordpiece import vocabulary
from vault_index.errors import ConfigError, EmbedderRefused
from vault_index.models import Vector, VectorSpace

if TYPE_CHECKING:
    from vault_index.config import EmbeddingConfig

SPACE = VectorSpace("local", "all-MiniLM-L6-v2-int8", 384)
"""The model name stands for the whole recipe: weights, pieces and windows. Whoever changes one of them gives it another
name, because vectors are cached under it."""

WINDOW = 254
"""Pieces the model takes in at once, beside `[CLS]` and `[SEP]`."""
LONGEST_HEAD = 48
"""Pieces a first line may have to be repeated at the start of every window: it says where the text stands."""

_NAMES = ("", SPACE.model, "all-MiniLM-L6-v2")
_FILE = "model.int8-nm.onnx"
_CLS, _SEP = 101, 102
_MOST_THREADS = 4
"""The texts are short, and the rest of the machine has work of its own."""
_BATCH_TEXTS = 16
"""About half a second of work: a larger batch would not be faster, but could not be interrupted for longer."""


class LocalEmbedder:
    """Loads the model with the first text; safe for several threads.

    Texts longer than the window are embedded in even windows, each under the first line of the text, and the vector is
    their mean. (Measured as retrieval: on average better than a cut, and than windows without that line; overlap gained
    nothing.)
    Every text is a call of its own: the model quantises per call, so only then does a vector depend on nothing else.
    """

    remote = False
    via = ""

    def __init__(self, config: "EmbeddingConfig") -> None:
        if config.model not in _NAMES:
            raise ConfigError(
                f"the local embedder has no model {config.model!r}",
                'leave embedding.model empty, or set embedding.provider = "openai" for a server that has the model',
            )
        if config.dimensions not in (0, SPACE.dimensions):
            raise ConfigError(
                f"the local model has {SPACE.dimensions} dimensions, not {config.dimensions}",
                "set embedding.dimensions = 0",
            )
        self.space = SPACE
        self.batch_tokens = config.batch_tokens
        self.batch_texts = min(config.batch_texts, _BATCH_TEXTS)
        self._model: _Model | None = None
        self._used_at = 0.0
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], before: Callable[[], object] | None = None) -> list[Vector]:
        model = self._loaded()
        return [model.embed(text) for text in texts]

    def embed_query(self, text: str, before: Callable[[], object] | None = None) -> Vector:
        return self._loaded().embed(text)

    def release(self, unused: float) -> bool:
        with self._lock:
            if self._model is None or time.monotonic() - self._used_at < unused:
                return False
            self._model = None
            vocabulary.cache_clear()
            return True

    def close(self) -> None:
        self.release(0.0)

    def _loaded(self) -> "_Model":
        with self._lock:
            if self._model is None:
                self._model = _Model()
            self._used_at = time.monotonic()
            return self._model


class _Model:
    """The vocabulary and the session, of 50 MB together."""

    def __init__(self) -> None:
        folder = files("vault_index.embeddings") / "model"
        try:
            self._pieces = vocabulary()
            # Beside the loading, which it then does not delay: to hash the file takes a fifth as long.
            with as_file(folder / _FILE) as path, ThreadPoolExecutor(1) as apart:
                status = path.stat()
                digest = apart.submit(_digest, path, status.st_size, status.st_mtime_ns, status.st_ino)
                self._session = onnxruntime.InferenceSession(str(path), _options(), providers=["CPUExecutionProvider"])
            if f"{digest.result()}  {_FILE}" not in (folder / "SHA256SUMS").read_text("utf-8").splitlines():
                raise ValueError("another checksum")
        except Exception as error:  # the errors of onnxruntime have no base of their own
            raise EmbedderRefused(
                f"the local model cannot be loaded: {type(error).__name__}",
                "reinstall vault-index, or set another embedding.provider",
            ) from error

    def embed(self, text: str) -> Vector:
        vectors = [self._run(ids) for ids in self._windows(text)]
        if len(vectors) == 1:
            return vectors[0].tobytes()
        mean = np.mean(vectors, axis=0, dtype=np.float64)
        return (mean / np.linalg.norm(mean)).astype("<f4").tobytes()

    def _windows(self, text: str) -> list[list[int]]:
        ids = self._pieces.ids(text)
        if len(ids) <= WINDOW:
            return [ids]
        head = self._pieces.ids(text.partition("\n")[0])
        if len(head) > LONGEST_HEAD:
            head = []
        body = ids[len(head) :]
        return [head + body[start:end] for start, end in spans(len(body), WINDOW - len(head))]

    def _run(self, ids: list[int]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        batch = np.array([[_CLS, *ids, _SEP]], np.int64)
        vector = self._session.run(None, {"input_ids": batch})[0][0]
        return np.asarray(vector, "<f4")


@cache
def _digest(path: Path, *_stamp: int) -> str:
    """The checksum of a file, counted once as long as its stamp is the same."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def spans(count: int, longest: int) -> list[tuple[int, int]]:
    """Cut `count` pieces into the fewest runs of at most `longest`, as even as can be; half-open ranges."""
    number = -(-count // longest)
    return list(pairwise(count * i // number for i in range(number + 1)))


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # below, it prints coloured warnings to stderr
    options.intra_op_num_threads = min(_cores(), _MOST_THREADS)
    options.inter_op_num_threads = 1
    # A thread that spins while it waits gains a fifth on an idle machine, and loses a third of the speed on a busy one.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Texts differ in length: a memory plan for each length costs half the speed and grows with every new one.
    options.enable_mem_pattern = False
    return options


def _cores() -> int:
    """The cores this process may use, which in a container are fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
