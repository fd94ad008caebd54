"""Asks the running daemon; thin, because every command starts with it (no index, nothing heavy)."""

from __future__ import annotations

import json
import os
import socket

from vault_index.daemon import protocol
from vault_index.errors import BusyError, VaultIndexError

TYPE_CHECKING = False  # spares the import of typing; type checkers know the name
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    OnProgress = Callable[[str, int, int], object]

CONNECT_SECONDS = 2.0
SILENCE_SECONDS = 30.0

_RESTART = "restart the daemon (its pid is in `vault-index status`), then run the command again"


class Client:
    """One connection to the daemon; not for several threads at once. Close it, or use it in a `with`."""

    def __init__(self, connection: socket.socket, silence: float) -> None:
        self._connection = connection
        self._replies = connection.makefile("rb", buffering=65536)
        self._silence = silence
        self._last_id = 0
        self.daemon: dict[str, Any] = {}
        """What the daemon said of itself: `version`, `protocol`, `pid`, `since`."""

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._replies.close()
        self._connection.close()

    def call(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        format: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> dict[str, Any] | str:
        """The answer: a dict as of `--json`, or with a `format` the text to print.

        Raises the VaultIndexError the daemon reported; BusyError when it stopped, or was silent for 30 seconds
        (writing methods report progress every five, so they may take as long as they need).
        """
        self._last_id += 1
        request = {
            "v": protocol.VERSION,
            "id": self._last_id,
            "method": method,
            "params": params or {},
            "format": format,
        }
        line = protocol.encode(request)
        if len(line) > protocol.MAX_REQUEST_BYTES:
            raise protocol.too_long()
        try:
            self._connection.settimeout(self._silence)
            self._connection.sendall(line)
            return self._answer(on_progress)
        except TimeoutError as fault:
            raise BusyError(f"the daemon did not answer for {self._silence:.0f} seconds", _RESTART) from fault
        except OSError as fault:
            raise _gone() from fault

    def _answer(self, on_progress: OnProgress | None) -> dict[str, Any] | str:
        while True:
            reply = self._read()
            if "progress" in reply:
                if on_progress is not None:
                    step = reply["progress"]
                    on_progress(step["stage"], step["done"], step["total"])
            elif "error" in reply:
                raise protocol.error_from(reply["error"])
            elif "text" in reply:
                return str(reply["text"])
            else:
                result = reply["result"]
                assert isinstance(result, dict)
                return result

    def _read(self) -> dict[str, Any]:
        line = self._replies.readline()
        if not line.endswith(b"\n"):
            raise _gone()
        try:
            reply = json.loads(line)
        except ValueError as fault:
            raise VaultIndexError("the daemon's answer cannot be read", _RESTART) from fault
        if not isinstance(reply, dict) or not {"progress", "error", "text", "result"} & reply.keys():
            raise VaultIndexError("the daemon's answer cannot be read", _RESTART)
        return reply


def connect(
    socket_path: str | os.PathLike[str], *, within: float = CONNECT_SECONDS, silence: float = SILENCE_SECONDS
) -> Client | None:
    """A connection to the daemon that listens there; None when none answers (no socket, a stale one, a hang).

    Raises UsageError when it speaks another version of the protocol.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(within)
    try:
        connection.connect(os.fspath(socket_path))
    except OSError:
        connection.close()
        return None
    client = Client(connection, within)
    try:
        answer = client.call("ping")
    except BusyError:
        client.close()
        return None
    except VaultIndexError:
        client.close()
        raise
    client.daemon = answer if isinstance(answer, dict) else {}
    client._silence = silence
    return client


def _gone() -> BusyError:
    return BusyError("the daemon stopped before it answered", "run the command again; it works without a daemon")
