"""Answer Claude Code's hook before a tool call: ask the daemon for a reminder, within 0.3 seconds.

Claude Code waits for each call, so this file runs alone (`python -I -S before_tool.py SOCKET`): it
imports nothing of this package and no JSON parser. Any failure is silent, and the call goes on.
"""

import _socket
import os
import sys

_SECONDS = 0.15
"""How long to wait for the daemon to accept, and for its answer."""
_MOST_BYTES = 1 << 20
_PEERCRED = (1, 17) if sys.platform == "linux" else (0, 1)
"""`SO_PEERCRED`, or `LOCAL_PEERCRED` of macOS: both have the user ID as the second number."""


def main() -> None:
    """Print the reminder of the daemon as the output of the hook; nothing without one."""
    event = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(event) > _MOST_BYTES:
        return
    daemon = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    daemon.settimeout(_SECONDS)
    daemon.connect(sys.argv[1])
    credentials = daemon.getsockopt(*_PEERCRED, 76)
    if int.from_bytes(credentials[4:8], sys.byteorder) != os.geteuid():
        return
    # A line end in JSON is only white space.
    request = event.replace(b"\n", b" ").replace(b"\r", b" ")
    request = b'{"v":1,"id":1,"method":"remind","params":{"event":%b}}\n' % request
    while request:
        request = request[daemon.send(request) :]
    answer = b""
    while not answer.endswith(b"\n"):
        data = daemon.recv(65536)
        if not data:
            return
        answer += data
    text = answer.partition(b'"text":')[2].rstrip().removesuffix(b"}}")
    if text.startswith(b'"') and text != b'""':
        output = b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":%b}}'
        os.write(1, output % text)


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(0)
