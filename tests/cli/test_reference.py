"""docs/commands.md matches the output of tools/build_reference.py."""

import runpy
from pathlib import Path

from vault_index.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]


def test_command_reference_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "build_reference.py"))["reference"]()
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == made, "run: python tools/build_reference.py"
    for command in COMMANDS:
        assert f"\n## {command.name}\n" in made
