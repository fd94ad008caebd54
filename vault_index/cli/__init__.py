"""The command line: arguments, one call, rendering, exit code."""

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without `argv` that of the process."""
    from vault_index.cli.run import run

    return run(argv)
