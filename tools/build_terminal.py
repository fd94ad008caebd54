"""Draw docs/page/terminal.svg, the picture of the README: `python tools/build_terminal.py`.

It runs the commands in a pseudo-terminal on a copy of fixtures/vault and draws what they print.
"""

import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from fcntl import ioctl
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = (sys.executable, "-m", "vault_index")
WIDTH = 92
COMMANDS = (
    ("search", "when is the dough ready for shaping", "--limit", "2"),
    ("add", "The cellar floods in March: keep the boxes on the shelf.", "--type", "warning"),
    ("search", "why are the boxes on a shelf", "--limit", "1"),
)
FONTS = re.compile(r"@font-face \{.*?\}\n", re.DOTALL)
"""Rich's fonts come from another server; the picture uses the reader's own."""


def printed(command: tuple[str, ...], environ: dict[str, str], folder: Path) -> str:
    """Return what a command prints on a terminal, with its colours."""
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
    words = [*PROGRAM, *command]
    subprocess.run(
        words, stdin=slave, stdout=slave, stderr=slave, env=environ, cwd=folder, check=True
    )
    os.close(slave)
    output = b""
    try:
        while part := os.read(master, 65536):
            output += part
    except OSError:  # the end, on Linux
        pass
    os.close(master)
    return output.decode().replace("\r\n", "\n")


def main() -> None:
    """Run the commands and write the picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory(prefix="vx-") as name:
        folder = Path(name)
        shutil.copytree(ROOT / "fixtures/vault", folder / "Vault")
        environ = {**os.environ, "VAULT_INDEX_HOME": str(folder / "home"), "TERM": "xterm-256color"}
        environ |= {"COLORTERM": "truecolor", "PYTHONPATH": str(ROOT)}
        environ.pop("NO_COLOR", None)
        printed(("init", "Vault", "--no-sessions", "--quiet"), environ, folder)
        daemon = subprocess.Popen([*PROGRAM, "watch"], env=environ, stderr=subprocess.DEVNULL)
        while '"running": true' not in printed(("status", "--json"), environ, folder):
            if daemon.poll() is not None:
                raise SystemExit("the daemon ended")
        printed(COMMANDS[0], environ, folder)  # loads the model
        for command in COMMANDS:
            words = [f'"{word}"' if " " in word else word for word in ("vx", *command)]
            console.print(f"[bold green]$[/] {' '.join(words)}", highlight=False)
            console.print(Text.from_ansi(printed(command, environ, folder).strip("\n") + "\n"))
        daemon.terminate()
        daemon.wait()
    picture = console.export_svg(title="vault-index", unique_id="vx")
    (ROOT / "docs/page/terminal.svg").write_text(FONTS.sub("", picture), "utf-8")


if __name__ == "__main__":
    main()
