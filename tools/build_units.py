"""Writes systemd/ from vault_index/service/unit.toml: `python tools/build_units.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from vault_index.service.systemd import facts, facts_of_serve, shared_unit, system_unit

FOLDER = Path(__file__).parent.parent / "systemd"


def units() -> dict[str, str]:
    """The text of each file, by its name."""
    made = {}
    for name, sections, command in (
        ("vault-index", facts(), "watch"),
        ("vault-index-serve", facts_of_serve(), "serve"),
    ):
        made[f"{name}.service"] = shared_unit(sections, command)
        made[f"{name}@.service"] = system_unit(sections, command)
    return made


if __name__ == "__main__":
    for name, text in units().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
