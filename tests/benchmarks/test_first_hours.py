"""What counts as a silent failure in somebody's first hour, and that the README's commands are found."""

import sys
from pathlib import Path

import pytest

from benchmarks.first_hours import Ended, Hour, Report, readme_lines, verdict

ERROR = "vault-index: error: there is no source 'x'\n"
HINT = "  hint: the sources are: vault\n"


@pytest.mark.parametrize(
    ("ended", "wants", "says", "expected"),
    [
        (Ended(0, 1, "notes/wal.md", ""), "wal.md", "", "works"),
        (Ended(0, 1, "", ""), "", "", "yielded nothing of it"),
        (Ended(0, 1, "results: []", ""), "wal.md", "", "yielded nothing of it"),
        (Ended(0, 1, "results: []", "the index is empty: vault-index sync"), "wal.md", "sync", "says"),
        (Ended(3, 1, "", ERROR + HINT), "", "", "says"),
        (Ended(3, 1, "", ERROR + HINT), "", "no source", "says"),
        (Ended(3, 1, "", ERROR + HINT), "wal.md", "", "failed, and said something else"),
        (Ended(3, 1, "", ERROR + HINT), "", "read-only", "failed, and said something else"),
        (Ended(3, 1, "", ERROR), "", "no source", "failed without a hint"),
        (Ended(1, 1, "", 'Traceback (most recent call last):\n  File "x"'), "", "", "crashed"),
        (Ended(-11, 1, "", ""), "", "", "crashed"),
        (Ended(0, 61, "notes/wal.md", ""), "wal.md", "", "took over 60 s"),
    ],
)
def test_a_step_works_or_says_what_to_do(ended: Ended, wants: str, says: str, expected: str) -> None:
    assert verdict("vx get wal.md", ended, wants, says, 60, quiet=False) == expected


def test_an_error_in_json_is_json_and_nothing_else() -> None:
    error = '{"error": {"code": "x", "message": "m", "hint": "do this"}}'
    assert verdict("vx get x --json", Ended(3, 1, "", error), "", "", 60, quiet=False) == "says"
    remark = Ended(3, 1, "", f"vault-index: a dry run\n{error}")
    assert verdict("vx get x --json", remark, "", "", 60, quiet=False) == "failed with what is no JSON"


def test_the_readme_is_followed() -> None:
    lines = readme_lines()
    assert lines[0] == "vault-index init ~/Vault"
    assert any(line.startswith("vx search") for line in lines)
    assert any(line.startswith("vault-index add") for line in lines)
    assert not any("#" in line or "pipx" in line for line in lines)


def test_a_command_that_says_nothing_is_a_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report()
    silent, loud = (Hour("x", tmp_path / name, [sys.executable, "-c", code], report) for name, code in (
        ("silent", "import sys; sys.exit(0)"), ("loud", "import os; print(os.environ['HOME'])"),
    ))  # fmt: skip
    silent.step("vault-index search wal", wants="wal.md")
    loud.step("vx search ~", wants=str(tmp_path / "loud"))
    assert (report.steps, len(report.faults)) == (2, 1)
    assert "yielded nothing" in report.faults[0]
    assert "vault-index search wal" in capsys.readouterr().out
