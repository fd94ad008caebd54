"""A vault, and the SDK's real client connected to the real server over stdio."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters, types
from pydantic import FileUrl

from tests.api.vaults import write
from vault_index import VaultIndex
from vault_index.config import Home, find_home
from vault_index.config.edit import create_config, set_value

_T = TypeVar("_T")

NOTES = {
    "harbour.md": "# Harbour\n\nThe importer tries three times.\n\n## Queue\n\nIt is called Tidewater.\n",
    "long.md": "# Long\n\n" + "".join(f"Line {number} of the long note.\n" for number in range(200)),
    "wide.md": "# Wide\n\n" + "word " * 3000 + "end\n",
    "80-memory/decision/wal.md": "---\nid: 7d1c2a90-3b4e-4f5a-8c6d-9e0f1a2b3c4d\n---\nWe use WAL mode.\n",
    **{f"daily/2026-03-{day:02}.md": f"# Day {day}\n\nThe barometer stood at {900 + day}.\n" for day in range(1, 29)},
}


class Session:
    """Makes the calls in order, and checks every answer for the rules that hold for all."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client

    def does(self, what: Callable[[Client], Awaitable[_T]]) -> _T:
        """Return the result of a method of the SDK's client."""

        async def done() -> _T:
            return await what(self._client)

        return self._portal.call(done)

    @property
    def version(self) -> str:
        """The protocol version in use."""
        return self._client.protocol_version

    def tools(self) -> types.ListToolsResult:
        return self._portal.call(self._client.list_tools)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured answer of a successful call, with its text as `shown`."""
        result = self._result(tool, arguments)
        assert not result.is_error, result
        assert result.structured_content is not None
        return {**result.structured_content, "shown": _text(result)}

    def error(self, tool: str, **arguments: Any) -> str:
        """Return the text of a failing call, which has a hint."""
        result = self._result(tool, arguments)
        assert result.is_error, result
        assert result.structured_content is not None
        assert result.structured_content["error"]["hint"]
        return _text(result)

    def _result(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        result: types.CallToolResult = self._portal.call(self._client.call_tool, tool, arguments)
        return result


def _text(result: types.CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def make_home(folder: Path, *, start_daemon: bool = False) -> Home:
    """Make a home whose vault, `folder/vault`, is indexed by words."""
    write(folder / "vault", NOTES)
    home = find_home(folder / "home")
    create_config(home, folder / "vault", provider="none", memory_dir=None)
    set_value(home, "agents.start_daemon", str(start_daemon).lower(), "")
    with VaultIndex.open(home) as index:
        index.sync()
    return home


OLD, NEW = "2025-11-25", "2026-07-28"
"""The eras of the protocol: with a handshake, and without."""


@contextmanager
def session(
    home: Path,
    *options: str,
    roots: Sequence[Path] = (),
    cwd: Path | None = None,
    era: str = OLD,
    user: Callable[[str], types.ElicitResult | types.ErrorData] | None = None,
) -> Iterator[Session]:
    """A client with these `roots` that can ask the `user`, and its own server."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "vault_index", *command(home, options)], cwd=cwd, env=dict(os.environ)
    )

    async def list_roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl(root.as_uri())) for root in roots])

    async def ask(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
        assert user
        return user(params.message)

    opened = Client(
        server,
        mode="legacy" if era == OLD else era,
        list_roots_callback=list_roots if roots else None,
        elicitation_callback=ask if user else None,
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(opened) as client:
        yield Session(portal, client)


def command(home: Path, options: Sequence[str] = ()) -> list[str]:
    return ["mcp", "--home", str(home), *options]


def started(home: Path, *options: str, code: str = "") -> "subprocess.Popen[bytes]":
    """A server with pipes that the test holds; `code` runs instead of the command line."""
    start = ["-c", code] if code else ["-m", "vault_index"]
    return subprocess.Popen(
        [sys.executable, *start, *command(home, options)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUTF8": "1"},
    )


class Raw:
    """A server whose lines the test writes and reads."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.process = process
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr

    def send(self, *lines: bytes) -> None:
        self.stdin.write(b"".join(lines))
        self.stdin.flush()

    def reply(self) -> dict[str, Any]:
        reply: dict[str, Any] = json.loads(self.stdout.readline())
        return reply


@contextmanager
def raw(home: Path, *options: str, code: str = "") -> Iterator[Raw]:
    with started(home, *options, code=code) as process:
        yield Raw(process)


def request(number: int, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


INITIALIZE = request(
    1,
    "initialize",
    {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
)
INITIALIZED = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
