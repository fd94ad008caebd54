"""Writes systemd/ from vault_index/service/unit.toml: `python tools/build_units.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from vault_index.service.systemd import Sections, facts, facts_of_serve, unit

FOLDER = Path(__file__).parent.parent / "systemd"
_MADE = (
    "Made by tools/build_units.py from vault_index/service/unit.toml; "
    "docs/operations.md says how to use it."
)


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


def shared_unit(sections: Sections, command: str) -> str:
    """Return the unit for those who copy it by hand or put it into a package."""
    return unit(sections, {"ExecStart": f"%h/.local/bin/vault-index {command}"}, _MADE)


def system_unit(sections: Sections, command: str) -> str:
    """Return the template for the system's manager; the instance is the name of the user."""
    head = {**sections["Unit"], **sections.get("SystemUnit", {})}
    install = {**sections["Install"], "WantedBy": "multi-user.target"}
    program = {"ExecStart": f"/usr/local/bin/vault-index {command}"}
    service = {**program, **sections["Sandbox"], **sections["System"]}
    return unit({**sections, "Unit": head, "Install": install}, service, _MADE)


if __name__ == "__main__":
    for name, text in units().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
