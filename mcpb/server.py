"""What a desktop client starts: the server of the wheel in this bundle, set up first where nobody has done so."""

import os
import subprocess
import sys

from vault_index.config import find_home


def main(vault: str, read_only: str) -> None:
    program = [sys.executable, "-m", "vault_index"]
    if not find_home().config_file.exists():
        # stdout belongs to the protocol. Whatever is wrong, the calls of the tools say what to do.
        subprocess.run(
            [*program, "init", vault, "--no-sessions", "--no-sync", "--quiet"],
            stdout=sys.stderr,
            check=False,
        )
    os.execv(program[0], [*program, "mcp", *(["--read-only"] if read_only == "true" else [])])


if __name__ == "__main__":
    main(*sys.argv[1:])
