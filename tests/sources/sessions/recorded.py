"""Copies of the recorded sessions in fixtures/sessions."""

import shutil
from pathlib import Path

import apsw

RECORDED = Path(__file__).parents[3] / "fixtures" / "sessions"


def copied(name: str, folder: Path) -> Path:
    """Copy the recorded data of a client, and make its databases."""
    shutil.copytree(RECORDED / name, folder)
    return made(folder)


def made(folder: Path) -> Path:
    """Make the databases whose statements are in `.sql` files."""
    for script in sorted(folder.rglob("*.sql")):
        database = apsw.Connection(str(script.with_suffix("" if "." in script.stem else ".db")))
        database.execute(script.read_text("utf-8")).fetchall()  # runs all statements
        database.close()
        script.unlink()
    return folder
