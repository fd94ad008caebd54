"""`export` and `import` as commands."""

import json
from pathlib import Path

import pytest

from tests.cli.process import Out, answer
from vault_index.cli import main

KEY = "AKIA" + "Z7Q2M4X6P9R3T5VW"


@pytest.fixture(autouse=True)
def ready(home: Path, vault: Path, capsys: Out) -> None:
    assert main(["init", str(vault), "--provider", "none", "--no-opencode", "--quiet"]) == 0
    assert main(["add", "Herons nest in the reeds.", "--tags", "birds"]) == 0
    capsys.readouterr()


def test_import_names_skipped_records_and_exits_nonzero(tmp_path: Path, capsys: Out) -> None:
    records = [{"id": 12, "content": "Terns nest on gravel."}, {"content": f"key {KEY}"}, {"content": ""}]
    (tmp_path / "in.json").write_text(json.dumps(records), encoding="utf-8")
    done = answer(capsys, "import", str(tmp_path / "in.json"), code=1)
    assert [result["outcome"] for result in done["results"]] == ["created"]
    assert sorted(failed["position"] for failed in done["failed"]) == ["record 2", "record 3"]
    assert "Terns" in answer(capsys, "get", "#12")["results"][0]["content"]
    assert answer(capsys, "search", "terns")["results"][0]["id"] == done["results"][0]["id"]


def test_import_summarizes_a_long_result(tmp_path: Path, capsys: Out) -> None:
    records = [{"content": f"Bird number {number} was counted."} for number in range(40)]
    records += [{"content": "Herons nest in the reeds."}, {"content": ""}]
    (tmp_path / "in.json").write_text(json.dumps(records), encoding="utf-8")
    for form in ("toon", "human", "markdown"):
        assert main(["import", str(tmp_path / "in.json"), "--format", form, "--dry-run"]) == 1
        shown = capsys.readouterr().out
        assert len(shown.split("\n")) < 15
        assert all(word in shown for word in ("40", "record 42", "duplicate")), form
        assert "number 3" not in shown


EXPORTS = [(["h", "--markdown"], "folder"), (["i/"], "folder"), (["k.txt", "--json"], "json"), (["l"], "json")]


def test_export_picks_the_format_by_file_name(tmp_path: Path, capsys: Out) -> None:
    answer(capsys, "add", "Terns nest on gravel.", "--path", "terns")
    for (name, *options), made in EXPORTS:
        place = tmp_path / name
        assert main(["export", f"{tmp_path}/{name}", *options]) == 0, name
        if made == "folder":
            assert sorted(file.name for file in place.iterdir()) == ["note", "terns.md"], name
        else:
            assert place.read_text("utf-8").startswith("["), name
    assert main(["export", f"{tmp_path}/all.md"]) == 2
    assert main(["export", f"{tmp_path}/l"]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["export", f"{tmp_path}/l", "--force", "--quiet"]) == 0
    assert main(["import", f"{tmp_path}/nowhere.json"]) == 3
    capsys.readouterr()
    assert main(["export", "-"]) == 0
    assert capsys.readouterr().out == (tmp_path / "l").read_text("utf-8")
