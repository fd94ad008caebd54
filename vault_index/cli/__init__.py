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
    code = main()
    with suppress(AttributeError, OSError):  # there may be none
        sys.stderr.flush()
    os._exit(code)  # what was open is closed; to take every module and the model apart takes longer than many an answer


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without `argv` that of the process."""
    from vault_index.cli.run import run

    return run(argv)
