"""A client of the running daemon.

Every command imports it, so it imports no index and nothing slow.
"""

from __future__ import annotations

import json
import os
import socket
import time

from vault_index.daemon import protocol
from vault_index.daemon.protocol import is_own_process, is_own_socket
from vault_index.errors import BusyError, UsageError, VaultIndexError

TYPE_CHECKING = False  # avoids importing typing; type checkers know the name
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    OnProgress = Callable[[str, int, int], object]

SILENCE_SECONDS = 30.0
LOOK_SECONDS = 1.0
"""Seconds of silence before a reading client checks with a second connection that the daemon still
answers.
"""

_RESTART = "restart the daemon (its pid is in `vault-index status`), then run the command again"


class Unreachable(BusyError):
    """The daemon hangs or has its maximum number of clients; it did not process the request."""


class Untrusted(Unreachable):
    """The socket may belong to another user; nothing was sent."""


class OtherProtocol(UsageError):
    """The daemon speaks another version of the protocol and refused the request."""


class Client:
    """One connection to the daemon, for one thread at a time. Close it, or use it in a `with`."""

    def __init__(self, connection: socket.socket, greeting: float, silence: float) -> None:
        self._connection = connection
        self._received = bytearray()
        self._greeting = greeting
        self._silence = silence
        self._last_id = 0
        self.daemon: dict[str, Any] = {}
        """The daemon's answer to the greeting: `version`, `protocol`, `pid`, `since`."""

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def is_open(self) -> bool:
        """Return whether the daemon has kept the connection open since its last answer."""
        self._connection.settimeout(0)
        try:
            self._connection.recv(1, socket.MSG_PEEK)
        except OSError as error:
            return isinstance(error, BlockingIOError)
        finally:
            self._connection.settimeout(self._silence)
        return False  # end of file, or unrequested data

    def call(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        format: str | None = None,
        on_progress: OnProgress | None = None,
        reading: bool = False,
    ) -> dict[str, Any] | str:
        """Send a request; return the answer: a dict as with `--json`, or the text for a `format`.

        Raises the VaultIndexError that the daemon reported, or BusyError if it stopped or was
        silent for 30 seconds. Writing methods report progress every five seconds, so they may take
        any time. A `reading` request fails early if the daemon does not answer a second connection
        either. The first call may also raise Unreachable and OtherProtocol.
        """
        line = self._line(method, params or {}, format)
        try:
            if self.daemon:
                self._connection.sendall(line)
            else:
                self.greet(line)
            self._connection.settimeout(
                min(self._silence, LOOK_SECONDS) if reading else self._silence
            )
            return self._answer(on_progress, looking=reading)
        except TimeoutError as fault:
            raise BusyError("the daemon stopped answering", _RESTART) from fault
        except OSError as fault:
            raise _gone() from fault

    def greet(self, first_request: bytes = b"") -> None:
        """Ping the daemon, in one round trip with the first request.

        If a hanging daemon continues later, it drops the connection before the request, because the
        greeting fails.
        """
        self._connection.settimeout(self._greeting)
        try:
            self._connection.sendall(self._line("ping", {}, None) + first_request)
            answer = self._answer(None)
        except (OSError, BusyError) as fault:
            raise Unreachable("the daemon does not answer", _RESTART) from fault
        except UsageError as error:
            raise OtherProtocol(error.message, error.hint) from error
        self.daemon = answer if isinstance(answer, dict) else {}

    def _line(self, method: str, params: dict[str, Any], format: str | None) -> bytes:
        self._last_id += 1
        request = {
            "v": protocol.VERSION,
            "id": self._last_id,
            "method": method,
            "params": params,
            "format": format,
        }
        try:
            line = protocol.encode(request)
        except ValueError as error:
            raise UsageError("a number is infinite or not a number", "give a number") from error
        if len(line) > protocol.MAX_REQUEST_BYTES:
            raise protocol.too_long()
        return line

    def _answer(
        self, on_progress: OnProgress | None, *, looking: bool = False
    ) -> dict[str, Any] | str:
        while True:
            reply = self._read(looking)
            if "progress" in reply:
                if on_progress is not None:
                    step = reply["progress"]
                    on_progress(step["stage"], step["done"], step["total"])
            elif "error" in reply:
                raise protocol.error_from(reply["error"])
            else:
                answer: dict[str, Any] | str = reply["text"] if "text" in reply else reply["result"]
                return answer

    def _read(self, looking: bool) -> dict[str, Any]:
        seen, until = 0, time.monotonic() + self._silence
        while (end := self._received.find(b"\n", seen)) < 0:
            seen = len(self._received)
            try:
                data = self._connection.recv(65536)
            except TimeoutError:
                if (
                    not looking
                    or time.monotonic() > until
                    or not ping(self._connection.getpeername(), LOOK_SECONDS)
                ):
                    raise
                continue
            if not data:
                raise _gone()
            self._received += data
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        try:
            reply = json.loads(line)
        except ValueError:
            reply = None
        if (
            not isinstance(reply, dict)
            or not {"progress", "error", "text", "result"} & reply.keys()
        ):
            raise VaultIndexError("the daemon's answer cannot be read", _RESTART)
        return reply


def connect(
    socket_path: str | os.PathLike[str],
    *,
    greeting: float | None = None,
    silence: float = SILENCE_SECONDS,
) -> Client | None:
    """Connect to the daemon at this socket; None if none listens (no socket, or a stale one).

    Raises UsageError for an invalid VAULT_INDEX_GREETING_SECONDS if `greeting` is None. Raises
    Untrusted if the daemon may belong to another user, and Unreachable if its queue is full.
    """
    greeting = _greeting_seconds() if greeting is None else greeting
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(greeting)
    try:
        connection.connect(os.fspath(socket_path))
    except OSError as fault:
        connection.close()
        if isinstance(fault, TimeoutError | BlockingIOError):  # the queue is full
            raise Unreachable("the daemon does not answer", _RESTART) from fault
        return None
    if not (is_own_process(connection) and is_own_socket(socket_path)):
        connection.close()
        raise Untrusted(
            f"another user could answer at {socket_path}",
            "check the owner and the permissions of that folder",
        )
    return Client(connection, greeting, silence)


def _greeting_seconds() -> float:
    """Return the seconds that a command waits for the daemon before working without it."""
    given = os.environ.get("VAULT_INDEX_GREETING_SECONDS") or "1.5"
    if not given.replace(".", "", 1).isdecimal():
        raise UsageError(
            f"the environment variable VAULT_INDEX_GREETING_SECONDS is {given!r}, "
            "not a number of seconds",
            "unset it, or set it as in VAULT_INDEX_GREETING_SECONDS=5",
        )
    return min(float(given), 3600.0)


def ping(
    socket_path: str | os.PathLike[str], greeting: float | None = None
) -> dict[str, Any] | None:
    """Return the daemon's description of itself; None if none answers. Raises OtherProtocol."""
    try:
        if (client := connect(socket_path, greeting=greeting)) is None:
            return None
        with client:
            client.greet()
    except Unreachable:
        return None
    return client.daemon


def _gone() -> BusyError:
    return BusyError(
        "the daemon stopped before it answered", "run the command again; it works without a daemon"
    )
