"""Simulate ten first hours of new users: the README's commands in empty homes.

    python benchmarks/first_hours.py COMMAND… [--only NAME] [--faults]

COMMAND is the program to test, such as `.venv/bin/vault-index`. Every step must do what it
promises, or print what to do instead. It is a fault if a step exits with 0 without the expected
output, fails without a hint, or takes too long. Prints one line per step: the verdict, the exit
code, the seconds, the command, and the first line of output. Exits with 1 after a fault. Runs on
Linux, and on any system where the owner can make a folder read-only.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.month import Month, write_sessions
from tests.embeddings.failures import unauthorized
from tests.embeddings.server import EmbeddingServer

README = Path(__file__).resolve().parent.parent / "README.md"
PATIENCE = 60.0
HUNG = 3.0
"""Seconds that a daemon which hangs may cost beyond what the same takes without one."""
_WHOLE = 300.0
_SAID_IN = "deploy the api on"
"""Words of a session that the month holds."""
_NOTES = {
    "projects/wal.md": "# WAL\n\nThe write-ahead log keeps readers going while one writes.\n",
    "projects/cellar.md": "# Cellar\n\nThe damp cellar needs air.\n\n## Shelves\n\n"
    + "Jars stand on a shelf.\n" * 60,
    "recipes/bread.md": (
        "---\ntags: [recipes]\ncreated: 2026-03-02\n---\n# Sourdough\n\nFold it four times.\n"
    ),
    "work/builds.md": "# Builds\n\nThe slow build was fixed by copying the lock file first.\n",
    "80-memory/decision/cents.md": (
        "---\nid: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\ntype: decision\ntitle: Prices are whole "
        "cents\nproject: shop\n---\nPrices are stored as whole cents.\n"
    ),
}


@dataclass(slots=True)
class Report:
    """The verdicts of one hour."""

    faults: list[str] = field(default_factory=list)
    steps: int = 0
    only_faults: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a process."""

    code: int
    seconds: float
    stdout: str
    stderr: str

    @property
    def text(self) -> str:
        """The output to stdout and stderr."""
        return f"{self.stdout}\n{self.stderr}"


_HINTED = re.compile(
    r"(?:^\s*|; )hint: \S|message,hint\}|\"hint\": ?\"[^\"]|^failed\[\d+\]\{position,error",
    re.MULTILINE,
)
"""The hint of an error, those of problems, and the reason why one of several things failed."""


def verdict(line: str, ended: Ended, wants: str, says: str, within: float, *, quiet: bool) -> str:
    """Return `works`, `says` (what to do), or the fault.

    `wants` is a pattern of the expected output; `says` is a pattern of an accepted message or
    error. Without either, the step must print something, or fail with a hint.
    """
    if "Traceback (most recent call last)" in ended.text or ended.code < 0 or ended.code > 6:
        return "crashed"
    if ended.seconds > within:
        return f"took over {within:.0f} s"
    if ended.code and "--json" in line and not _is_json(ended.stderr):
        return "failed with what is no JSON"
    if ended.code == 0 and (
        re.search(wants, ended.text) if wants else (not says and ended.stdout.strip()) or quiet
    ):
        return "works"
    if not re.search(says, ended.text) or (wants and not says):
        return "failed, and said something else" if ended.code else "yielded nothing of it"
    if ended.code and not _HINTED.search(ended.text):
        return "failed without a hint"
    return "says" if ended.code or says else "yielded nothing of it"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


class Hour:
    """An empty home of a new user, in whose name things are typed."""

    def __init__(self, name: str, folder: Path, command: Sequence[str], report: Report) -> None:
        self.name = name
        self.home = folder
        self.report = report
        self.before: list[str] = []
        """What a command is run by, as one that closes folders first."""
        self._command = list(command)
        self._bin = folder / "bin"
        self._bin.mkdir(parents=True)
        for called in ("vault-index", "vx"):
            script = self._bin / called
            script.write_text(f'#!/bin/sh\nexec {shlex.join(self._known_as(called))} "$@"\n')
            script.chmod(0o755)
        runtime = folder / "run"
        runtime.mkdir(mode=0o700)
        path = os.pathsep.join([str(self._bin), os.environ.get("PATH", os.defpath)])
        self.env = {
            "HOME": str(folder),
            "PATH": path,
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(runtime),
        }
        self.vault = folder / "Vault"

    def _known_as(self, name: str) -> list[str]:
        """The command under its other name, where it is installed under both."""
        first = Path(shutil.which(self._command[0]) or self._command[0]).absolute()
        other = first.with_name(name)
        return [
            str(other if other.exists() and first.name in ("vault-index", "vx") else first),
            *self._command[1:],
        ]

    def notes(self, vault: Path | None = None) -> None:
        """Write some notes."""
        for name, text in _NOTES.items():
            file = (vault or self.vault) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")

    def opencode(self) -> None:
        """OpenCode was here: a week of sessions."""
        write_sessions(
            self.home / ".local/share/opencode", Month(1, int(time.time()) * 1000 - 3_600_000)
        )

    def run(self, words: Sequence[str], stdin: str = "") -> Ended:
        """Run a command and return its result."""
        started = time.monotonic()
        try:
            done = subprocess.run(
                [*self.before, *words], env=self.env, cwd=self.home, input=stdin,
                capture_output=True, text=True, timeout=_WHOLE, errors="replace",
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Ended(-1, time.monotonic() - started, "", "it did not end")
        return Ended(done.returncode, time.monotonic() - started, done.stdout, done.stderr)

    def step(
        self,
        line: str,
        *,
        wants: str = "",
        says: str = "",
        stdin: str = "",
        within: float = PATIENCE,
        quiet: bool = False,
    ) -> Ended:
        """What is typed, as to a shell, and what is to come of it."""
        ended = self.run(shlex.split(line), stdin)
        self.told(line, ended, verdict(line, ended, wants, says, within, quiet=quiet))
        return ended

    def until(self, line: str, wants: str, seconds: float = 20.0) -> None:
        """The same again and again, until it yields what is wanted."""
        started = time.monotonic()
        while True:
            ended = self.run(shlex.split(line))
            found = ended.code == 0 and re.search(wants, ended.text) is not None
            if found or time.monotonic() - started > seconds:
                took = Ended(ended.code, time.monotonic() - started, ended.stdout, ended.stderr)
                self.told(
                    f"{line}  (again and again)",
                    took,
                    "works" if found else "yielded nothing of it",
                )
                return
            time.sleep(0.2)

    def told(self, line: str, ended: Ended, found: str) -> None:
        """Print the verdict of a step."""
        first = next((one.strip() for one in ended.text.splitlines() if one.strip()), "(nothing)")
        good = found in ("works", "says")
        self.report.steps += 1
        took = f"{ended.code:>3} {ended.seconds:6.2f} s"
        text = f"{self.name:10} {found if good else 'FAULT':6} {took}  {line}  ->  {first[:90]}"
        if not good:
            self.report.faults.append(
                f"{self.name}: {line}: {found} (exit {ended.code}): {first[:120]}"
            )
        if not (good and self.report.only_faults):
            print(text, flush=True)

    def skip(self, why: str) -> None:
        """Report a skipped step."""
        print(f"{self.name:10} skipped: {why}", flush=True)

    @contextmanager
    def daemon(self) -> Iterator[subprocess.Popen[bytes]]:
        """`vault-index watch` in another window, once it answers."""
        process = subprocess.Popen(
            ["vault-index", "watch"],
            env=self.env,
            cwd=self.home,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self.until("vault-index status --json", r'"running": ?true')
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def readme_lines() -> list[str]:
    """What the README says one types, in its order, without what installs the program."""
    code = re.findall(r"```sh\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    lines = [line.split("   #")[0].strip() for block in code for line in block.splitlines()]
    said = re.findall(r"Then ask: `(.+?)`", README.read_text("utf-8"))
    lines = [line for line in lines if line.startswith(("vx ", "vault-index "))]
    first = next(at for at, line in enumerate(lines) if "service install" in line) + 1
    return [*lines[:first], *said, *lines[first:]]


_README = {
    "vault-index service install": ("enabled|started", "systemd|launchd|vault-index watch"),
    "vault-index search": ("builds.md", ""),
    "vx search 'sourdough": ("bread.md", ""),
    "vx search '\"write-ahead": ("wal.md", ""),
    "vx why": ("cellar.md", ""),
    "vx get": ("Jars stand", ""),
    "vx list": ("whole cents", ""),
    "vx tags": ("recipes", ""),
    "vx search 'docker kind:session'": ("", ""),
    "vx status": ("documents: [1-9]", ""),
    "vault-index recall": ("cents", ""),
    "vault-index prune": ("", ""),
    "vault-index agent install opencode": ("(?i)plugin", ""),
}
"""By how a line of the README begins: what it is to yield, or what it may say."""


def without_opencode(hour: Hour) -> None:
    """The tour of the README, without a daemon, where OpenCode never was."""
    hour.notes()
    for line in readme_lines():
        wants, says = next(
            (known for begin, known in _README.items() if line.startswith(begin)), ("", "")
        )
        hour.step(line, wants=wants, says=says)
    hour.step("vx list --kind session")
    for name in ("vault-index", "vx"):
        hour.step(f"{name} agent status opencode", wants="(?i)current|up to date|installed")
        hour.step(f"{name} doctor", wants="healthy: true")
    slips(hour)


def slips(hour: Hour) -> None:
    """What is typed wrongly, or in another program's way."""
    hour.step("vx serach wal", says="search")
    hour.step("vx search wal --bogus", says="(?i)unrecognized|unknown|no option")
    hour.step(
        'vx search "-docker"',
        wants=r"\.md",
        says="(?i)beside|alone|only|leaves out|excluded|what to",
    )
    hour.step('vx search ""', says="(?i)word|empty|nothing to|which")
    hour.step('vx get ""', says="(?i)empty|reference|name|which")
    hour.step("vx get projects/wal.md no/such.md", says="(?s)(?=.*write-ahead).*no/such")
    hour.step("vx get no/such.md", says="(?i)no|not")
    hour.step("vx get 7", says="(?i)nothing|no |not ")
    hour.step("vx --agent-context", wants="memory_search", says="agent-context")
    hour.step("vx --db other.db search wal", says="(?i)--home|--db")
    hour.step("vx -q search wal", wants="wal.md")
    hour.step("vx search wal -q --json", wants='"results"')
    hour.step("vx logs --json", wants=r"^\s*[\[{]", says="(?i)watch|daemon|log")
    hour.step("vx add 'Deploys run on Tuesday mornings' --json", wants='"id"')
    hour.step("vx update 5f0c --content 'Prices have four decimals.'", wants="cents|5f0c|updated")
    hour.step("vx delete nothing-like-it", says="(?i)no|not")
    hour.step(
        "vx capture --dry-run", stdin="*Remember*: the kiln is hired through Q2 2027", wants="kiln"
    )
    hour.step(
        "vx capture --dry-run --json",
        stdin="*Remember*: we rent it through Q2 2027",
        wants="2027-0[67]-",
    )
    hour.step("vx capture --dry-run", stdin="Nothing of the kind.", wants="(?i)nothing|results")
    hour.step("vx export out.json", wants="out.json|[1-9]")
    hour.step("vx import out.json --dry-run", wants="[0-9]")
    if hour.step("vx export e.md --markdown", wants="e.md", says="(?i)folder").code == 0:
        hour.step("test -f e.md", quiet=True)
    wrong = hour.step(
        "vx config set embedding.model no-such-model",
        says="(?i)there is|has no|multilingual|made by",
    )
    if wrong.code == 0:
        hour.step(
            "vx search 'what is ahead of writing' --json",
            wants=r'"degraded": ?(?:\[\]|.*no-such-model)',
        )
        hour.step("vx doctor", says="no-such-model")
    hour.step("vx config set no.such.key 1", says="(?i)there is no|unknown")


def before_init(hour: Hour) -> None:
    """OpenCode was there first."""
    hour.notes()
    hour.opencode()
    hour.step("vault-index init Vault", wants="(?i)opencode|session")
    hour.step(f"vx search '{_SAID_IN} kind:session'", wants="session|ses_|User|weekday|Tuesday")
    hour.step("vx list --kind session", wants="Deploy|api")
    hour.step("vx status", wants="opencode")
    hour.step("vault-index agent install opencode", wants="(?i)install|vault-index.ts|plugin")
    hour.step("vx agent status opencode", wants="(?i)current|up to date|installed")
    hour.step("vx doctor", wants="healthy: true")
    hour.step("vault-index doctor", wants="healthy: true")
    hour.step(
        "vault-index recall 'which weekday is deployed' --project api",
        wants="vault-index-recall|Deploy",
    )


def after_init(hour: Hour) -> None:
    """OpenCode is installed, and used, after the first day."""
    hour.notes()
    hour.step("vault-index init Vault", wants="[1-9]")
    hour.opencode()
    told = "(?i)opencode"
    hour.step("vx sync", wants="added: [1-9]|(?i:opencode)")
    hour.step(f"vx search '{_SAID_IN} kind:session'", wants="ses_|User|weekday|Tuesday", says=told)
    hour.step("vx list --kind session", wants="Deploy of", says=told)
    hour.step("vx status", wants=r"(?i)opencode")
    with hour.daemon():
        hour.until(f"vx search '{_SAID_IN} kind:session'", "ses_|User|weekday|Tuesday")


def while_watching(hour: Hour) -> None:
    """OpenCode is used for the first time while the daemon runs."""
    hour.notes()
    hour.step("vault-index init Vault", wants="[1-9]")
    hour.step(
        "vault-index config set watch.reconcile 1", quiet=True
    )  # minutes: the longest it may take
    with hour.daemon():
        hour.opencode()
        hour.until(f"vx search '{_SAID_IN} kind:session'", "ses_|User|weekday|Tuesday", 90)


def with_daemon(hour: Hour) -> None:
    """The tour with a daemon, which then hangs."""
    hour.notes()
    hour.step("vault-index init Vault", wants="[1-9]")
    alone = hour.step("vx recall 'the slow build'", wants="build").seconds
    with hour.daemon() as process:
        hour.step("vx search 'how did we fix the slow build'", wants="builds.md")
        (hour.vault / "new.md").write_text("# New\n\nThe quokka was seen on Tuesday.\n", "utf-8")
        hour.until("vx search quokka --mode text", "new.md")
        hour.step(
            "vault-index add 'We store prices as whole cents.' --type decision", wants="(?i)id"
        )
        hour.step("vx update 5f0c --add-tags money", wants="5f0c|cents|updated")
        hour.step("vx list --tags money", wants="cents")
        hour.step("vx status --privacy", wants="(?i)nothing|results")
        hour.step("vault-index config set search.limit 1", quiet=True)
        hour.step("vx search 'the' --json --match any", wants='"results"')
        hour.step(
            "vx search 'a shelf with jars, a log, bread' --json",
            wants=r'(?s)^(?!.*"score".*"score")',
        )
        hour.step("vault-index config delete search.limit", quiet=True)
        hour.step("vx doctor", wants="healthy: true")
        hour.step("vault-index watch", says="(?i)already|running|pid")
        hour.step("vx delete 5f0c", wants="5f0c|trash")
        hour.step("vx logs -n 3", wants="watch|event", says="(?i)journal|service")
        hour.step("vx logs -n 3 --json", wants=r"^\s*[\[{]")
        process.send_signal(signal.SIGSTOP)
        for line, wants in (
            ("vx search quokka", "new.md"), ("vx get new.md", "quokka"), ("vx recall quokka",
                "quokka"),
            ("vx list", "new.md"), ("vx status", "documents: [1-9]"),
        ):  # fmt: skip
            hour.step(line, wants=wants, says="(?i)daemon", within=alone + HUNG)
        hour.step(
            "vx add 'The daemon hung on a Sunday.'",
            wants="id: ",
            says="(?i)daemon|written",
            within=10.0,
        )
        mcp(hour, "quokka", "new.md", within=alone + HUNG)


def mcp(hour: Hour, query: str, wants: str, within: float) -> None:
    """One search by an MCP client, timed from the request."""
    begin = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "first", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "memory_search", "arguments": {"query": query}}},
    ]  # fmt: skip
    process = subprocess.Popen(
        ["vault-index", "mcp"], env=hour.env, cwd=hour.home, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        started = time.monotonic()
        answer = ""
        for message in messages:
            started = time.monotonic()
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            while "id" in message:
                answer = process.stdout.readline()
                if not answer or json.loads(answer).get("id") == message["id"]:
                    break
        ended = Ended(0, time.monotonic() - started, answer, "")
    finally:
        process.kill()
        process.wait()
    hour.told("(MCP) memory_search", ended, verdict("", ended, wants, "", within, quiet=False))


def other_provider(hour: Hour) -> None:
    """Vectors by a server that speaks OpenAI's protocol, which then refuses, and is gone."""
    hour.notes()
    with EmbeddingServer(dimensions=64) as server:
        hour.step("vault-index init Vault --provider openai --no-sync", quiet=True)
        hour.step(f"vault-index config set embedding.base_url {server.base_url}", quiet=True)
        hour.step("vault-index config set embedding.model nomic-embed-text", quiet=True)
        hour.step("vault-index config set embedding.dimensions 64", quiet=True)
        hour.step("vault-index embed --plan", wants="[1-9]", says="(?i)sync")
        hour.step("vault-index sync", wants="(?i)embedded: [1-9]|pending: 0", says="(?i)key")
        hour.env["OPENAI_API_KEY"] = "sk-not-a-real-one"
        hour.step("vault-index sync", wants="(?i)pending: 0|embedded")
        hour.step("vx search 'the slow build' --json", wants=r'"degraded": ?\[\]')
        hour.step("vault-index add 'The remote memory says pelican.' --json", wants='"id"')
        hour.step("vx search pelican --json", wants="pelican")
        hour.step("vx status --privacy", wants=r"127\.0\.0\.1")
        hour.step("vx status", wants=r"pending: \d")
        server.fail_always(unauthorized)
        (hour.vault / "later.md").write_text("# Later\n\nA pangolin came by.\n", "utf-8")
        hour.step(
            "vault-index sync",
            wants="(?i)key|401|refused|pending",
            says="(?i)key|401|refused|unauthorized",
        )
        hour.step("vx search pangolin", wants="later.md")
        hour.step("vx doctor", says="(?i)key|401|refused|unauthorized")
    hour.step("vx search 'how was it fixed, the build' --json", wants=r'"degraded": ?\["')
    hour.step("vx search 'how was it fixed, the build'", wants="builds.md")
    hour.step("vx doctor", says="(?i)embedder")


def two_vaults(hour: Hour) -> None:
    """Use two vaults in one home."""
    hour.notes()
    other = hour.home / "Work"
    other.mkdir()
    (other / "okapi.md").write_text("# Okapi\n\nThe okapi lives in the other vault.\n", "utf-8")
    (other / "projects").mkdir()
    (other / "projects/wal.md").write_text(
        "# WAL at work\n\nReaders never wait at work.\n", "utf-8"
    )
    hour.step("vault-index init Vault", wants="[1-9]")
    hour.step("vault-index init Work", wants="(?i)work")
    hour.step("vault-index source list", wants="(?s)Vault.*Work|Work.*Vault")
    hour.step("vx search okapi", wants="okapi.md")
    hour.step(
        "vx search 'readers' --source work --json", wants="at work", says="(?i)source|known|Work"
    )
    hour.step("vx list --source work", wants="Okapi", says="(?i)source|known|Work")
    hour.step("vx search 'readers' --source nowhere", says="(?i)source|known")
    hour.step(
        "vx get projects/wal.md",
        wants="write-ahead|never wait",
        says="(?i)ambiguous|several|source",
    )
    hour.step(
        "vault-index add 'Which vault does this go to?'", wants="80-memory", says="(?i)vault|source"
    )
    hour.step(
        "vault-index add 'This goes to the one at work.' --source work --json",
        wants='"id"',
        says="(?i)source",
    )
    hour.step("vx tags --source work", quiet=True)
    hour.step("vx stats --source work", wants="documents: [1-9]")
    hour.step("vault-index source remove work", wants="work")
    hour.step("vx search okapi", wants="confidence: none")


def read_only_vault(hour: Hour) -> None:
    """Use a vault that cannot be written."""
    hour.notes()
    with closed(hour, hour.vault) as possible:
        if not possible:
            return
        hour.step("vault-index init Vault", wants="[1-9]", says="(?i)write|read-only|permission")
        hour.step("vx search 'slow build'", wants="builds.md")
        hour.step("vx get projects/wal.md", wants="write-ahead")
        told = "(?i)read-only|permission|cannot be written|may not|protected"
        hour.step("vault-index add 'This cannot be kept.'", says=told)
        hour.step("vx update 5f0c --content 'Nor this.'", says=told)
        hour.step("vx delete 5f0c", says=told)
        hour.step("vx capture", stdin="*Remember*: the vault is closed.", says=told)
        hour.step("vx doctor")
        hour.step("vault-index sync", wants="scanned: [1-9]")


def no_home(hour: Hour) -> None:
    """Everything before `init`, and what `init` may be given."""
    told = "(?i)init|set up"
    for line in (
        "vx search wal", "vx search wal --json", "vx get wal.md", "vx list", "vx tags", "vx stats",
            "vx status",
        "vx doctor", "vx recall wal", "vx add 'A thing.'", "vx sync", "vx embed --plan",
            "vx source list",
        "vx config get search.limit", "vx why wal wal.md", "vx timeline --query wal",
            "vx related wal.md",
        "vx capture --dry-run", "vx capture --dry-run --json", "vx prune --dry-run",
            "vx prune --dry-run --json",
        "vx export all.json", "vx import all.json", "vx watch", "vx rebuild",
    ):  # fmt: skip
        hour.step(line, says=told)
    hour.step("vx logs", says="(?i)init|set up|watch")
    hour.step("vx agent status opencode", says=told, wants="(?i)install|opencode")
    hour.step("vx agent install opencode", says=told, wants="(?i)install|opencode")
    hour.step("vx agent-context", wants="memory_search|search")
    hour.step("vx mcp --print-config cursor", wants="mcp")
    hour.step("vx --version", wants=r"\d")
    hour.step("vx", wants="(?i)init", says="(?i)init|help")
    hour.step("vx init", wants="(?i)init|vault", says="(?i)vault|folder")
    hour.step("vx init no/such/folder", says="(?i)no|not|folder")
    hour.vault.mkdir()
    hour.step("vx init Vault", wants="(?i)no notes|empty|scanned: 0|markdown")
    hour.step("vx search wal", says="(?i)empty|no notes|no documents|holds nothing|sync")
    hour.notes()
    hour.step(
        "vx search wal", wants="wal.md", says="(?i)empty|no notes|no documents|holds nothing|sync"
    )
    hour.step("vx sync", wants="[1-9]")
    hour.step("vx search wal", wants="wal.md")


def read_only_home(hour: Hour) -> None:
    """The home is closed before anything, and after `init`."""
    hour.notes()
    told = "(?i)read-only|permission|cannot be written|not writable|may not"
    with closed(hour, hour.home) as possible:
        if not possible:
            return
        hour.step("vault-index init Vault", says=told)
    hour.step("vault-index init Vault", wants="[1-9]")
    with closed(hour, hour.home):
        hour.step("vx search 'slow build'", wants="builds.md", says=told)
        hour.step("vx list", wants="WAL", says=told)
        hour.step(
            "vx status",
            wants="documents: [1-9]",
            says="(?is)^(?!.*documents: 0).*(?:read-only|written)",
        )
        hour.step("vx get projects/wal.md", wants="write-ahead", says=told)
        hour.step("vx recall 'slow build'", wants="build", says=told)
        for line in (
            "vault-index add 'Not kept.'",
            "vault-index sync",
            "vault-index config set search.limit 3",
        ):
            hour.step(line, says=told)
        hour.step("vx doctor", says=told)


@contextmanager
def closed(hour: Hour, folder: Path) -> Iterator[bool]:
    """Make everything in the folder unwritable; report a skip if that is impossible."""
    if os.geteuid() == 0:
        script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd . && exec "$@"'
        by = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, str(folder)]
        works = (
            shutil.which("unshare")
            and subprocess.run([*by, "true"], capture_output=True).returncode == 0
        )
        if not works:
            hour.skip("root writes everywhere, and nothing can be mounted here")
            yield False
            return
        hour.before = by
        try:
            yield True
        finally:
            hour.before = []
        return
    inside = [
        folder,
        *(path for path in folder.rglob("*") if path.is_dir() and not path.is_symlink()),
    ]
    modes = [(path, path.stat().st_mode) for path in inside]
    for path in inside:
        path.chmod(0o555)
    try:
        yield True
    finally:
        for path, mode in modes:
            path.chmod(mode)


HOURS: dict[str, Callable[[Hour], None]] = {
    "never": without_opencode,
    "before": before_init,
    "after": after_init,
    "watching": while_watching,
    "daemon": with_daemon,
    "provider": other_provider,
    "vaults": two_vaults,
    "ro-vault": read_only_vault,
    "no-home": no_home,
    "ro-home": read_only_home,
}


def main() -> None:
    """Run the hours."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", nargs="+", help="what is tested")
    parser.add_argument(
        "--only", action="append", choices=list(HOURS), help="this hour; several times: these"
    )
    parser.add_argument("--faults", action="store_true", help="print the faults only")
    options = parser.parse_args()
    report = Report(only_faults=options.faults)
    for name in options.only or HOURS:
        with ExitStack() as stack:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="vx-", ignore_cleanup_errors=True)
            )
            HOURS[name](Hour(name, Path(folder).resolve(), options.command, report))
    print(f"\n{report.steps} steps, {len(report.faults)} faults")
    for fault in report.faults:
        print(f"  {fault}")
    raise SystemExit(1 if report.faults else 0)


if __name__ == "__main__":
    main()
