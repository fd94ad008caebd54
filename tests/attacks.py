"""Attacks from the same machine: run as another user, or swap names while a process reads them."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
# Python itself may lie where only root can read it.
_DROP = f"""
import json, os, socket, sys
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
"""

_EXCHANGE = """
import ctypes, sys
libc, at = ctypes.CDLL(None), -100
one, other = (name.encode() for name in sys.argv[1:3])
print("ready", flush=True)
for _ in range(int(sys.argv[3])):
    if libc.renameat2(at, one, at, other, 2):
        sys.exit("renameat2 does not exchange here")
"""


@contextmanager
def open_to_all() -> Iterator[Path]:
    """A folder that other users can reach, like /tmp; pytest's own is private."""
    with tempfile.TemporaryDirectory(prefix="vx-", dir="/tmp") as name:
        os.chmod(name, 0o1777)
        yield Path(name)


@contextmanager
def as_nobody(code: str, *arguments: object) -> "Iterator[subprocess.Popen[str]]":
    """Run Python as another user; yield once it is ready, and kill it at the end."""
    started = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _DROP + code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        umask=0,
    )
    with started:
        assert started.stdout is not None
        assert started.stdout.readline() == "ready\n"
        try:
            yield started
        finally:
            started.kill()


def did_as_nobody(code: str, *arguments: object) -> None:
    """Run Python as another user to its end."""
    with as_nobody(f"{code}\nprint('ready', flush=True)", *arguments) as process:
        process.wait(PATIENCE)
