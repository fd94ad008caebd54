"""Leaks that random scenes do not reach: the commits of a repository."""

import subprocess
from pathlib import Path

from tests.api.vaults import indexed, write
from vault_index import VaultIndex
from vault_index.api import to_json
from vault_index.callers import Scope

ID = "5f0c0000-0000-4000-8000-000000000001"
INSIDE = Scope(folders=("80-memory/pub",))


def test_history_reveals_no_commits_outside_the_scope(tmp_path: Path) -> None:
    vault, body = tmp_path / "vault", "".join(f"Line {n} of the ferry.\n" for n in range(30))

    def commit(subject: str) -> None:
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", subject]):
            who = ["-c", "user.name=anna", "-c", "user.email=anna@example.org"]
            subprocess.run(["git", "-C", str(vault), *who, *words], check=True, capture_output=True)

    write(vault, {"diary/secret.md": f"---\nid: {ID}\n---\nHidden.\n{body}", "a.md": "Of all."})
    commit("The diary and all")
    (vault / "diary/secret.md").unlink()
    write(vault, {"80-memory/pub/m.md": f"---\nid: {ID}\n---\n{body}"})
    commit("Out of the diary")
    with indexed(tmp_path, {}) as index:
        seen = VaultIndex(index._runtime.within(INSIDE))
        assert len(index.history("80-memory/pub/m.md").results) == 3
        assert [one.path for one in seen.list().results] == ["80-memory/pub/m.md"]
        told = str(to_json(seen.history("80-memory/pub/m.md")))
        assert "diary" not in told
        assert "anna" not in told
