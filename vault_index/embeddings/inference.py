"""Run the local models: ONNX sessions, file checksums, windows, and the bundled English model."""

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

# Disables onnxruntime's telemetry (since 1.31); must be set before its first import.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

from vault_index.embeddings.wordpiece import MODEL, WordPiece, read_pieces
from vault_index.models import INT8_LARGEST, INT8_SCALE, Vector

Array = np.ndarray[Any, np.dtype[np.float32]]

LONGEST_HEAD = 48
"""Maximum number of pieces of a first line (the location) that every window repeats."""
_MOST_THREADS = 4
"""Maximum number of threads: texts are short, and other programs need cores, too."""
WINDOW = 254
"""Maximum number of pieces per input, without `[CLS]` and `[SEP]`."""
_FILE = "model.int8-nm.onnx"
_CLS, _SEP = 101, 102


def open_session(path: Path) -> onnxruntime.InferenceSession:
    """Open an ONNX file for inference on the CPU."""
    return onnxruntime.InferenceSession(str(path), _options(), providers=["CPUExecutionProvider"])


@contextmanager
def checked(folder: Path, sums: Mapping[str, str]) -> Iterator[None]:
    """Compute the SHA-256 of files in threads while the body loads them.

    Raises ValueError after the body if they differ from `sums`.
    """
    found = {}

    def count(name: str) -> None:
        with suppress(OSError):
            status = (folder / name).stat()
            stamp = status.st_size, status.st_mtime_ns, status.st_ino
            found[name] = _digest(folder / name, *stamp)

    apart = [threading.Thread(target=count, args=(name,)) for name in sums]
    for thread in apart:
        thread.start()
    yield
    for thread in apart:
        thread.join()
    if found != sums:
        raise ValueError("checksum mismatch")


def windows(text: str, ids_of: Callable[[str], list[int]], longest: int) -> list[list[int]]:
    """Split the pieces of a text into even windows, each with the first line of the text.

    The text's vector is the mean of its windows. In retrieval tests this was better than truncation
    and than windows without the first line; overlap gained nothing.
    """
    ids = ids_of(text)
    if len(ids) <= longest:
        return [ids]
    head = ids_of(text.partition("\n")[0])
    if len(head) > LONGEST_HEAD:
        head = []
    body = ids[len(head) :]
    return [head + body[start:end] for start, end in spans(len(body), longest - len(head))]


def spans(count: int, longest: int) -> list[tuple[int, int]]:
    """Split `count` pieces into the fewest even half-open ranges of at most `longest`."""
    number = -(-count // longest)
    return list(pairwise(count * i // number for i in range(number + 1)))


def unit_mean(vectors: Sequence[Array]) -> Array:
    """Return the mean of unit vectors, scaled to unit length."""
    if len(vectors) == 1:
        return vectors[0]
    mean = np.mean(vectors, axis=0, dtype=np.float64)
    return (mean / np.linalg.norm(mean)).astype("<f4")


def packed(vector: Array) -> Vector:
    """Return a vector as little-endian float32 bytes."""
    return np.asarray(vector, "<f4").tobytes()


@cache
def _digest(path: Path, *_stamp: int) -> str:
    """Return the SHA-256 of a file, cached by its stamp."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # lower levels print warnings to stderr
    # A container may use fewer cores than the machine has.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    options.intra_op_num_threads = min(cores or 1, _MOST_THREADS)
    options.inter_op_num_threads = 1
    # Spinning threads are 20% faster on an idle machine, but a third slower on a busy one.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # A memory plan for each text length halves the speed and keeps growing.
    options.enable_mem_pattern = False
    return options


class EnglishModel:
    """all-MiniLM-L6-v2 in int8 (`model/README.md`): vocabulary and ONNX session, 50 MB together."""

    def __init__(self) -> None:
        lines = (MODEL / "SHA256SUMS").read_text("utf-8").splitlines()
        with checked(
            MODEL, {name: digest for digest, name in map(str.split, lines) if name == _FILE}
        ):
            self._session = open_session(MODEL / _FILE)
            self._pieces = WordPiece(read_pieces())

    def embed(self, text: str) -> "Vector":
        """Return the unit vector of a text, in int8."""
        return as_int8(
            unit_mean([self._run(ids) for ids in windows(text, self._pieces.ids, WINDOW)])
        )

    embed_query = embed

    def _run(self, ids: list[int]) -> "Array":
        batch = np.array([[_CLS, *ids, _SEP]], np.int64)
        return np.asarray(self._session.run(None, {"input_ids": batch})[0][0], "<f4")


def as_int8(floats: "Array") -> Vector:
    """Quantize float32 unit vectors to int8; the bytes of several vectors are concatenated."""
    return (floats * INT8_SCALE).round().clip(-INT8_LARGEST, INT8_LARGEST).astype("i1").tobytes()
