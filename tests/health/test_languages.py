"""`init`, `status`, `doctor` and search advise the multilingual model for other languages than English."""

import json
from pathlib import Path

import pytest

from tests.api.vaults import indexed
from vault_index import VaultIndex
from vault_index.cli import main
from vault_index.config.edit import set_value

ENGLISH = "# Notes on Docker\n\nThe container restarts every night because the memory limit is too low.\n"
GERMAN = "# Gartenarbeit\n\nIm Frühling werden die Beete umgegraben und die Rosen geschnitten.\n"
Output = pytest.CaptureFixture[str]


def init(folder: Path, output: Output, german: int, notes: int = 10) -> str:
    """Return the remarks of `init` on a vault with this number of German notes."""
    (folder / "vault").mkdir()
    for number in range(notes):
        (folder / f"vault/{number}.md").write_text(GERMAN if number < german else ENGLISH, "utf-8")
    assert main(["init", str(folder / "vault"), "--no-opencode"]) == 0
    return output.readouterr().err


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_INDEX_HOME", str(tmp_path / "home"))


def test_status_advises_another_model_for_notes_in_another_language(tmp_path: Path, capsys: Output) -> None:
    said = init(tmp_path, capsys, german=4)
    assert "40 % of the text is not English" in said
    assert "vault-index config set embedding.model multilingual-e5-small" in said
    assert main(["status", "--json"]) == 0
    assert "40 %" in json.loads(capsys.readouterr().out)["embedder"]["advice"]
    assert main(["doctor", "--json"]) == 0  # it is advice, not a problem
    assert "40 %" in json.loads(capsys.readouterr().out)["advice"]
    with VaultIndex.open() as index:
        set_value(index.home, "embedding.model", "multilingual-e5-small")
    with VaultIndex.open() as index:
        assert not index.status().embedder.advice


@pytest.mark.parametrize(("german", "notes", "told"), [(0, 10, False), (2, 2, False), (3, 3, True)])
def test_init_gives_no_advice_for_english_or_few_notes(
    tmp_path: Path, capsys: Output, german: int, notes: int, told: bool
) -> None:
    assert ("not English" in init(tmp_path, capsys, german, notes)) == told


def test_search_advises_another_model_once_for_a_query_that_the_model_cannot_read(tmp_path: Path) -> None:
    with indexed(tmp_path, {"backup.md": ENGLISH}, provider="local") as index:
        asked = ["Docker container", "Какая память у контейнера?", "Где контейнер?"]
        hints = [[one for one in index.search(query).hints if "embedding.model" in one] for query in asked]
    assert [len(one) for one in hints] == [0, 1, 0]
