"""The runner for LongMemEval, on a file of its published shape that was made up for this test."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.longmemeval import print_recall, read_questions, run

SESSIONS = {
    "a_1": "I bought a green kayak for the lake.",
    "a_2": "The kayak cost 400 euros, and the paddle 60.",
    "b_1": "My sister bakes rye bread on Sundays.",
    "b_2": "The choir sings a requiem in November.",
}


def record(id_: str, kind: str, question: str, sessions: Sequence[str], evidence: Sequence[str]) -> dict[str, Any]:
    return {
        "question_id": id_,
        "question_type": kind,
        "question": question,
        "answer": "as told",
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_session_ids": list(sessions),
        "haystack_dates": ["2023/05/20 (Sat) 02:21" for _ in sessions],
        "haystack_sessions": [
            [
                {"role": "user", "content": SESSIONS[session], "has_answer": session in evidence},
                {"role": "assistant", "content": "Noted."},
            ]
            for session in sessions
        ],
        "answer_session_ids": list(evidence),
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    records = [
        record("q1", "multi-session", "What did the kayak and the paddle cost?", list(SESSIONS), ["a_1", "a_2"]),
        record("q2", "single-session-user", "Who bakes rye bread?", ["b_2", "b_1"], ["b_1"]),
        record("q3_abs", "single-session-user", "What is the name of my parrot?", ["b_2"], ["b_2"]),
    ]
    file = tmp_path / "longmemeval_s.json"
    file.write_text(json.dumps(records), encoding="utf-8")
    return file


def test_every_question_is_asked_of_its_own_history_and_once(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = run(data, tmp_path / "home")
    assert [one.id for one in asked] == ["q1", "q2", "q3_abs"]
    assert set(asked[0].found[:2]) == {"a_1", "a_2"}
    assert asked[1].found[0] == "b_1"
    assert all(
        set(one.found) <= set(question.sessions) for one, question in zip(asked, read_questions(data), strict=True)
    )

    monkeypatch.setattr("benchmarks.longmemeval.ask", None)  # another question would fail
    assert run(data, tmp_path / "home") == asked
    print_recall(asked)
    printed = capsys.readouterr().out
    assert "single-session-user                  1     1.000     1.000     1.000     1.000" in printed
    assert "1 questions without an answer" in printed
