"""The month of sessions is read as OpenCode's own are, and its judge can tell an echo from an answer."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks.echoes import Bench, Count
from benchmarks.month import QUESTIONS, SESSIONS, Month, Session
from vault_index import VaultIndex
from vault_index.results.search import Hit

END = 1_795_000_000_000
DEPLOY = QUESTIONS[0]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("month"), Month(1, END), provider="none")


@pytest.fixture(scope="module")
def index(bench: Bench) -> Iterator[VaultIndex]:
    with VaultIndex.open(bench.home) as opened:
        report = opened.sync()
        assert not report.failed
        yield opened


def session_with(bench: Bench, line: str, label: str) -> Session:
    return next(one for one in bench.month.sessions if bench.month.label(one.id, line) == label)


def hit_on(index: VaultIndex, session: Session, line: str) -> Hit:
    """A hit that shows this line of a session, made from another."""
    (some,) = index.search("tests", kind="session", limit=1).results
    (text,) = index.get(session.id).results
    numbers = [at for at, one in enumerate(text.content.splitlines(), 1) if line in one]
    path = f"{session.project}/{session.id}.md"
    at = numbers[0] + text.lines[0] - 1
    return replace(some, path=path, snippet=line, digest="", focus=(at, at), lines=(at, at))


def test_every_session_is_read_whole(bench: Bench, index: VaultIndex) -> None:
    listed = index.list(kind="session", limit=2 * SESSIONS)
    assert listed.total == len(bench.month.sessions) >= SESSIONS
    texts = {one.id: index.get(one.id).results[0].content for one in bench.month.sessions}
    for session in bench.month.sessions:
        for message, parts in session.messages:
            said = [part["text"] for part in parts if part["type"] == "text" and not part.get("synthetic")]
            if message["data"]["role"] == "user" and said and "recall token" not in said[0]:
                assert said[0].splitlines()[0] in texts[session.id]
    assert all(any(answer in text for text in texts.values()) for answer in DEPLOY.answers[:1])


def test_an_echo_is_counted_and_an_answer_is_not(bench: Bench, index: VaultIndex) -> None:
    asked = session_with(bench, DEPLOY.wordings[0], "asked")
    answered = session_with(bench, DEPLOY.answers[0], "said")
    echo, answer = hit_on(index, asked, DEPLOY.wordings[0]), hit_on(index, answered, DEPLOY.answers[0])
    count = Count()
    bench.judge_hits(index, count, DEPLOY, [answer, echo], "ses_other")
    assert (count.right, dict(count.echoes), count.own) == (1, {"asked": 1}, 0)

    count = Count()
    bench.judge_hits(index, count, DEPLOY, [echo, answer], asked.id)
    assert (count.right, dict(count.echoes)) == (0, {"asked": 1})
    assert count.own == 1 + (asked.id == answered.id)

    other = QUESTIONS[1]  # of which it is noise, but no echo
    count = Count()
    bench.judge_hits(index, count, other, [echo], "ses_other")
    assert not count.echoes
