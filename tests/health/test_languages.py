"""Who has notes that the English model does not know is told which model does."""

import json
from pathlib import Path

import pytest

from vault_index import VaultIndex
from vault_index.cli import main
from vault_index.config.edit import set_value

ENGLISH = "# Notes on Docker\n\nThe container restarts every night because the memory limit is too low.\n"
GERMAN = "# Gartenarbeit\n\nIm Frühling werden die Beete umgegraben und die Rosen geschnitten.\n"


def indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], german: int, notes: int = 10
) -> str:
    """What `init` says beside its answer about so many notes."""
    (tmp_path / "vault").mkdir()
    for number in range(notes):
        (tmp_path / f"vault/{number}.md").write_text(GERMAN if number < german else ENGLISH, "utf-8")
    monkeypatch.setenv("VAULT_INDEX_HOME", str(tmp_path / "home"))
    assert main(["init", str(tmp_path / "vault"), "--no-opencode"]) == 0
    return capsys.readouterr().err


def test_notes_in_other_languages_are_told_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = indexed(tmp_path, monkeypatch, capsys, german=4)
    assert "40 % of the text is not English" in said
    assert "vault-index config set embedding.model multilingual-e5-small" in said
    assert main(["status", "--json"]) == 0
    assert "40 %" in json.loads(capsys.readouterr().out)["embedder"]["advice"]
    assert main(["doctor", "--json"]) == 0  # it is no problem
    assert "40 %" in json.loads(capsys.readouterr().out)["advice"]


def test_english_notes_are_told_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "English" not in indexed(tmp_path, monkeypatch, capsys, german=0)
    assert main(["status", "--json"]) == 0
    assert "advice" not in json.loads(capsys.readouterr().out)["embedder"]


@pytest.mark.parametrize(("notes", "told"), [(2, False), (3, True)])
def test_one_or_two_passages_are_too_few_to_judge_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], notes: int, told: bool
) -> None:
    assert ("not English" in indexed(tmp_path, monkeypatch, capsys, german=notes, notes=notes)) == told


def test_who_has_chosen_it_is_told_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    indexed(tmp_path, monkeypatch, capsys, german=10)
    with VaultIndex.open() as index:
        assert index.status().embedder.advice
        set_value(index.home, "embedding.model", "multilingual-e5-small")
    with VaultIndex.open() as index:
        assert not index.status().embedder.advice
