"""The command line: parse arguments, run one command, print its result, return an exit code."""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn


def process() -> NoReturn:
    """Run the command of this process, then exit with its code."""
    gc.disable()  # imports would trigger it repeatedly; long-running commands enable it again
    # Each numpy thread costs start-up time and memory, and the products are small here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_closed_streams()
    code = main()
    with suppress(OSError):
        sys.stderr.flush()
    # Files are closed already. Freeing every module and the model takes longer than many commands.
    os._exit(code)


def _open_closed_streams() -> None:
    """Open closed standard streams (`>&-`) as /dev/null, so that no file gets their number."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 - it stays open


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without `argv`, read the process's arguments."""
    from vault_index.cli.run import run

    return run(argv)
