"""Earlier questions are no answers: the turn that answers ranks first; a repeated question ranks last."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.query.sessions import sessions
from tests.sources.opencode.stores import tool
from vault_index import VaultIndex

MACHINES = (
    ("port", "staging", "proxy"), ("fuel", "kitchen", "boiler"), ("yeast", "rye", "dough"),
    ("font", "concert", "poster"), ("thread", "canvas", "sail"), ("colour", "kestrel", "hood"),
    ("grease", "tractor", "axle"), ("lens", "harbour", "lamp"), ("gauge", "valley", "railway"),
)  # fmt: skip
"""Each case asks about its own machine, so that one index holds all of them."""
Case = Callable[[str, str, str], Any]

ANSWERED: Sequence[tuple[Case, str]] = (
    (lambda q, one, what: [q, "5433."], "5433."),
    (lambda q, one, what: [q, "Yes."], "Yes."),
    (lambda q, one, what: [f"I am mending the deployment. {q} Thanks!", "5434."], "5434."),
    (lambda q, one, what: [q.upper(), "5435."], "5435."),
    (lambda q, one, what: [f"please tell me: which {what} is the {one} using", "5436."], "5436."),
    # The text after the last tool call is the answer.
    (lambda q, one, what: [q, [f"The {one} has a file.", tool("read", {}), "It is 5437."]], "It is 5437."),
    (lambda q, one, what: [q, ["It is 5438.", tool("todowrite", {})]], "It is 5438."),
    (lambda q, one, what: [q, f"You ask which {what} the {one} uses.\n\nIt is 5439."], "It is 5439."),
    # A long turn has several chunks.
    (lambda q, one, what: [q, f"{'Some words on cables. ' * 300}\n\nSo the {one} has {what} 5440."], "5440."),
)
UNANSWERED: Sequence[Case] = (
    lambda q, one, what: [q],
    lambda q, one, what: [q, "I don't know."],
    lambda q, one, what: [q, f"I found nothing in memory about the {what} of the {one}. Which project do you mean?"],
    lambda q, one, what: [q, ["Let me check the repository.", tool("grep", {"pattern": f"{one} {what}"})]],
    lambda q, one, what: [q, "Do you mean the one in the cellar?"],
    lambda q, one, what: [f'Yesterday I asked "{q}", never mind. Rename the helper.', "Renamed it in four files."],
    lambda q, one, what: [f"{q}\n\nAnd rename the helper."],
)
STATED: Sequence[tuple[str, str]] = (
    # A statement is quoted, however similar to the question.
    ("The {one} uses {what} 5433.", "{one} uses {what} 5433"),
    ("The {one} uses {what} 5434.", "Does the {one} use {what} 5434?"),
    ("Does the {one} use {what} 5435, as in spring?", "Which {what} does the {one} use?"),
    ("Which {one} uses the {what}, nginx or envoy or haproxy or squid?", "Which {what} does the {one} use?"),
    # A phrase searches for its literal text.
    ("Which {what} does the {one} use? I forgot.", '"{one} use"'),
    ("{one} uses {what} 5436", "Which {what} does the {one} use?"),
    ("Our {one} is named {what}.", "What is our {one} named?"),
)


def words(number: int) -> tuple[str, str, str]:
    """The question about a machine, the machine, and its topic."""
    what, *machine = MACHINES[number]
    return f"Which {what} does the {' '.join(machine)} use?", " ".join(machine), what


def notes(*, whole: bool) -> dict[str, str]:
    """Notes about each machine, by its `whole` name or the last word of it."""
    named = [(what[-1], " ".join(what[1 if whole else 2 :])) for what in MACHINES]
    return {f"{file}.md": f"The {name} was moved to another rack.\n" for file, name in named}


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    said = {f"ses_{number}": turns(*words(number)) for number, (turns, _) in enumerate(ANSWERED)}
    with sessions(tmp_path_factory.mktemp("answered"), said, notes=notes(whole=False)) as index:
        yield index


@pytest.mark.parametrize("number", range(len(ANSWERED)))
def test_search_ranks_the_answering_turn_first(answered: VaultIndex, number: int) -> None:
    question, _, _ = words(number)
    hits = [hit.snippet for hit in answered.search(question).results]
    assert ANSWERED[number][1] in hits[0]
    assert not [hit for hit in hits if question.casefold().rstrip("?") in hit.casefold()]


@pytest.fixture(scope="module", params=[False, True], ids=["rows", "mirrored"])
def unanswered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    said = {f"ses_{number}": turns(*words(number)) for number, turns in enumerate(UNANSWERED)}
    with sessions(tmp_path_factory.mktemp("unanswered"), said, notes=notes(whole=True), mirror=request.param) as index:
        yield index


@pytest.mark.parametrize("number", range(len(UNANSWERED)))
def test_search_ranks_an_echo_of_the_question_last(unanswered: VaultIndex, number: int) -> None:
    question, machine, _ = words(number)
    hits = [hit.snippet for hit in unanswered.search(question, limit=50).results]
    assert hits[0] == f"The {machine} was moved to another rack."
    assert [question in hit for hit in hits].count(True) == 1
    assert question not in unanswered.recall(question, project="/home/user/api").text
    assert unanswered.search(f"which vendor sold the {machine}").results  # another question is not an echo


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    said = {f"ses_{number}": [statement(number)[0], "Noted."] for number in range(len(STATED))}
    with sessions(tmp_path_factory.mktemp("stated"), said, notes=notes(whole=False)) as index:
        yield index


def statement(number: int) -> list[str]:
    """A statement about a machine, and the query."""
    _, one, what = words(number)
    return [text.format(one=one, what=what) for text in STATED[number]]


@pytest.mark.parametrize("number", range(len(STATED)))
def test_search_quotes_a_statement_that_resembles_the_question(stated: VaultIndex, number: int) -> None:
    said, query = statement(number)
    assert said in stated.search(query).results[0].snippet
    if "?" not in said:
        assert said in stated.recall(query).text


def test_search_has_no_confidence_in_repeated_questions(tmp_path: Path) -> None:
    question, _, _ = words(0)
    with sessions(tmp_path, {"ses_a": [question], "ses_b": [question, "No idea."]}) as index:
        answer = index.search(question)
        assert answer.confidence == "none"
        assert question in answer.results[-1].snippet
        assert index.recall(question).text == ""


def test_search_recognizes_a_question_in_other_languages(tmp_path: Path) -> None:
    said = {
        "ses_de": ["Welchen Port benutzt der Mailserver?", "Er lauscht auf 2525."],
        "ses_es": ["¿Dónde se guardan los informes mensuales?", "En la carpeta compartida finanzas."],
        "ses_zh": ["课程报告存放在哪个目录？", "放在 reports/spring 里面。"],
    }
    again = {f"{name}_2": [question, "I don't know."] for name, (question, _) in said.items()}
    with sessions(tmp_path, said | again) as index:
        for question, reply in said.values():
            hits = [hit.snippet for hit in index.search(question, limit=50).results]
            assert reply in hits[0]
            assert not [hit for hit in hits if question in hit and reply not in hit] or question in hits[-1]
            assert reply in index.recall(question, project="/home/user/api").text


def test_search_does_not_take_a_heading_of_a_note_for_a_turn(tmp_path: Path) -> None:
    question, _, _ = words(0)
    faq = f"# FAQ\n\n## {question}\n\n{question}\n\nSee the file of the rack.\n"
    with sessions(tmp_path, {"ses_a": [question]}, notes={"faq.md": faq}) as index:
        hits = index.search(question).results
        assert [hit.kind for hit in hits] == ["note", "session"]
        assert hits[0].headings == ("FAQ", question)
