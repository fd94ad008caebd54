"""The parser: command lookup, options, and errors that name the mistake."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from vault_index.cli.arguments import Options
from vault_index.cli.commands import COMMANDS, WITHOUT_SOURCE
from vault_index.cli.parser import build_parser, find_command, parse, unknown_command
from vault_index.errors import UsageError

TABLES = tomllib.loads(Path(__file__).with_name("parser.toml").read_text("utf-8"))


def parsed(*argv: str) -> tuple[str, Options, dict[str, Any]]:
    found = find_command(argv)
    assert found.command is not None
    parser, _ = build_parser(found.command)
    return found.command.name, *parse(parser, found.rest)


def test_find_command_finds_a_command_at_any_position() -> None:
    found = [(argv, find_command(argv)) for argv, _, _ in TABLES["found"]]
    assert [[argv, one.command and one.command.name, one.rest] for argv, one in found] == TABLES["found"]
    for argv in ([], ["--json"], ["--home", "x"], ["--", "search"]):
        assert find_command(argv).command is None


def test_parser_search_accepts_every_filter() -> None:
    _, options, args = parsed(
        "search", "wal", "mode", "--limit", "3", "--offset", "2", "--tags", "a,b", "--tags", "c", "--any-tag", "x, y",
        "--type", "decision", "--kind", "note", "--project", "p", "--entered-by", "me", "--path", "a/**",
        "--after", "2026-01-01", "--before", "2026-02-01", "--mode", "text", "--match", "all", "--per-document", "1",
        "--source", "work", "--json",
    )  # fmt: skip
    assert options == Options(format="json", source="work")
    assert args == {
        "query": ["wal", "mode"], "limit": 3, "offset": 2, "tags": ["a", "b", "c"], "any_tag": ["x", "y"],
        "type": "decision", "kind": "note", "project": "p", "entered_by": "me", "path": "a/**", "after": "2026-01-01",
        "before": "2026-02-01", "mode": "text", "match": "all", "per_document": 1,
    }  # fmt: skip


def test_parser_accepts_global_options_before_and_after_the_command() -> None:
    before = parsed("--home", "h", "--format", "toon", "--quiet", "list", "--limit", "3")
    after = parsed("list", "--limit", "3", "--home", "h", "--format", "toon", "--quiet")
    assert before == after == ("list", Options(home="h", format="toon", quiet=True), {"limit": 3})


def test_parser_accepts_search_words_and_values_with_a_dash() -> None:
    assert parsed("search", "docker", "--limit", "3", "compose")[2]["query"] == ["docker", "compose"]
    assert parsed("search", "--", "docker", "-compose", "--json")[2]["query"] == ["docker", "-compose", "--json"]
    assert parsed("search", "-compose docker")[2] == {"query": ["-compose docker"]}
    assert parsed("search", "compose", "-docker", "--limit", "3")[2] == {"query": ["compose", "-docker"], "limit": 3}
    assert parsed("get", "-3d", "--max-tokens", "5", "-")[2] == {"ref": ["-3d", "-"], "max_tokens": 5}
    given = parsed("search", "compose", "--path", "-drafts", "--property", "-kind:note", "-docker", "--source", "-old")
    args = {"path": "-drafts", "property": ["-kind:note"], "query": ["compose", "-docker"]}
    assert given[1:] == (Options(source="-old"), args)


def test_parser_every_command_has_a_runner_help_and_quiet_option() -> None:
    for command in COMMANDS:
        parser, run = build_parser(command)
        assert callable(run)
        assert all(action.help for action in parser.declared), command.name
        assert parser.format_help().startswith(f"usage: vault-index {command.name} [OPTION…]")
        assert ["--quiet", "-q"] in [action.option_strings for action in parser.declared]


def test_parser_refuses_source_for_commands_without_sources() -> None:
    needed = {"completions": ["bash"]}
    needed |= {name: ["x"] for name in ("source remove", "token revoke", "pool join", "pool export")}
    needed |= {f"agent {what}": ["codex"] for what in ("install", "uninstall", "hook")}
    for command in COMMANDS:
        if command.name in WITHOUT_SOURCE - {"token add", "pool members"}:  # take several sources
            parser, _ = build_parser(command)
            assert "--source" not in parser.format_help(), command.name
            with pytest.raises(UsageError) as caught:
                parse(parser, [*needed.get(command.name, ()), "--source=work"])
            assert "leave it out" in caught.value.hint


def test_parser_names_invalid_options_with_a_hint() -> None:
    for argv, message, hint in TABLES["mistakes"]:
        with pytest.raises(UsageError) as caught:
            parsed(*argv)
        assert message in caught.value.message, argv
        assert hint in caught.value.hint, argv


def test_parser_suggests_the_nearest_command() -> None:
    hints = {
        "serach": "did you mean search?", "Sync": "did you mean sync?", "sources": "did you mean source?",
        "xyzzy": "see: vault-index --help", "config gte": "did you mean config get?",
        "config xyzzy": "config has the commands get, set, list, delete, path",
        "source": "source has the commands list, add, sync, remove",
    }  # fmt: skip
    assert {word: unknown_command(word).hint for word in hints} == hints


def test_search_help_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    search = next(command for command in COMMANDS if command.name == "search")
    lines = build_parser(search)[0].format_help().rstrip("\n").split("\n")
    assert len(lines) <= 64, "shorten the help of another option, or raise this limit"
    assert max(map(len, lines)) <= 80
    assert "advanced:" in lines
