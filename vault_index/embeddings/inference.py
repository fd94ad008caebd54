"""What the local models share: sessions of onnxruntime over files that are checked, and windows over long texts."""

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

# Since 1.31 it would tell Microsoft's servers that it is used, unless this is set before its first import.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

from vault_index.models import Vector

Array = np.ndarray[Any, np.dtype[np.float32]]

LONGEST_HEAD = 48
"""Pieces a first line may have to be repeated at the start of every window: it says where the text stands."""
_MOST_THREADS = 4
"""The texts are short, and the rest of the machine has work of its own."""


def open_session(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(str(path), _options(), providers=["CPUExecutionProvider"])


@contextmanager
def checked(folder: Path, sums: Mapping[str, str]) -> Iterator[None]:
    """While the body loads the files of `folder`, count their checksums beside it, which does not delay it. Raises
    ValueError where one is not that of `sums`."""
    found = {}

    def count(name: str) -> None:
        with suppress(OSError):
            found[name] = _stamped_digest(folder / name)

    apart = [threading.Thread(target=count, args=(name,)) for name in sums]
    for thread in apart:
        thread.start()
    yield
    for thread in apart:
        thread.join()
    if found != sums:
        raise ValueError("another checksum")


def windows(text: str, ids_of: Callable[[str], list[int]], longest: int) -> list[list[int]]:
    """The pieces of a text in even windows, each under the first line of the text; its vector is their mean. (Measured
    as retrieval: on average better than a cut, and than windows without that line; overlap gained nothing.)"""
    ids = ids_of(text)
    if len(ids) <= longest:
        return [ids]
    head = ids_of(text.partition("\n")[0])
    if len(head) > LONGEST_HEAD:
        head = []
    body = ids[len(head) :]
    return [head + body[start:end] for start, end in spans(len(body), longest - len(head))]


def spans(count: int, longest: int) -> list[tuple[int, int]]:
    """Cut `count` pieces into the fewest runs of at most `longest`, as even as can be; half-open ranges."""
    number = -(-count // longest)
    return list(pairwise(count * i // number for i in range(number + 1)))


def unit_mean(vectors: Sequence[Array]) -> Array:
    if len(vectors) == 1:
        return vectors[0]
    mean = np.mean(vectors, axis=0, dtype=np.float64)
    return (mean / np.linalg.norm(mean)).astype("<f4")


def packed(vector: Array) -> Vector:
    return np.asarray(vector, "<f4").tobytes()


def _stamped_digest(path: Path) -> str:
    status = path.stat()
    return _digest(path, status.st_size, status.st_mtime_ns, status.st_ino)


@cache
def _digest(path: Path, *_stamp: int) -> str:
    """The checksum of a file, counted once as long as its stamp is the same."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
