"""Kill commands at system calls that write; nothing may be lost, half-written or left over.

    python -m benchmarks.kills [--seed 1] [--count 1000] [--seconds S] [--without A,B] [--jobs 2]

Each run is one command under strace, which kills it at the n-th call of one kind. Then every file
must be as before, or as after an undisturbed run (except ids and times). The same command must
succeed afterwards, the index must equal a fresh build, drafts of the killed process must be gone,
and the ledger must name all texts that were sent. Linux only.
"""

import collections
import contextlib
import functools
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from multiprocessing.util import Finalize
from pathlib import Path
from typing import NamedTuple

from benchmarks.attack import Attack, Story, exit_with, options, run, scratch
from tests.api.vaults import rows
from tests.embeddings.server import EmbeddingServer
from tests.sources.opencode.stores import Client
from vault_index import VaultIndex
from vault_index.cli import main as command_line
from vault_index.config import find_home

CALLS = (
    "write", "pwrite64", "fsync", "fdatasync", "rename", "link", "linkat", "unlink", "unlinkat",
    "ftruncate", "mkdir", "openat", "fchmod", "flock", "fcntl",
)  # fmt: skip
_CHANGES = re.compile(
    rb"(?m)^(?:id|created|updated|supersedes|superseded_by):.*\n"
    rb"|sha256:[0-9a-f]{64}|^export const PLACE.*\n"
)
_DONE = dict.fromkeys(("delete", "delete for good", "undo", "source remove", "accept"), 3)
_DONE["export anew"] = 2
"""The exit code of a command that finds that its work is done."""
_OLD = "5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f"


class Command(NamedTuple):
    """A command to kill."""

    arguments: tuple[str, ...]
    prepare: tuple[str, ...] = ()
    """A command that is carried out before."""
    embeds: bool = False
    """With a remote embedder."""
    edits: bool = False
    """Notes change before."""


COMMANDS = {
    "sync": Command(("sync",), edits=True),
    "first sync": Command(("rebuild",), edits=True),
    "sync with vectors": Command(("sync",), embeds=True, edits=True),
    "embed": Command(("embed", "--rebuild"), embeds=True),
    "add": Command(("add", "The heron is blue.", "--title", "Heron", "--tags", "bird")),
    "add that replaces": Command(
        ("add", "Oak is better.", "--title", "Oak again", "--supersedes", _OLD)
    ),
    "update": Command(("update", _OLD, "--content", "Another text of the decision. " * 40)),
    "append": Command(("update", _OLD, "--content", "And more.", "--append")),
    "delete": Command(("delete", _OLD)),
    "delete for good": Command(("delete", _OLD, "--permanent")),
    "prune": Command(("prune", "--force")),
    "accept": Command(("review", "accept", "inbox/caught")),
    "merge": Command(("review", "merge", _OLD, "old")),
    "archive": Command(("archive", _OLD)),
    "revert": Command(
        ("revert", _OLD, "--to", "1"), prepare=("update", _OLD, "--content", "Oak is gone.")
    ),
    "undo": Command(("undo",), prepare=("update", _OLD, "--content", "Oak is gone.")),
    "capture": Command(("capture", "said.txt")),
    "import file": Command(("import", "memories.json")),
    "import folder": Command(("import", "memories")),
    "export file": Command(("export", "out.json", "--force")),
    "export anew": Command(("export", "new.json")),
    "export folder": Command(("export", "out/", "--force")),
    "rebuild": Command(("rebuild",)),
    "doctor": Command(("doctor", "--fix", "--deep"), edits=True),
    "mirror": Command(("sync",), prepare=("config", "set", "sessions.mirror", "mirror")),
    "config set": Command(("config", "set", "search.limit", "7")),
    "config delete": Command(("config", "delete", "agents.start_daemon")),
    "source add": Command(("source", "add", "second")),
    "source remove": Command(("source", "remove", "second"), prepare=("source", "add", "second")),
    "init": Command(("init", "second", "--no-opencode")),
    "plugin": Command(("agent", "install", "opencode")),
    "plugin removed": Command(
        ("agent", "uninstall", "opencode"), prepare=("agent", "install", "opencode")
    ),
}


def template(folder: Path, server: EmbeddingServer | None) -> None:
    """A home, a vault and what commands read, all below one folder that may be copied elsewhere."""
    vault = folder / "vault"
    (vault / "80-memory/decision").mkdir(parents=True)
    (folder / "second").mkdir()
    (folder / "memories").mkdir()
    (folder / "opencode").mkdir()
    (folder / "home").mkdir(mode=0o700)
    (folder / "second/note.md").write_text("Another vault.\n")
    for number in range(6):
        text = f"# Note {number}\n\n" + f"Words of note {number}.\n\n" * 30
        (vault / f"{number}.md").write_text(text)
        memory = f"---\ntype: note\ntitle: Import {number}\n---\nFact {number}.\n"
        (folder / f"memories/{number}.md").write_text(memory)
    (vault / "80-memory/decision/oak.md").write_text(
        f"---\nid: {_OLD}\ntype: decision\ntitle: Oak\ncreated: 2026-01-01T00:00:00+00:00\nown: "
        "key\n---\nWe use oak.\n"
    )
    (vault / "80-memory/old.md").write_text(
        "---\ntype: note\ntitle: Old\nexpires: 2026-01-02\n---\nExpired.\n"
    )
    (vault / "80-memory/inbox").mkdir()
    (vault / "80-memory/inbox/caught.md").write_text(
        "---\ntype: note\ntitle: Caught\n---\nNobody looked at it.\n"
    )
    (folder / "said.txt").write_text(
        "*Remember*: we use Postgres 15.\n\n*Remember*: deploys happen on Mondays.\n"
    )
    records = [{"type": "note", "title": f"Record {n}", "narrative": f"{n}."} for n in range(5)]
    (folder / "memories.json").write_text(json.dumps(records))
    with closing(Client(folder / "opencode/opencode.db")) as client:
        client.begin("How does the heron fly?")
        client.assistant("With its wings.")
    embedding = 'provider = "none"'
    if server is not None:
        embedding = (
            f'provider = "openai"\nbase_url = "{server.base_url}"\n'
            'model = "toy"\ndimensions = 16\nbatch_texts = 4'
        )
    (folder / "home/config.toml").write_text(
        "[sources.vault]\npath = "
        f'"../vault"\n[embedding]\n{embedding}\n[sessions.opencode]\nenabled = true\ndata = '
        '"../opencode"\n[agents]\nstart_daemon = false\n'
    )


class Prepared(NamedTuple):
    """The state before a command, and the result of an undisturbed run."""

    folder: Path
    after: Mapping[str, frozenset[bytes]]
    """The contents that an undisturbed run leaves, by folder."""
    calls: Mapping[str, int]
    """How often it makes each call."""


@functools.cache
def served() -> EmbeddingServer:
    """Return an embedding server that ignores killed clients."""
    server = EmbeddingServer(dimensions=16)
    threading.excepthook = lambda _: None  # a client that was killed does not listen to the end
    return server.__enter__()


@functools.cache
def prepared(name: str) -> Prepared:
    """Return the state before a command, the state after an undisturbed run, and its calls."""
    command, place = COMMANDS[name], scratch()
    folder = place.__enter__()
    Finalize(
        None, place.__exit__, (None, None, None), exitpriority=1
    )  # workers of a pool run no `atexit`
    before, done = folder / "before", folder / "done"
    before.mkdir()
    template(before, served() if command.embeds else None)
    if name != "first sync":
        here(before, ("sync",))
    if command.prepare:
        here(before, command.prepare)
    if command.edits:
        (before / "vault/1.md").write_text("# Changed\n\nOther words.\n")
        (before / "vault/2.md").rename(before / "vault/moved.md")
        (before / "vault/3.md").unlink()
    copy(before, done)
    trace = folder / "trace"
    traced(done, command, ["-f", "-o", str(trace), "-e", f"trace={','.join(CALLS)}"])
    calls: collections.Counter[tuple[str, str]] = collections.Counter()
    for line in trace.read_text("utf-8", "replace").splitlines():
        if found := re.match(r"(\d+) +(\w+)\((.*)", line):
            calls[found[2], found[1]] += 1
    most = dict.fromkeys(CALLS, 0)
    for (call, _), number in calls.items():
        most[call] = max(most[call], number)
    return Prepared(before, contents(done), {call: n for call, n in most.items() if n})


def contents(folder: Path) -> dict[str, frozenset[bytes]]:
    """Return the contents of the files that matter, by folder, without varying values.

    The names of new memories are not compared, but their contents are.
    """
    found: dict[str, set[bytes]] = collections.defaultdict(set)
    for path in people(folder):
        text = path.read_bytes().replace(os.fsencode(folder), b"")
        found[path.parent.relative_to(folder).as_posix()].add(_CHANGES.sub(b"", text))
    return {name: frozenset(texts) for name, texts in found.items()}


def people(folder: Path) -> Iterator[Path]:
    """Yield the files that a user would miss."""
    for name in ("vault", "second", "memories", "out", ".config/opencode"):
        paths = sorted((folder / name).rglob("*"))
        yield from (path for path in paths if path.is_file() and not is_draft(path))
    files = (folder / name for name in ("home/config.toml", "out.json", "new.json"))
    yield from (path for path in files if path.exists())


def is_draft(path: Path) -> bool:
    """Return whether this is an unfinished file."""
    return path.name.startswith(".vault-index-") and path.name.endswith(".tmp")


def copy(one: Path, other: Path) -> None:
    """With the times: what the index knows stays true, as far as change times let it."""
    subprocess.run(["cp", "-a", one, other], check=True)


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of the commands."""
    return {
        **os.environ, "VAULT_INDEX_HOME": str(folder / "home"), "NO_PROXY": "127.0.0.1",
        "OPENAI_API_KEY": "sk-test", "HOME": str(folder), "NO_COLOR": "1",
    }  # fmt: skip


def can_trace() -> bool:
    """Return whether strace is installed and may trace processes; some containers forbid it."""
    if not shutil.which("strace"):
        return False
    return subprocess.run(["strace", "-qq", "-o", os.devnull, "true"]).returncode == 0


def traced(folder: Path, command: Command, options: Sequence[str]) -> int:
    """Run a command under strace."""
    python = [sys.executable, "-m", "vault_index", *command.arguments, "--quiet"]
    return subprocess.run(
        ["strace", "-qq", "--seccomp-bpf", *options, "--", *python], cwd=folder,
        env=environment(folder), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, check=False,
    ).returncode  # fmt: skip


def here(folder: Path, arguments: Sequence[str]) -> tuple[int, str]:
    """A command in this process, which is quicker."""
    before, old = os.getcwd(), dict(os.environ)
    os.environ.update(environment(folder))
    os.chdir(folder)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            code = command_line([*arguments, "--quiet"])
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(old)
    return code, said.getvalue()


def tell(story: Story, folder: Path, without: frozenset[str]) -> None:
    """Run one command and check the result."""
    chance = random.Random(story.seed)
    name = chance.choice([name for name in COMMANDS if name not in without])
    command, ready = COMMANDS[name], prepared(name)
    call = chance.choice(list(ready.calls))
    number = chance.randint(1, ready.calls[call])
    place = folder / "run"
    copy(ready.folder, place)
    before = contents(place)
    sent = len(served().texts) if command.embeds else 0
    at = f"{call} number {number} of {ready.calls[call]}"
    story.did(f"{name}: {' '.join(command.arguments)}, killed at {at}")
    inject = f"inject={call}:signal=KILL:when={number}"
    code = traced(place, command, ["-f", "-o", "/dev/null", "-e", inject])
    killed = code in (-9, 137)
    story.counts[f"{name}: {'killed' if killed else 'not reached'}"] += 1
    story.counts["killed" if killed else "not reached"] += 1
    check_files(story, name, place, before, ready.after)
    if command.embeds:
        check_ledger(story, place, len(served().texts) - sent)
    drafts = [path for path in place.rglob("*") if is_draft(path)]
    story.counts["drafts after a kill"] += len(drafts)
    again(story, name, command, place)
    if name != "append":  # which rightly appends twice
        check_files(story, f"{name} done again", place, before, ready.after)
    if left := [str(path.relative_to(place)) for path in place.rglob("*") if is_draft(path)]:
        story.found(f"leftover of {name}", f"{left}; {len(drafts)} after the kill")
    check_index(story, name, place)


def check_files(
    story: Story,
    name: str,
    place: Path,
    before: Mapping[str, frozenset[bytes]],
    after: Mapping[str, frozenset[bytes]],
) -> None:
    """Check that no file was lost or half-written."""
    now = contents(place)
    folders = before.keys() | after.keys() | now.keys()
    # init writes one setting after the other: the files are whole, and the next run continues.
    if name == "init":
        folders.discard("home")
    for folder in folders:
        old, new, found = (one.get(folder, frozenset()) for one in (before, after, now))
        if half := found - old - new:
            story.found(f"half a file after {name}", f"{folder}: {[text[:200] for text in half]}")
        if lost := old & new - found:
            story.found(f"a file lost by {name}", f"{folder}: {[text[:200] for text in lost]}")
    # What goes from one state or one folder to another must be in one of them.
    everywhere = {text for texts in now.values() for text in texts}
    for folder in folders & before.keys():
        moved_to = after.get(folder, frozenset()) - before[folder]
        for text in before[folder] - after.get(folder, frozenset()):
            elsewhere = any(text in one for one in after.values())
            if text not in everywhere and (elsewhere or (moved_to and not moved_to & everywhere)):
                story.found(f"a text lost by {name}", f"{folder}: {text[:200]!r}")


def check_ledger(story: Story, place: Path, sent: int) -> None:
    """What was sent is in the ledger, however the sender ended."""
    with VaultIndex.open(find_home(place / "home")) as index:
        named = sum(record.texts for record in index.privacy().results)
    if named < sent:
        story.found("ledger lacks what was sent", f"{named} of {sent} texts")


def again(story: Story, name: str, command: Command, place: Path) -> None:
    """The same command once more, which may find that its work is done, and a sync."""
    code, said = here(place, command.arguments)
    if code not in (0, _DONE.get(name)):
        story.found(f"{name} does not work afterwards", f"exit code {code}: {said[-300:]}")
    code, said = here(place, ("sync",))
    if code != 0:
        story.found(f"sync does not work after {name}", f"exit code {code}: {said[-300:]}")


def check_index(story: Story, name: str, place: Path) -> None:
    """Check that the index equals a fresh build."""
    fresh = find_home(place / "fresh")
    fresh.data_dir.mkdir(mode=0o700)
    shutil.copy(place / "home/config.toml", fresh.config_file)
    with VaultIndex.open(fresh) as index:
        index.sync()
    mine, theirs = rows(place / "home/index.db"), rows(fresh.index_db)
    for table in mine.keys() | theirs.keys():
        one, other = (sorted(map(repr, each.get(table, []))) for each in (mine, theirs))
        if one != other:
            lone = sorted(set(one) ^ set(other))[:3]
            story.found(f"index differs after {name}", f"{table}: {lone}")


def main() -> None:
    """Run the kills."""
    chosen = options(__doc__, 1000, list(COMMANDS))
    if not can_trace():
        raise SystemExit("install strace (`apt install strace`), and allow it to trace processes")
    exit_with(run(Attack(tell, frozenset(filter(None, chosen.without.split(",")))), chosen))


if __name__ == "__main__":
    main()
