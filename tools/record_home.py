"""Record the home of this version, to test upgrades from it: `python tools/record_home.py`.

It writes `fixtures/homes/VERSION.zip` with the folders `vault` and `home`. The test
(tests/store/test_upgrade.py) opens every recorded home with the current version.
"""

import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_NOTES = {
    "cellar.md": "# Cellar\n\nThe pump in the cellar starts at 40 cm of water.\n",
    "garden.md": "# Garden\n\nPrune the currants after the harvest. See [[cellar]].\n",
}
_MEMORIES = ("Prices are stored as whole cents.", "The pump was serviced in May.")
_SESSIONS = {
    "11111111-1111-4111-8111-111111111111": "The build was slow because of the linker.",
    "22222222-2222-4222-8222-222222222222": "Forget that we spoke about the wallpaper.",
}


def record(folder: Path, target: Path) -> None:
    """Make a vault and a home in `folder` by commands, and pack both into `target`.zip."""
    vault, home, user = folder / "vault", folder / "home", folder / "user"
    vault.mkdir()
    for name, text in _NOTES.items():
        (vault / name).write_text(text, "utf-8")
    environ = {**os.environ, "HOME": str(user), "VAULT_INDEX_HOME": str(home)}
    environ["PYTHONPATH"] = str(ROOT)

    def vx(*words: str) -> str:
        command = [sys.executable, "-m", "vault_index", *words]
        return subprocess.run(
            command, cwd=folder, env=environ, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    for session, text in _SESSIONS.items():
        _write_session(user / f".claude/projects/-shop/{session}.jsonl", session, text)
    vx("init", str(vault), "--quiet")
    kept, removed = (json.loads(vx("add", text, "--json"))["id"] for text in _MEMORIES)
    vx("update", kept, "--content", "Prices are stored as whole cents, without a currency.")
    vx("delete", removed)
    vx("get", "cellar.md")
    vx("forget", list(_SESSIONS)[1], "--yes")
    shutil.rmtree(user / ".claude")  # the client's sweep: the kept copy stays
    vx("sync")
    shutil.rmtree(user)
    shutil.make_archive(str(target), "zip", folder)


def _write_session(path: Path, session: str, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    stamp = "2026-11-20T10:00:0{}.000Z"
    rows = [
        {"type": "user", "message": {"role": "user", "content": "Why?"}},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
        },
    ]
    lines = [
        json.dumps(
            {
                **row,
                "uuid": f"{session[:-1]}{number}",
                "sessionId": session,
                "cwd": "/shop",
                "timestamp": stamp.format(number),
                "version": "2.0.0",
            }
        )
        for number, row in enumerate(rows)
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    version = runpy.run_path(str(ROOT / "vault_index/version.py"))["__version__"]
    with tempfile.TemporaryDirectory() as made:
        record(Path(made), ROOT / "fixtures/homes" / version)
