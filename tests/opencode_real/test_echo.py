"""Sessions are indexed while they run: they are not quoted to themselves, nor are sessions with the same question."""

import json
from typing import Any

import pytest

from tests.opencode_real.client import Place, Server
from tests.opencode_real.scenes import QUESTION
from tests.opencode_real.test_session import BLOCK, answers
from tests.waiting import until


@pytest.fixture(scope="module")
def sessions(shared_place: Place, server: Server) -> Server:
    """The daemon has indexed the sessions."""
    shared_place.command("config", "set", "sessions.opencode.enabled", "true")
    server.turn(server.session(), f"{QUESTION}\n\n[[scene:port]]")
    server.turn(server.session(), f"{QUESTION}\n\n[[scene:plain]]")
    until(lambda: len(found(shared_place)) >= 2)
    return server


def found(place: Place) -> list[dict[str, Any]]:
    answer = json.loads(place.command("list", "--kind", "session", "--json"))
    return [one for one in answer["results"] if (one["turns"] or 0) > 1]


def test_opencode_session_receives_answers_and_nothing_of_itself(shared_place: Place, sessions: Server) -> None:
    session = sessions.session()
    sessions.turn(session, f"{QUESTION}\n\n[[scene:plain]]")
    until(lambda: session in [one["path"][-33:-3] for one in found(shared_place)])
    sessions.turn(session, f"{QUESTION} Look it up. [[scene:again]]")
    searched, run, recalled, around = answers(shared_place.model.of("again"))
    for answer in (searched, run, recalled):
        assert "It is 5433." in answer
        assert session not in answer
    for answer in (searched, run, around):
        assert QUESTION not in answer


def test_opencode_recall_and_summary_do_not_quote_the_question(shared_place: Place, sessions: Server) -> None:
    session = sessions.session()
    sessions.turn(session, f"{QUESTION}\n\n[[scene:plain]]")
    sessions.compact(session)
    for scene in ("plain", "compaction"):
        request = shared_place.model.of(scene)[-1]
        blocks = [match[0] for match in BLOCK.finditer(request.whole)] or [""]
        assert "It is 5433." in blocks[0]
        assert QUESTION not in blocks[0]
        assert session not in blocks[0]


def test_opencode_never_receives_a_deleted_memory_again(shared_place: Place, sessions: Server) -> None:
    shared_place.command("add", "The turnstile is oiled with whale fat.", "--path", "oil", "--project", "shop")
    session = sessions.session()
    question = "What is the turnstile oiled with? [[scene:plain]]"
    sessions.turn(session, question)
    assert "whale fat" in shared_place.model.of("plain")[-1].system
    resumed = shared_place.run(question)
    assert "whale fat" in shared_place.model.of("plain")[-1].system
    shared_place.command("delete", "oil")
    for turn in range(2):
        sessions.turn(session, f"And now, for the {turn}. time? [[scene:plain]]")
        assert "whale fat" not in shared_place.model.of("plain")[-1].system
    sessions.compact(session)
    assert "whale fat" not in shared_place.model.of("compaction")[-1].whole
    shared_place.run("And in another process? [[scene:plain]]", "--session", resumed)
    assert "whale fat" not in shared_place.model.of("plain")[-1].system
