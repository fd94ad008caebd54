"""Sessions that the real clients wrote (fixtures/sessions, NOTICE says how): Codex CLI 0.169 and 0.104, Gemini CLI
0.61."""

from pathlib import Path

import pytest

from tests.sources.sessions.test_codex import calls, said
from vault_index.sources.sessions.codex import Codex
from vault_index.sources.sessions.files import FileClient
from vault_index.sources.sessions.gemini import Gemini
from vault_index.sources.sessions.model import Message, Session

RECORDED = Path(__file__).parents[3] / "fixtures" / "sessions"
MEND = "Bitte den Login reparieren — check() lets everybody in 🙂"
SECOND = "user: Say how many boxes fit on a shelf."
MENDED = [
    f"user: {MEND}",
    "assistant: I look at app.py first.",
    "assistant: The comparison is inverted.",
    "assistant: Done: `check` compares with `==` now. Grüße 🙂\n\n*Remember*: the warehouse counts boxes, not books.",
]
OTHER = ["user: Say how many books fit in a box.", "assistant: Twenty-four books fit in a box."]


def read(client: FileClient) -> dict[str, tuple[Session, list[Message]]]:
    """By their titles."""
    listing = client.listing()
    assert (listing.faults, listing.problems) == ((), ())
    found = {}
    for listed in listing.sessions.values():
        problems: list[str] = []
        session, messages = client.read(listed, (), problems)
        found[session.title] = session, list(messages)
        assert problems == []
    return found


@pytest.mark.parametrize(("folder", "version"), [("codex", "0.169.0"), ("codex-0.104", "0.104.0")])
def test_what_codex_recorded_is_read_once(folder: str, version: str) -> None:
    session, messages = read(Codex(RECORDED / folder))[MEND]
    assert session.version == version
    assert said(messages)[:4] == MENDED
    assert [one.partition(":")[0] for one in said(messages)[4:]] == ["user", "assistant"]  # it was resumed
    assert [(one.tool, one.target, one.status) for one in calls(messages)] == [
        ("exec_command", "cat app.py", "completed"),
        ("apply_patch", "app.py", "completed"),
        ("exec_command", "python3 app.py && ls /no-such-shelf", "completed"),
    ]
    assert [calls(messages)[number].exit for number in (0, 2)] == [0, 2]
    # Every answer of the model took 100 tokens and gave 20.
    assert sum(one.tokens for one in messages) == 5 * 120


def test_a_fork_a_compaction_and_what_was_taken_back_in_codex() -> None:
    found = read(Codex(RECORDED / "codex"))
    fork, messages = found["And what if the warehouse were closed on Mondays?"]
    assert fork.forked_from == found[MEND][0].id
    assert said(messages)[0] == "user: And what if the warehouse were closed on Mondays?"
    assert "An old question about the cash desk." in found  # archived
    session, messages = found["Sag, was ein Buch kostet."]
    assert [one.speaker for one in messages[:3]] == ["user", "assistant", "summary"]
    assert said(messages)[3] == SECOND
    assert said(messages)[-2:] == OTHER
    assert not any("Tell me everything" in one for one in said(messages))
    assert session.created <= messages[0].created


def test_what_gemini_recorded_is_its_last_state() -> None:
    found = read(Gemini(RECORDED / "gemini"))
    session, messages = found[MEND]
    assert session.project == "shop"
    assert said(messages)[:4] == MENDED
    assert [(one.tool, Path(one.target).name, one.exit) for one in calls(messages)[:2]] == [
        ("read_file", "app.py", None),
        ("replace", "app.py", None),
    ]
    assert [(one.target, one.exit) for one in calls(messages)[2:]] == [("python3 app.py && ls /no-such-shelf", 2)]
    _, messages = found["Sag, was ein Buch kostet."]
    assert SECOND not in said(messages)  # rewound
    assert said(messages)[-2:] == OTHER


@pytest.mark.parametrize("folder", ["codex", "codex-0.104"])
def test_reading_goes_on_wherever_the_recording_had_come_to(folder: str, tmp_path: Path) -> None:
    for recorded in (RECORDED / folder).glob("sessions/**/rollout-*.jsonl"):
        if "_" in recorded.name:
            continue
        content = recorded.read_bytes()
        file = tmp_path / "sessions" / recorded.name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
        opened = Codex(tmp_path)
        (listed,) = opened.listing().sessions.values()
        whole = [(one.id, one.parts) for one in opened.read(listed, (), [])[1]]
        for cut in range(content.index(b"\n") + 1, len(content), 997):
            file.write_bytes(content[:cut])
            known = [one for one in opened.read(listed, (), [])[1] if one.finished]
            file.write_bytes(content)
            rest = opened.read(listed, (), [], known[-1].end if known else 0)[1]
            assert [(one.id, one.parts) for one in (*known, *rest)] == whole
        file.unlink()
