"""What the real client wrote (2.1.330), against expectations written by hand from what was said to it."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.sources.sessions.claude import read, told
from vault_index.sources.sessions.claude_code import ClaudeCode

HOME = Path(__file__).parents[3] / "fixtures/sessions/claude-code"
MENDED = [
    "user: Bitte den Login reparieren — check() lets everybody in 🙂",
    "assistant: I look at app.py first.",
    "assistant: Read `/home/user/demo/shop/app.py` completed",
    "assistant: The comparison is inverted.",
    "assistant: Edit `/home/user/demo/shop/app.py` completed",
    "assistant: Bash `python3 app.py && ls /no-such-shelf` exit 2",
    "assistant: Done: `check` compares with `==` now. Grüße 🙂\n\n*Remember*: the warehouse counts boxes, not books.",
    "user: Die Zugangsdaten für das Lager: AKIAIOSFODNN7EXAMPLE / wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY."
    " <private>The supplier is Quagga Ltd.</private> 在庫は棚にあります。",
    "assistant: Understood; the key goes into the environment, and not into the code.",
]
SUMMARISED = [
    "user: Where were we after the summary?",
    "assistant: We had mended check() and counted the boxes.",
]
FORKED = [
    "user: And what if the warehouse were closed on Mondays?",
    "assistant: Then Tuesday's orders are packed twice as fast.",
]
REWOUND = [
    "user: Sag, was ein Buch kostet.",
    "assistant: Ein Buch kostet 12,50 €.",
    "user: Say how many books fit in a box.",
    "assistant: Twenty-four books fit in a box.",
]


def ids() -> list[str]:
    return sorted(path.stem for path in HOME.rglob("projects/**/*.jsonl"))


def the_one_with(text: str) -> str:
    """Ids are new whenever the fixtures are made."""
    found = {id_: " ".join(told(read(HOME, id_)[0])) for id_ in ids()}
    (id_,) = (id_ for id_, words in found.items() if text in words)
    return id_


def test_every_session_is_listed_and_read_without_a_word_of_complaint() -> None:
    listing = ClaudeCode(HOME).listing()
    assert sorted(listing.sessions) == ids()
    assert (listing.faults, listing.problems) == ((), ())
    assert [read(HOME, id_)[1] for id_ in ids()] == [[]] * 5
    sessions = [one.session for one in listing.sessions.values()]
    assert {(one.project, one.version) for one in sessions} == {("shop", "2.1.330")}


def test_a_session_that_was_resumed_and_summed_up_is_whole() -> None:
    messages, _ = read(HOME, the_one_with("after the summary"))
    texts = told(messages)
    assert texts[: len(MENDED)] == MENDED
    assert texts[len(MENDED)].startswith("summary: 1. check() was inverted and is mended in app.py.\n2. The warehouse")
    assert texts[len(MENDED) + 1 :] == SUMMARISED
    assert sum(message.tokens for message in messages) == 6 * 120  # the model of the fixtures says so of each answer


def test_a_fork_holds_copies_and_what_came_after_them() -> None:
    original, fork = the_one_with("after the summary"), the_one_with("closed on Mondays")
    assert ClaudeCode(HOME).listing().sessions[fork].session.forked_from == original
    copies, originals = read(HOME, fork)[0], read(HOME, original)[0]
    assert told(copies) == [*MENDED, *FORKED]
    assert [replace(one, end=0) for one in copies[:-2]] == [replace(one, end=0) for one in originals[: len(copies) - 2]]


def test_what_was_taken_back_on_a_terminal_is_left_out() -> None:
    id_ = the_one_with("books fit in a box")
    assert told(read(HOME, id_)[0]) == REWOUND
    client = ClaudeCode(HOME)
    assert client.read(client.listing().sessions[id_], (), [])[0].title == "Books and boxes"


def test_a_helper_s_session_is_named_by_the_call_that_asked_for_it() -> None:
    session, helper = the_one_with("I ask a helper"), the_one_with("One use of check()")
    assert f"→ {helper}" in told(read(HOME, session)[0])[2]
    messages, _ = read(HOME, helper)
    assert told(messages) == [
        "user: Find every use of check() in the shop.",
        "assistant: Bash `grep -n check app.py` exit 0",
        "assistant: One use of check(), in app.py.",
    ]
    assert {message.agent for message in messages} == {"", "general-purpose"}
    assert ClaudeCode(HOME).listing().sessions[helper].session.parent == session


@pytest.mark.parametrize("number", range(5))
def test_each_can_be_gone_on_from_at_each_message(number: int) -> None:
    id_ = ids()[number]
    messages, _ = read(HOME, id_)
    assert all(message.end and message.finished for message in messages)
    for place, message in enumerate(messages, 1):
        assert read(HOME, id_, offset=message.end)[0] == messages[place:]


def test_prompts_of_a_session_that_is_gone_are_read_from_the_history(tmp_path: Path) -> None:
    (tmp_path / "history.jsonl").write_bytes((HOME / "history.jsonl").read_bytes())
    (tmp_path / "projects").mkdir()
    (id_,) = ClaudeCode(tmp_path).listing().sessions
    assert told(read(tmp_path, id_)[0]) == [
        REWOUND[0],
        "user: Say how many boxes fit on a shelf.",  # nobody knows that it was taken back
        REWOUND[2],
        "user: /rename Books and boxes",
    ]
