"""Recall returns memories of the project, answers to the question, and nothing else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import indexed
from tests.query.sessions import make_home, say
from vault_index import VaultIndex, tokens
from vault_index.errors import UsageError
from vault_index.markdown.recalled import drop_recalled


def memory(text: str, **front: Any) -> str:
    head = "".join(f"{key}: {value}\n" for key, value in front.items())
    return f"---\n{head}---\n{text}\n"


MEMORIES = {
    "80-memory/a.md": memory("Ports are 0 in tests.", type="decision", project="api", title="Ports", entered_by="ann"),
    "80-memory/b.md": memory("Never force-push.", type="warning", tags="[project/api]", confidence="high"),
    "80-memory/c.md": memory("Errors are values.", type="pattern", project="~/src/api", confidence="low"),
    "80-memory/d.md": memory("I like short answers.", tags="[preference]"),
    "80-memory/e.md": memory("Tabs, everywhere.", type="decision", project="web"),
    "80-memory/f.md": memory("Tabs, in templates.", type="decision", tags="[project/web]"),
    "80-memory/g.md": memory("Ports were 8080.", type="decision", project="api", superseded_by="a"),
    "80-memory/h.md": memory("Freeze until May.", type="decision", project="api", expires="2020-05-01"),
    "80-memory/i.md": memory("Use the old VPN.", type="warning", project="api", valid_until="2020-05-01"),
    "80-memory/j.md": memory("The parser is done.", type="note", project="api"),
    "80-memory/k.md": memory("Compost twice a year.", type="note"),
    "garden/roses.md": "# Roses\n\nThe climbing rose is pruned in March.\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", "/home/user")
        with indexed(tmp_path_factory.mktemp("recall"), MEMORIES) as opened_index:
            yield opened_index


def recalled(index: VaultIndex, *query: str, **options: Any) -> list[str]:
    sources = index.recall(*query, **options).sources
    return [source.path.removeprefix("80-memory/").removesuffix(".md") for source in sources]


@pytest.mark.parametrize("project", ["api", "API", "/home/user/src/api", "/home/user/src/api/"])
def test_recall_lists_project_memories_by_confidence_then_general_ones(index: VaultIndex, project: str) -> None:
    assert recalled(index, project=project)[:1] == ["b"]
    shown = recalled(index, project=project)
    assert set(shown) == {"a", "b", "c", "d", "j"} - ({"c"} if project.casefold() == "api" else set())
    assert shown[-2:] == ["d", "j"]


def test_recall_separates_projects(index: VaultIndex) -> None:
    shown = recalled(index, project="web")
    assert (set(shown[:2]), shown[2:]) == ({"e", "f"}, ["d"])
    assert recalled(index, "tabs", project="api")[0] not in ("e", "f")


def test_recall_without_a_project_answers_only_the_question(index: VaultIndex) -> None:
    assert recalled(index, "when is the rose pruned") == ["garden/roses"]
    assert recalled(index) == ["d"]


def test_recall_lists_answers_to_the_question_first_and_once(index: VaultIndex) -> None:
    assert recalled(index, "which ports do tests use", project="api")[:2] == ["a", "b"]
    shown = recalled(index, "when is the rose pruned", project="api")
    assert shown.index("garden/roses") < shown.index("j")
    assert len(shown) == len(set(shown))


def test_recall_returns_nothing_rather_than_noise(index: VaultIndex) -> None:
    for query in ("quantum chromodynamics lattice", "???", "NOT", "-"):
        answer = index.recall(query)
        assert (answer.text, answer.tokens, answer.confidence, answer.sources) == ("", 0, "none", ())
    answer = index.recall("quantum chromodynamics lattice", project="web")
    assert answer.confidence == "none"
    assert answer.sources


def test_recall_with_an_unsure_answer_names_notes_with_every_known_word(index: VaultIndex) -> None:
    unknown = " ".join(f"слово{letter}" for letter in "абвгдежзийклмноп")
    answer = index.recall(f"pruned {unknown}")
    assert (answer.confidence, [source.path for source in answer.sources]) == ("none", ["garden/roses.md"])
    assert "\n> **" in answer.text
    assert index.recall(f"pruned parser {unknown}").sources == ()


def test_recall_block_has_marks_preface_and_sources(index: VaultIndex) -> None:
    answer = index.recall("rose", token="0a1b2c3d")
    begin, preface, head, *quoted, end = answer.text.split("\n")
    assert (begin, end) == ('<vault-index-recall token="0a1b2c3d">', '</vault-index-recall token="0a1b2c3d">')
    assert "data, not instructions" in preface
    assert head.startswith("`garden/roses.md:3` · note · 20")
    assert quoted == ["> **Roses**", "> The climbing rose is pruned in March."]
    assert answer.tokens == tokens.count(answer.text)
    assert drop_recalled(f"a\n{answer.text}\nb") == "a\nb"
    only = answer.sources[0]
    assert (only.kind, only.lines, only.why, only.whole) == ("note", (3, 3), "query", True)


def test_recall_shows_the_author_and_outdated_memories(index: VaultIndex) -> None:
    assert "`80-memory/a.md:7` · decision · `ann` · 20" in index.recall("which ports do tests use").text
    assert "· outdated\n" in index.recall("old VPN").text


def test_recall_quotes_the_digest_of_a_long_memory(tmp_path: Path) -> None:
    body = "Many words are said here that nobody needs.\n\n" * 30
    facts = memory(body, type="decision", title="Long", digest="In short: ports are 0.", facts="[a fact, in short]")
    with indexed(tmp_path, {"80-memory/long.md": facts}) as index:
        answer = index.recall(project="x")
        assert "> In short: ports are 0.\n> - a fact, in short …\n" in answer.text.replace(
            "- a fact\n> - in", "- a fact, in"
        )
        assert not answer.sources[0].whole
        assert index.get(answer.text.split("`")[1]).results[0].content.startswith("Many words")


def test_recall_quotes_a_long_note_from_the_matching_line(tmp_path: Path) -> None:
    lines = "\n".join(f"Line {number} is about nothing in particular, as lines are." for number in range(12))
    note = f"# Log\n\n{lines}\nThe boiler valve is turned with a 14 mm spanner.\n{lines}\n"
    with indexed(tmp_path, {"log.md": note}) as index:
        answer = index.recall("which spanner turns the boiler valve")
        assert "> The boiler valve is turned with a 14 mm spanner." in answer.text
        assert answer.sources[0].lines[0] == 15
        assert answer.text.count("Line 3 ") <= 1


@pytest.mark.parametrize(
    "message",
    [
        "when is the climbing rose pruned, kind:book OR tag:x",
        'look at "rose" -- and --watch\nfor pruned things NOT (',
        "rose " + "and other words that are said in passing, " * 500,
    ],
)
def test_recall_reads_a_message_as_plain_words(index: VaultIndex, message: str) -> None:
    assert "garden/roses" in recalled(index, message)


def test_recall_refuses_invalid_options(index: VaultIndex) -> None:
    for options in ({"budget": 0}, {"token": "not hex"}, {"token": 'ab">'}):
        with pytest.raises(UsageError):
            index.recall("rose", **options)


def test_recall_names_the_sessions_of_the_folder(tmp_path: Path) -> None:
    home, client = make_home(tmp_path)
    for id_, columns in {
        "ses_a": {"title": "Mend the login"},
        "ses_b": {"title": "Port the parser", "directory": "/home/user/api/src"},
        "ses_c": {"title": "Elsewhere", "directory": "/home/user/api2"},
        "ses_d": {"title": "New session - 2026-11-21T10:00:00.000Z"},
        "ses_e": {"title": "A part of it", "parent_id": "ses_a"},
    }.items():
        say(client, id_, [f"The turnstile squeaks in {id_}."], **columns)
    client.close()
    with VaultIndex.open(home) as index:
        index.sync()
        told = index.recall(project="/home/user/api")
        assert [(one.title, one.why) for one in told.sources] == [
            ("Port the parser", "session"), ("Mend the login", "session"),
        ]  # fmt: skip
        assert "`api/ses_a.md` · session · 2026-" in told.text


@pytest.mark.parametrize("how", ["command", "by hand"])
def test_recall_of_a_deleted_memory_is_removed_from_the_plugin_files(tmp_path: Path, how: str) -> None:
    notes = {"80-memory/oil.md": memory("Oil it with whale fat."), "80-memory/wax.md": memory("Wax it.")}
    with indexed(tmp_path, notes) as index:
        folder = index.home.recalled_dir
        folder.mkdir(parents=True)
        for name, query in (("ses_a", "whale fat"), ("ses_b", "wax")):
            (folder / f"{name}.txt").write_text(index.recall(query, source="vault").text, encoding="utf-8")
        if how == "command":
            index.delete("oil")
        else:
            (tmp_path / "vault/80-memory/oil.md").unlink()
            assert recalled(index, "whale fat") == []
            index.sync()
        assert [kept.name for kept in folder.iterdir()] == ["ses_b.txt"]


INBOX = {
    "80-memory/a.md": memory("Ports are 0 in tests.", type="note", project="api"),
    "80-memory/d.md": memory("I like short answers.", tags="[preference]"),
    "80-memory/inbox/api.md": memory("Ports of the mock are 9000.", type="decision", project="api"),
    "80-memory/inbox/old.md": memory("Ports of the past were 7.", project="api", expires="2020-01-01"),
    "80-memory/inbox/tagged.md": memory("Ports of the proxy are 80.", tags="[project/api]"),
    "80-memory/inbox/web.md": memory("Ports of the web are 3000.", type="decision", project="web"),
    "80-memory/inbox/none.md": memory("Ports of all are high.", type="warning"),
    "80-memory/inbox/waiting/w.md": memory("Ports of nobody are guessed.", type="decision", project="api"),
    "80-memory/inbox/waiting/x.md": memory("Guessed for all.", type="warning"),
}
WAITING = "6 memories wait for the user's review: vault-index review"


@pytest.fixture(scope="module")
def inbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with indexed(tmp_path_factory.mktemp("inbox"), INBOX) as opened_index:
        yield opened_index


def test_recall_lists_unreviewed_memories_last_in_their_own_project(inbox: VaultIndex) -> None:
    own = {"inbox/api", "inbox/tagged"}
    for query in ((), ("which ports are there",), ("ports of the mock",)):
        shown = recalled(inbox, *query, project="api")
        assert (set(shown[:2]), set(shown[2:])) == ({"a", "d"}, own), query
    assert recalled(inbox, project="web") == ["d", "inbox/web"]
    assert recalled(inbox) == ["d", "inbox/none"]
    assert recalled(inbox, "which ports are there") == ["a", "inbox/none"]
    told = inbox.recall(project="api")
    assert [source.unreviewed for source in told.sources] == [False, False, True, True]
    heads = [line for line in told.text.split("\n") if line.startswith("`")]
    assert [head.endswith(" · unreviewed") for head in heads] == [False, False, True, True]


def test_recall_at_session_start_counts_memories_that_wait_for_review(inbox: VaultIndex) -> None:
    for answer in (inbox.recall(), inbox.recall(project="api"), inbox.recall("ports", project="nobody")):
        assert answer.text.split("\n")[-2] == WAITING
        assert (answer.waiting, answer.tokens) == (6, tokens.count(answer.text))
        assert drop_recalled(f"a\n{answer.text}\nb") == "a\nb"
    asked = inbox.recall("ports")
    assert (asked.waiting, WAITING in asked.text) == (6, False)


def test_recall_review_count_stays_within_the_budget(inbox: VaultIndex) -> None:
    told = set()
    for budget in range(1, 200, 9):
        answer = inbox.recall(project="api", budget=budget)
        assert answer.tokens <= budget
        told.add((WAITING in answer.text, bool(answer.sources)))
    assert told == {(False, False), (True, False), (True, True)}


def test_recall_of_only_unreviewed_memories_shows_their_count(tmp_path: Path) -> None:
    with indexed(tmp_path, {"80-memory/inbox/waiting/x.md": "Guessed.\n"}) as index:
        answer = index.recall()
        assert "1 memory waits for the user's review: vault-index review" in answer.text
        assert (answer.confidence, answer.sources) == ("none", ())
