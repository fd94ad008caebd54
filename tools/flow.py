"""Count the modules that one call enters: `python tools/flow.py`.

A reader who follows a call must open that many files. A module counts if one of its functions runs
during the call; code that runs at import does not count. Each call is made once before counting, so
that work of the first call does not count.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import vault_index
from vault_index import VaultIndex
from vault_index.config.home import find_home

PACKAGE = Path(vault_index.__file__).parent
MOST = {"search": 30, "save": 35, "add": 51}
"""Modules that a call may enter; `save` is the sync of one saved note."""


def modules_entered(call: Callable[[], object]) -> set[str]:
    """Return the modules of vault_index, dotted, with a function that runs during `call`."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name not in ("<module>", "__getattr__"):
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    inside = (Path(name) for name in files)
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for path in inside
        if PACKAGE in path.parents
    }


def entered() -> dict[str, list[str]]:
    """Return the modules of each call."""
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder, "vault")
        vault.mkdir()
        note = vault / "lake.md"
        note.write_text("# Lake\n\nA heron stands in the lake.\n\n## Boats\n\nBoats, too.\n")
        home = find_home(str(Path(folder, "home")), None)
        home.config_file.parent.mkdir(parents=True)
        home.config_file.write_text(f'[sources.vault]\npath = "{vault}"\n')
        with VaultIndex.open(home) as index:
            index.sync()
            index.search("heron in the lake")
            index.add(
                "The first memory is stored so that nothing has to be opened for the second.",
                title="First",
            )
            note.write_text(note.read_text() + "\nThe #boats belong to [[Anna]].\n")
            calls: dict[str, Callable[[], object]] = {
                "search": lambda: index.search("heron in the lake"),
                "save": lambda: index.sync(paths=[note]),
                "add": lambda: index.add("WAL lets readers go on.", title="WAL", tags=["sqlite"]),
            }
            return {name: sorted(modules_entered(call)) for name, call in calls.items()}


def main() -> int:
    """Print the modules of each call."""
    calls = entered()
    for name, modules in calls.items():
        print(f"{name}: {len(modules)} of at most {MOST[name]}")
        print("".join(f"  {module}\n" for module in modules), end="")
    return any(len(modules) > MOST[name] for name, modules in calls.items())


if __name__ == "__main__":
    sys.exit(main())
