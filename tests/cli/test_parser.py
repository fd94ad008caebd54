"""The command is found wherever it stands, its options are what was given, and mistakes are named."""

from typing import Any

import pytest

from vault_index.cli.arguments import Options
from vault_index.cli.commands import COMMANDS, WITHOUT_SOURCE
from vault_index.cli.parser import build_parser, find_command, overview, parse, unknown_command
from vault_index.errors import UsageError


def parsed(*argv: str) -> tuple[str, Options, dict[str, Any]]:
    found = find_command(argv)
    assert found.command is not None
    parser, _ = build_parser(found.command)
    return found.command.name, *parse(parser, found.rest)


@pytest.mark.parametrize(
    ("argv", "name", "rest"),
    [
        (["search", "x"], "search", ["x"]),
        (["--home", "sync", "--json", "search", "get"], "search", ["--home", "sync", "--json", "get"]),
        (["--home=sync", "search"], "search", ["--home=sync"]),
        (["config", "--json", "get", "a.b"], "config get", ["--json", "a.b"]),
        (["source", "list"], "source list", []),
        (["--agent-context", "--json"], "agent-context", ["--json"]),
        (["observation", "x"], "add", ["x"]),
        (["memory_read", "handoffs/x"], "get", ["handoffs/x"]),
        (["--db", "memories.db", "search", "x"], "search", ["--db", "memories.db", "x"]),
    ],
)
def test_find_command(argv: list[str], name: str, rest: list[str]) -> None:
    found = find_command(argv)
    assert found.command is not None
    assert (found.command.name, found.rest) == (name, rest)


@pytest.mark.parametrize("argv", [[], ["--json"], ["--home", "x"], ["--", "search"]])
def test_no_command(argv: list[str]) -> None:
    assert find_command(argv).command is None


def test_only_what_was_given_is_there() -> None:
    assert parsed("search", "wal") == ("search", Options(), {"query": ["wal"]})


def test_search_takes_every_filter() -> None:
    _, options, args = parsed(
        "search", "wal", "mode", "--limit", "3", "--offset", "2", "--tags", "a,b", "--tags", "c", "--any-tag", "x, y",
        "--type", "decision", "--kind", "note", "--project", "p", "--entered-by", "me", "--path", "a/**",
        "--after", "2026-01-01", "--before", "2026-02-01", "--mode", "text", "--match", "all", "--per-document", "1",
        "--source", "work", "--json",
    )  # fmt: skip
    assert options == Options(format="json", source="work")
    assert args == {
        "query": ["wal", "mode"], "limit": 3, "offset": 2, "tags": ["a", "b", "c"], "any_tag": ["x", "y"],
        "type": "decision", "kind": "note", "project": "p", "by": "me", "path": "a/**", "after": "2026-01-01",
        "before": "2026-02-01", "mode": "text", "match": "all", "per_document": 1,
    }  # fmt: skip


def test_global_options_before_and_after_are_the_same() -> None:
    before = parsed("--home", "h", "--format", "toon", "--quiet", "list", "--limit", "3")
    after = parsed("list", "--limit", "3", "--home", "h", "--format", "toon", "--quiet")
    assert before == after == ("list", Options(home="h", format="toon", quiet=True), {"limit": 3})


def test_words_of_a_query_may_stand_apart() -> None:
    assert parsed("search", "docker", "--limit", "3", "compose")[2]["query"] == ["docker", "compose"]


def test_after_two_dashes_everything_is_a_word() -> None:
    assert parsed("search", "--limit", "3", "--", "docker", "-compose")[2]["query"] == ["docker", "-compose"]


def test_a_quoted_query_may_begin_with_a_dash() -> None:
    assert parsed("search", "-compose docker")[2]["query"] == ["-compose docker"]


def test_a_word_of_a_query_may_begin_with_a_dash() -> None:
    assert parsed("search", "-docker")[2]["query"] == ["-docker"]
    assert parsed("search", "compose", "-docker", "--limit", "3")[2] == {"query": ["compose", "-docker"], "limit": 3}


def test_a_value_of_a_search_may_begin_with_a_dash() -> None:
    given = parsed("search", "compose", "--path", "-drafts", "--property", "-kind:note", "-docker", "--source", "-old")
    assert given[1:] == (
        Options(source="-old"),
        {"path": "-drafts", "property": ["-kind:note"], "query": ["compose", "-docker"]},
    )


def test_q_is_quiet_with_every_command() -> None:
    for command in COMMANDS:
        parser, _ = build_parser(command)
        assert parser._option_string_actions["-q"] is parser._option_string_actions["--quiet"]
    assert parsed("-q", "list") == parsed("list", "-q") == ("list", Options(quiet=True), {})


@pytest.mark.parametrize(
    "command",
    [one for one in COMMANDS if one.name in WITHOUT_SOURCE - {"token add"}],  # which has one that takes several
    ids=lambda one: one.name,
)
def test_commands_that_take_no_source_do_not_say_they_do(command: Any) -> None:
    parser, _ = build_parser(command)
    assert "--source" not in parser.format_help()
    needed = {"completions": ["bash"], "source remove": ["x"], "token revoke": ["x"]} | {
        f"agent {what}": ["codex"] for what in ("install", "uninstall", "hook")
    }
    with pytest.raises(UsageError) as caught:
        parse(parser, [*needed.get(command.name, ()), "--source=work"])
    assert "leave it out" in caught.value.hint


@pytest.mark.parametrize(
    ("argv", "message", "hint"),
    [
        (["list", "--bogus"], "--bogus", "see: vault-index list --help"),
        (["list", "--verb"], "--verb", "--verbose"),
        (["search", "x", "-limit", "3"], "-limit", "--limit"),
        (["search", "x", "--limt", "3"], "--limt", "--limit"),
        (["add", "x", "-foo"], "-foo", "quotes"),
        (["search"], "QUERY", "vault-index search --help"),
        (["search", "x", "--limit", "0"], "must be a whole number of 1 or more", "--help"),
        (["search", "x", "--offset", "many"], "must be a whole number of 0 or more", "--help"),
        (["search", "x", "--mode", "fuzzy"], "invalid choice", "--help"),
        (["search", "x", "--lim", "3"], "--lim", "--limit"),
        (["embed", "--plan", "--status"], "not allowed", "--help"),
        (["stats", "extra"], "extra", "--help"),
    ],
)
def test_mistakes_in_options(argv: list[str], message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parsed(*argv)
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("serach", "did you mean search?"),
        ("Sync", "did you mean sync?"),
        ("sources", "did you mean source?"),
        ("xyzzy", "see: vault-index --help"),
        ("config gte", "did you mean config get?"),
        ("config xyzzy", "config has the commands get, set, list, delete, path"),
        ("source", "source has the commands list, add, remove"),
    ],
)
def test_mistakes_in_commands_name_the_nearest(word: str, hint: str) -> None:
    assert unknown_command(word).hint == hint


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_option_of_every_command_is_explained(command: Any) -> None:
    parser, run = build_parser(command)
    assert callable(run)
    assert all(action.help for action in parser._actions)
    text = parser.format_help()
    assert text.startswith(f"usage: vault-index {command.name} [OPTION…]")


def test_the_help_of_the_program_names_every_command_once() -> None:
    first_words = {command.name.split()[0] for command in COMMANDS}
    _, *sections = overview().split("\n\n")[2:-1]
    assert [section.splitlines()[0] for section in sections] == ["Set up", "Ask", "Memories", "Keep it running"]
    listed = [line.split()[0] for section in sections for line in section.splitlines()[1:]]
    assert sorted(listed) == sorted(first_words)


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["search", "x", "--db", "memories.db"], "--home DIR"),
        (["search", "x", "--agent-context"], "vault-index agent-context"),
        (["get", "--ids", "1,2"], "as a word"),
        (["timeline", "--anchor_id=7"], "as a word"),
        (["get", "x", "--max_tokens", "5"], "did you mean --max-tokens?"),
        (["search", "x", "--max-results", "5"], "did you mean --limit?"),
        (["add", "--narrative", "x"], "give the text as words"),
        (["add", "x", "--files", "y"], "did you mean --files-modified?"),
    ],
)
def test_options_of_other_programs_are_answered_with_ours(argv: list[str], hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        parsed(*argv)
    assert hint in raised.value.hint
