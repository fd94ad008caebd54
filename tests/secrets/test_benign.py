"""Texts that resemble credentials: none is redacted, refused, or warned of."""

from pathlib import Path

from benchmarks.credentials import Counted, judge, logs, texts
from tests.secrets.test_find import DASHES, block
from vault_index.secrets.find import redact

ROOT = Path(__file__).parents[2]
LINES = Path(__file__).with_name("benign.txt").read_text("utf-8").replace("{ESC}", "\x1b").splitlines()
BLOCKS = (
    block("CERTIFICATE"),
    block("PUBLIC KEY"),
    f"{DASHES}BEGIN PRIVATE" + f" KEY{DASHES}\n...\n{DASHES}END PRIVATE" + f" KEY{DASHES}",
)


def test_redact_leaves_benign_lines() -> None:
    wrong = [line for line in LINES if judge(f"Before it.\n{line}\nAfter it.\n", "line") != (3, [], [])]
    assert wrong == []
    assert [text for text in BLOCKS if redact(text) != (text, 0)] == []


def test_redact_leaves_logs_and_notes() -> None:
    counted = judge(logs(5_000), "logs")
    for name, text in texts(ROOT / "fixtures" / "vault"):
        counted += judge(text, Path(name).name)
    assert (counted.redacted, counted.warned) == ([], [])


def test_redact_changes_very_few_lines_of_code_and_docs() -> None:
    """At most a line in 10,000 and two more are redacted; for 1 in 1,000 there is a warning."""
    counted = Counted(0, [], [])
    for folder in ("vault_index", "docs"):
        for name, text in texts(ROOT / folder):
            counted += judge(text, str(Path(name).relative_to(ROOT)))
    assert len(counted.redacted) <= 2 + counted.lines // 10_000, counted.redacted
    assert len(counted.warned) <= 2 + counted.lines // 1_000, counted.warned
