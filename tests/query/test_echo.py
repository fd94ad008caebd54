"""What was asked before is no answer: the turn that answers it is, and where none does, it stands behind all else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.query.month import QUESTIONS, is_echo, month, says_nothing, variants
from tests.query.sessions import sessions
from tests.sources.opencode.stores import tool
from vault_index import VaultIndex

Q = "Which port does the staging proxy use?"
ALONE = {"notes": {"proxy.md": "# Proxy\n\nThe staging proxy was moved to another rack.\n"}}


@pytest.fixture(scope="module", params=["local", "none"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with month(tmp_path_factory.mktemp("month"), provider=request.param) as opened:
        yield opened


def asked(with_answer: bool) -> list[Any]:
    return [
        pytest.param(question, text, id=f"{QUESTIONS.index(question)}, {kind}")
        for question in QUESTIONS
        if bool(question.answer) is with_answer
        for kind, text in variants(question).items()
    ]


@pytest.mark.parametrize(("question", "text"), asked(with_answer=True))
def test_the_answer_is_first_and_no_echo_is_above_what_says_something(
    index: VaultIndex, question: Any, text: str
) -> None:
    hits = index.search(text, limit=50).results
    assert question.answer in hits[0].snippet
    echoes = [says_nothing(question, hit.snippet) for hit in hits]
    assert echoes == sorted(echoes)
    recalled = index.recall(text, project="/home/user/api").text
    assert question.answer in recalled
    assert not [line for line in recalled.split("\n") if is_echo(question, line)]


@pytest.mark.parametrize(("question", "text"), asked(with_answer=False))
def test_what_nobody_answered_is_not_quoted_as_an_answer(index: VaultIndex, question: Any, text: str) -> None:
    echoes = [says_nothing(question, hit.snippet) for hit in index.search(text, limit=50).results]
    assert echoes == sorted(echoes)
    recalled = index.recall(text, project="/home/user/api").text
    assert not [line for line in recalled.split("\n") if is_echo(question, line)]


def first(folder: Path, turns: Any, query: str = Q, **options: Any) -> list[str]:
    with sessions(folder, {"ses_a": turns}, **(ALONE | options)) as index:
        return [hit.snippet for hit in index.search(query).results]


@pytest.mark.parametrize(
    ("turns", "answer"),
    [
        ([Q, "5433."], "5433."),
        ([Q, "Yes."], "Yes."),
        ([f"I am mending the deployment. {Q} Thanks!", "5433."], "5433."),
        ([Q.upper(), "5433."], "5433."),
        (["please tell me: which port is the staging proxy using", "5433."], "5433."),
        # What stands behind the last call of a tool is the answer.
        ([Q, ["The staging proxy has a file.", tool("read", {"filePath": "proxy.yml"}), "It is 5433."]], "It is 5433."),
        ([Q, ["It is 5433.", tool("todowrite", {})]], "It is 5433."),
        ([Q, "You ask which port the staging proxy uses.\n\nIt is 5433."], "It is 5433."),
        # A long turn has several chunks.
        ([Q, f"{'Some words on racks and cables. ' * 200}\n\nSo the staging proxy has port 5433."], "has port 5433."),
    ],
)
def test_the_hit_is_the_turn_that_answers(tmp_path: Path, turns: Any, answer: str) -> None:
    hits = first(tmp_path, turns)
    assert answer in hits[0]
    assert not [hit for hit in hits if Q.casefold().rstrip("?") in hit.casefold()]


@pytest.mark.parametrize(
    "turns",
    [
        [Q],
        [Q, "I don't know."],
        [Q, "I found nothing in memory about the port of the staging proxy, sorry. Which project do you mean?"],
        [Q, ["Let me check the repository.", tool("grep", {"pattern": "staging proxy port"})]],
        [Q, "Do you mean the one in the cellar?"],
        [f'Yesterday I asked "{Q}", never mind. Rename the helper.', "Renamed it in four files."],
        [f"{Q}\n\nAnd rename the helper."],
    ],
)
@pytest.mark.parametrize("mirror", [False, True])
def test_an_echo_stands_behind_what_says_something(tmp_path: Path, turns: Any, mirror: bool) -> None:
    with sessions(tmp_path, {"ses_a": turns}, mirror=mirror, **ALONE) as index:
        hits = index.search(Q).results
        assert "another rack" in hits[0].snippet
        assert Q not in hits[0].snippet
        assert [Q in hit.snippet for hit in hits[1:]].count(True) == 1
        assert Q not in index.recall(Q, project="/home/user/api").text
        assert index.search("which vendor sold the staging proxy").results  # another question is none of these


def test_what_was_only_asked_is_no_answer_to_be_sure_of(tmp_path: Path) -> None:
    with sessions(tmp_path, {"ses_a": [Q], "ses_b": [Q, "No idea."]}) as index:
        answer = index.search(Q)
        assert answer.confidence == "none"
        assert [Q in hit.snippet for hit in answer.results][-1:] == [True]
        assert index.recall(Q).text == ""


@pytest.mark.parametrize(
    ("said", "query"),
    [
        # Who says something is quoted, however near it is to what is asked.
        ("The staging proxy uses port 5433.", "staging proxy uses port 5433"),
        ("The staging proxy uses port 5433.", "Does the staging proxy use port 5433?"),
        ("Does the staging proxy use port 5433, as in spring?", Q),
        ("Which proxy uses the staging port, nginx or envoy or haproxy or squid?", Q),
        # A phrase is asked for where it stands.
        (f"{Q} I forgot.", '"staging proxy use"'),
        ("- staging proxy uses port 5433", Q),
    ],
)
def test_what_says_something_stays_where_it_is(tmp_path: Path, said: str, query: str) -> None:
    assert said.strip("- ").split()[0] in first(tmp_path, [said, "Noted."], query)[0]


def test_the_headings_of_notes_are_no_turns(tmp_path: Path) -> None:
    faq = f"# FAQ\n\n## {Q}\n\n{Q}\n\nSee the file of the rack.\n"
    with sessions(tmp_path, {"ses_a": [Q]}, notes={"faq.md": faq}) as index:
        hits = index.search(Q).results
        assert [hit.kind for hit in hits] == ["note", "session"]
        assert hits[0].headings == ("FAQ", Q)


def test_a_session_is_not_called_by_the_question_it_began_with(tmp_path: Path) -> None:
    from tests.query.sessions import make_home, say

    home, client = make_home(tmp_path, notes=ALONE["notes"])
    say(client, "ses_a", [Q, "I don't know.", "Then rename the helper.", "Renamed it in four files."], title=Q)
    client.close()
    with VaultIndex.open(home) as index:
        index.sync()
        answer = index.search(Q)
        assert "another rack" in answer.results[0].snippet
        assert answer.confidence != "high" or answer.results[0].kind == "note"
        assert Q not in index.recall(Q, project="/home/user/api").text
