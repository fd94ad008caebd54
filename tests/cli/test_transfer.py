"""`export` and `import` as commands."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import vx
from vault_index.cli import main

KEY = "AKIA" + "Z7Q2M4X6P9R3T5VW"


@pytest.fixture(autouse=True)
def ready(home: Path, vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(vault), "--provider", "none", "--no-opencode", "--quiet"]) == 0
    assert main(["add", "Herons nest in the reeds.", "--tags", "birds"]) == 0
    capsys.readouterr()


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert main([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_a_name_that_ends_with_a_slash_is_a_folder_any_other_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(capsys, "export", str(tmp_path / "out.json"))["memories"] == 1
    assert answer(capsys, "export", f"{tmp_path}/out/")["path"] == str(tmp_path / "out")
    assert main(["export", str(tmp_path / "more"), "--markdown"]) == 0
    (record,) = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert record["content"] == "Herons nest in the reeds.\n"
    for folder in ("out", "more"):
        assert [file.name for file in (tmp_path / folder / "note").iterdir()] == [Path(record["path"]).name]


def test_a_dash_is_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    done = vx("export", "-")
    (record,) = json.loads(done.stdout)
    assert record["tags"] == ["birds"]
    assert done.stderr == ""


def test_nothing_is_overwritten_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out.json").write_text("mine")
    assert main(["export", str(tmp_path / "out.json")]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "out.json"), "--force"]) == 0


def test_an_import_names_what_it_left_out_and_fails_for_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [{"id": 12, "content": "Terns nest on gravel."}, {"content": f"key {KEY}"}, {"content": ""}]
    (tmp_path / "in.json").write_text(json.dumps(records), encoding="utf-8")
    done = answer(capsys, "import", str(tmp_path / "in.json"), code=1)
    assert [result["outcome"] for result in done["results"]] == ["created"]
    assert [failed["position"] for failed in done["failed"]] == ["record 2", "record 3"]
    assert "Terns" in answer(capsys, "get", "#12")["results"][0]["content"]
    assert answer(capsys, "search", "terns")["results"][0]["id"] == done["results"][0]["id"]


@pytest.mark.parametrize("format", ["toon", "human", "markdown"])
def test_a_long_import_is_told_in_short(tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str) -> None:
    records = [{"content": f"Bird number {number} was counted."} for number in range(40)]
    records += [{"content": "Herons nest in the reeds."}, {"content": ""}]
    (tmp_path / "in.json").write_text(json.dumps(records), encoding="utf-8")
    assert main(["import", str(tmp_path / "in.json"), "--format", format, "--dry-run"]) == 1
    shown = capsys.readouterr().out
    assert len(shown.split("\n")) < 15
    assert "40" in shown
    assert "record 42" in shown
    assert "duplicate" in shown
    assert "number 3" not in shown


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(tmp_path / "nowhere.json")]) == 3
    assert "nowhere.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (["e.md", "--markdown"], "file"),
        (["e.md"], "file"),
        (["e.txt", "--markdown"], "file"),
        (["e", "--markdown"], "folder"),
        (["e/"], "folder"),
        (["e.md/", "--markdown"], "folder"),
        (["e.md", "--json"], "json"),
        (["e"], "json"),
    ],
)
def test_the_name_says_what_an_export_makes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], made: str
) -> None:
    answer(capsys, "add", "Terns nest on gravel.", "--path", "terns")
    name, *options = words
    assert main(["export", str(tmp_path / name.rstrip("/")) + "/" * name.endswith("/"), *options]) == 0
    capsys.readouterr()
    place = tmp_path / name
    if made == "folder":
        assert sorted(file.name for file in place.iterdir()) == ["note", "terns.md"]
    else:
        text = place.read_text(encoding="utf-8")
        assert text.startswith("[" if made == "json" else "<!-- vault-index: ")
        assert main(["export", str(place), *options]) == 2
        assert place.read_text(encoding="utf-8") == text


def test_an_export_to_stdout_is_what_a_file_would_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, "add", "Terns nest on gravel.", "--path", "terns")
    assert main(["export", "-", "--markdown"]) == 0
    shown = capsys.readouterr().out
    assert main(["export", str(tmp_path / "e.md")]) == 0
    assert shown == (tmp_path / "e.md").read_text(encoding="utf-8")
