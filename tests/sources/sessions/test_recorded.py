"""Sessions written by real clients (fixtures/sessions; NOTICE says how): Claude Code 2.1.330, Codex CLI 0.169 and
0.104, Gemini CLI 0.61."""

from pathlib import Path

import pytest

from tests.sources.sessions.claude import told
from tests.sources.sessions.test_codex import calls, said
from vault_index.sources.sessions.claude_code import ClaudeCode
from vault_index.sources.sessions.client import Client
from vault_index.sources.sessions.codex import Codex
from vault_index.sources.sessions.gemini import Gemini
from vault_index.sources.sessions.model import LeftOut, Message, Session

RECORDED = Path(__file__).parents[3] / "fixtures" / "sessions"
CLAUDE = RECORDED / "claude-code"
MEND = "Bitte den Login reparieren — check() lets everybody in 🙂"
SECOND = "user: Say how many boxes fit on a shelf."
DONE = "assistant: Done: `check` compares with `==` now. Grüße 🙂\n\n*Remember*: the warehouse counts boxes, not books."
MENDED = [f"user: {MEND}", "assistant: I look at app.py first.", "assistant: The comparison is inverted.", DONE]
OTHER = ["user: Say how many books fit in a box.", "assistant: Twenty-four books fit in a box."]
MENDED_BY_CLAUDE = [
    *MENDED[:2],
    "assistant: Read `/home/user/demo/shop/app.py` completed",
    MENDED[2],
    "assistant: Edit `/home/user/demo/shop/app.py` completed",
    "assistant: Bash `python3 app.py && ls /no-such-shelf` exit 2",
    DONE,
    "user: Die Zugangsdaten für das Lager: AKIAIOSFODNN7EXAMPLE / wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY."
    " <private>The supplier is Quagga Ltd.</private> 在庫は棚にあります。",
    "assistant: Understood; the key goes into the environment, and not into the code.",
]
REWOUND = ["user: Sag, was ein Buch kostet.", "assistant: Ein Buch kostet 12,50 €.", *OTHER]
FORKED = [
    "user: And what if the warehouse were closed on Mondays?",
    "assistant: Then Tuesday's orders are packed twice as fast.",
]


def read(client: Client) -> list[tuple[Session, list[Message]]]:
    listing = client.listing()
    assert (listing.faults, listing.problems) == ((), ())
    found = []
    for listed in listing.sessions.values():
        conversation = client.read(listed, ())
        found.append((conversation.session, conversation.messages))
        assert all(isinstance(problem, LeftOut) for problem in conversation.problems)
    return found


def by_title(client: Client) -> dict[str, tuple[Session, list[Message]]]:
    return {session.title: (session, messages) for session, messages in read(client)}


def claude_session(text: str) -> tuple[Session, list[Message]]:
    """Return the session of Claude Code with this text: ids change whenever the fixtures are made."""
    (found,) = (one for one in read(ClaudeCode(CLAUDE)) if text in " ".join(told(one[1])))
    return found


def test_claude_code_lists_every_recorded_session() -> None:
    sessions = ClaudeCode(CLAUDE).listing().sessions
    assert sorted(sessions) == sorted(path.stem for path in CLAUDE.rglob("projects/**/*.jsonl"))
    assert {(one.session.project, one.session.version) for one in sessions.values()} == {("shop", "2.1.330")}
    assert len(sessions) == 5


def test_claude_code_reads_a_recorded_summary_and_fork() -> None:
    original, messages = claude_session("after the summary")
    texts, whole = told(messages), len(MENDED_BY_CLAUDE)
    assert texts[:whole] == MENDED_BY_CLAUDE
    assert texts[whole].startswith("summary: 1. check() was inverted and is mended in app.py.\n2. The warehouse")
    assert texts[whole + 1 :] == [
        "user: Where were we after the summary?",
        "assistant: We had mended check() and counted the boxes.",
    ]
    assert sum(message.tokens for message in messages) == 6 * 120  # the fixtures' model reports this for each answer
    fork, copies = claude_session("closed on Mondays")
    assert fork.forked_from == original.id
    assert told(copies) == [*MENDED_BY_CLAUDE, *FORKED]
    assert copies[:-2] == messages[: len(copies) - 2]


def test_claude_code_reads_a_recorded_rewind_and_subagent() -> None:
    session, messages = claude_session("books fit in a box")
    assert (session.title, told(messages)) == ("Books and boxes", REWOUND)
    session, messages = claude_session("I ask a helper")
    helper, answers = claude_session("One use of check()")
    assert f"→ {helper.id}" in told(messages)[2]
    assert told(answers) == [
        "user: Find every use of check() in the shop.",
        "assistant: Bash `grep -n check app.py` exit 0",
        "assistant: One use of check(), in app.py.",
    ]
    assert ({message.agent for message in answers}, helper.parent) == ({"", "general-purpose"}, session.id)


@pytest.mark.parametrize(("folder", "version"), [("codex", "0.169.0"), ("codex-0.104", "0.104.0")])
def test_codex_reads_recordings_of_each_version(folder: str, version: str) -> None:
    session, messages = by_title(Codex(RECORDED / folder))[MEND]
    assert session.version == version
    assert said(messages)[:4] == MENDED
    assert [one.partition(":")[0] for one in said(messages)[4:]] == ["user", "assistant"]  # it was resumed
    assert [(one.tool, one.target, one.status) for one in calls(messages)] == [
        ("exec_command", "cat app.py", "completed"),
        ("apply_patch", "app.py", "completed"),
        ("exec_command", "python3 app.py && ls /no-such-shelf", "completed"),
    ]
    assert [calls(messages)[number].exit for number in (0, 2)] == [0, 2]
    assert sum(one.tokens for one in messages) == 5 * 120


def test_codex_reads_a_recorded_fork_compaction_and_rollback() -> None:
    found = by_title(Codex(RECORDED / "codex"))
    fork, messages = found[FORKED[0].removeprefix("user: ")]
    assert fork.forked_from == found[MEND][0].id
    assert said(messages)[0] == FORKED[0]
    assert "An old question about the cash desk." in found  # archived
    session, messages = found["Sag, was ein Buch kostet."]
    assert [one.speaker for one in messages[:3]] == ["user", "assistant", "summary"]
    assert said(messages)[3] == SECOND
    assert said(messages)[-2:] == OTHER
    assert not any("Tell me everything" in one for one in said(messages))
    assert session.created <= messages[0].created


def test_gemini_reads_the_last_recorded_state() -> None:
    found = by_title(Gemini(RECORDED / "gemini"))
    session, messages = found[MEND]
    assert session.project == "shop"
    assert said(messages)[:4] == MENDED
    assert [(one.tool, Path(one.target).name, one.exit) for one in calls(messages)] == [
        ("read_file", "app.py", None),
        ("replace", "app.py", None),
        ("run_shell_command", "no-such-shelf", 2),
    ]
    _, messages = found["Sag, was ein Buch kostet."]
    assert SECOND not in said(messages)  # rewound
    assert said(messages)[-2:] == OTHER
