"""How often the reminder before a tool call speaks, and how often it is about the file or command.

`python -m benchmarks.actions` replays `benchmarks/data/actions.jsonl`: in each session, an agent
edits files and runs commands, and each action names the memories that are about it. A line is right
if it quotes one of these. `--hook` also runs the hook's process against a daemon, in pairs
with an empty process of the same kind.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vault_index import VaultIndex, tokens
from vault_index.agents import before_tool
from vault_index.config.home import find_home

DATA = Path(__file__).parent / "data" / "actions.jsonl"
PAIRS = 40


def main() -> None:
    """Print the figures of each part of the set, and of all sessions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--hook", action="store_true", help="measure the process of the hook")
    parser.add_argument("--wrong", action="store_true", help="print the lines that are not right")
    args = parser.parse_args()
    sessions = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    counts: dict[str, Counter[str]] = {}
    for session in sessions:
        found = replay(session, wrong=args.wrong)
        for part in (session.get("part", ""), "all"):
            counts.setdefault(part, Counter()).update(found)
    for part, one in counts.items():
        print(
            f"{part:7} sessions {one['sessions']}, actions {one['actions']}, lines {one['lines']},"
            f" right {one['right']} ({one['right'] / one['lines']:.0%}),"
            f" memories to name {one['wanted']}, named {one['right'] / one['wanted']:.0%},"
            f" tokens per session {one['tokens'] / one['sessions']:.0f}"
        )
    if args.hook:
        measure(sessions[0])


def replay(session: dict[str, Any], *, wrong: bool) -> Counter[str]:
    """Count the reminders of one session in an index with its memories."""
    count = Counter(sessions=1)
    wanted, named = set[str](), set[str]()
    with tempfile.TemporaryDirectory() as folder, index_of(session, folder) as index:
        for event in events(session):
            count["actions"] += 1
            wanted |= set(event["about"])
            given = index.remind(event)
            if not given.text:
                continue
            count["lines"] += 1
            count["tokens"] += tokens.count(given.text)
            if given.path in event["about"]:
                named.add(given.path)
            elif wrong:
                print(
                    f"{event['tool_input'].get('command') or event['tool_input']}\n  {given.text}"
                )
    return count + Counter(right=len(named), wanted=len(wanted))


def events(session: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the inputs of the hook for the actions of a session."""
    files = [str(one["input"].get("file_path", "")) for one in session["actions"]]
    mark = f"/{session.get('project', '')}/"
    inside = (file[: file.index(mark) + len(mark) - 1] for file in files if mark in file)
    root = next(inside, f"/home/user{mark}".rstrip("/"))
    for action in session["actions"]:
        yield {
            "session_id": session["session"], "cwd": root, "hook_event_name": "PreToolUse",
            "tool_name": action["tool"], "tool_input": action["input"], "about": action["about"],
        }  # fmt: skip


@contextmanager
def index_of(session: dict[str, Any], folder: str) -> Iterator[VaultIndex]:
    """Open a new index with the memories of a session."""
    for memory in session["memories"]:
        file = Path(folder, "vault", memory["file"])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(memory["text"], encoding="utf-8")
    home = Path(folder, "home")
    home.mkdir()
    settings = f'[embedding]\nprovider = "none"\n[sources.vault]\npath = "{folder}/vault"\n'
    home.joinpath("config.toml").write_text(settings, encoding="utf-8")
    with VaultIndex.open(home) as index:
        index.sync(source="vault")
        yield index


def measure(session: dict[str, Any]) -> None:
    """Print the wall and processor time of the hook's process, less that of an empty one."""
    with tempfile.TemporaryDirectory() as folder:
        with index_of(session, folder):
            pass
        home = str(Path(folder, "home"))
        socket = find_home(home).socket_path
        daemon = subprocess.Popen(
            [sys.executable, "-m", "vault_index", "--home", home, "--quiet", "watch"]
        )
        try:
            deadline = time.monotonic() + 20
            while not os.path.exists(socket) and time.monotonic() < deadline:
                time.sleep(0.05)
            event = next(one for one in events(session) if one["about"])
            program = [sys.executable, "-I", "-S"]
            hook = [*program, before_tool.__file__, str(socket)]
            pairs = []
            for number in range(PAIRS + 1):  # the first one loads what the daemon needs
                text = json.dumps({**event, "session_id": f"s-{number}"}).encode()
                pairs.append((timed([*program, "-c", ""], b""), timed(hook, text)))
        finally:
            daemon.terminate()
            daemon.wait()
    for number, name in enumerate(("wall", "processor")):
        empty, whole = ([one[side][number] for one in pairs] for side in (0, 1))
        more = [after - before for before, after in zip(empty, whole, strict=True)]
        print(
            f"hook, {name} time: {statistics.median(whole):.1f} ms (empty process"
            f" {statistics.median(empty):.1f} ms), more in a pair: median"
            f" {statistics.median(more):.1f} ms, 95 % below"
            f" {sorted(more)[int(0.95 * len(more))]:.1f} ms"
        )


def timed(command: Sequence[str], text: bytes) -> tuple[float, float]:
    """Run a process; return its wall and processor time in milliseconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, input=text, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * wall, 1000 * used


if __name__ == "__main__":
    main()
