"""Replay the commands of a page in a new vault: `python tools/transcript.py docs/agents.md`.

In a ```console block, a line after `$ ` is a command, followed by its output. `vx` runs in this
process, as in a pipe; other commands run in a shell, in the folder that holds the vault `notes`.
Ids of the page stand for the values at the same place of the new output.
"""

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from vault_index.cli import main

_BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
_COMMAND = re.compile(r"^\$ (?P<command>.+)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
_ID = re.compile(r"\b[0-9a-f]{8}(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\b")
_QUOTED_ID = re.compile(rf'"({_ID.pattern})"')  # one that looks like a number
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d[+-]\d\d:\d\d)?)?"), "TIME"),
    (
        re.compile(r"(?<=,)[01](\.\d+)?(?=,)|(?<=score: )[01](\.\d+)?|(?<=seconds: )[\d.]+"),
        "NUMBER",
    ),
    (re.compile(r"^[01]\.\d\d(?=  )", re.MULTILINE), "0.00"),
    (re.compile(r"\b\d+ ms\b|\b[\d.]+ s\b"), "0 ms"),
    (re.compile(r'(?<=token=")[0-9a-f]{16}(?=")'), "TOKEN"),
)


def play(page: str) -> str:
    """The page with the output its commands have now."""
    known: dict[str, str] = {}
    here = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="vx-") as folder:
        os.chdir(folder)
        try:
            Path("notes").mkdir()
            _vx(["init", "notes", "--no-sessions", "--quiet"], "")
            return _BLOCK.sub(
                lambda block: _COMMAND.sub(lambda found: _again(found, known), block[0]), page
            )
        finally:
            os.chdir(here)


def steady(page: str) -> str:
    """A page without what is another each time: ids by their order, no times, no scores."""
    for pattern, name in _VARYING:
        page = pattern.sub(name, page)
    order: dict[str, str] = {}
    page = _QUOTED_ID.sub(r"\1", page)
    return _ID.sub(lambda found: order.setdefault(found[0][:8], f"ID{len(order) + 1}"), page)


def _again(found: re.Match[str], known: dict[str, str]) -> str:
    command = _ID.sub(lambda id_: known.get(id_[0], id_[0]), found["command"])
    output = _run(command)
    known.update(zip(_ID.findall(found["output"]), _ID.findall(output), strict=False))
    return f"$ {command}\n{output}"


def _run(command: str) -> str:
    before, ours, call = f"| {command}".rpartition("| vx ")
    piped = _shell(before[2:] if ours else command)
    return _vx(shlex.split(call), piped) if ours else piped


def _shell(command: str) -> str:
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout


def _vx(words: list[str], piped: str) -> str:
    printed, stdin = io.StringIO(), sys.stdin
    read, write = os.pipe()
    os.write(write, piped.encode())
    os.close(write)
    with (
        os.fdopen(read, encoding="utf-8") as sys.stdin,
        redirect_stdout(printed),
        redirect_stderr(io.StringIO()),
    ):
        try:
            code = main([*words, "--home", "home"])
        finally:
            sys.stdin = stdin
    assert code == 0, f"vx {shlex.join(words)} ended with {code}: {printed.getvalue()}"
    return printed.getvalue()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(play(Path(name).read_text(encoding="utf-8")), encoding="utf-8")
