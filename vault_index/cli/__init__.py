"""The command line: arguments, one call, rendering, exit code."""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn


def process() -> NoReturn:
    """Run the command of this process, and end it."""
    gc.disable()  # it would look through what is imported again and again; what runs for long enables it
    # Each further thread of numpy's takes time to begin and memory to keep, and its products are small here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_closed_streams()
    code = main()
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(
        code
    )  # what was open is closed; to take every module and the model apart takes longer than many an answer


def _open_closed_streams() -> None:
    """Open a standard stream that is closed (`>&-`) as /dev/null, before a file of ours gets its number."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 - it stays open


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without `argv` that of the process."""
    from vault_index.cli.run import run

    return run(argv)
