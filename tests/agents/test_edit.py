"""One value of a file is changed, and every other byte of it stays."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from vault_index.agents.edit import read_json, read_toml, with_json, with_table, without_json, without_table
from vault_index.errors import ConfigError

SERVER = {"command": "vault-index", "args": ["mcp"]}
KEYS = st.sampled_from(["a", "hooks", "é\n", "mcpServers", "", '"'])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
PATHS = st.lists(KEYS, min_size=1, max_size=3)

COMMENTED = """{
\t// my settings
\t"model": "opus", /* the "large" one } */
\t"mcpServers": {
\t\t"other": { "command": "x" }, // theirs
\t},
}
"""


@given(st.dictionaries(KEYS, VALUES, max_size=4), PATHS, VALUES, st.sampled_from([None, 2, 4, "\t"]))
def test_a_value_stands_where_it_was_put_and_nothing_else_changed(
    data: dict[str, Any], path: list[str], value: Any, indent: int | str | None
) -> None:
    text = json.dumps(data, indent=indent)
    there: Any = data
    for key in path[:-1]:
        there = there.setdefault(key, {}) if isinstance(there, dict) else None
    if not isinstance(there, dict):
        with pytest.raises(ConfigError):
            with_json(text, path, value)
        return
    there[path[-1]] = value
    assert json.loads(with_json(text, path, value)) == data == read_json(with_json(text, path, value))


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from([None, 2, 4, "\t"]), st.booleans())
def test_what_was_put_in_is_taken_out_to_the_byte(
    data: dict[str, Any], indent: int | str | None, windows: bool
) -> None:
    data.pop("new", None)
    text = json.dumps(data, indent=indent, ensure_ascii=False) + "\n"
    text = text.replace("\n", "\r\n") if windows else text
    changed = with_json(text, ("new", "list", 0, "deep"), {"command": "x", "args": ["a", {}]})
    assert changed.count("\n") == changed.count("\r\n") or not windows
    assert without_json(changed, ("new", "list", 0, "deep")) == text


@pytest.mark.parametrize("text", [COMMENTED, COMMENTED.replace("\n", "\r\n"), "\ufeff" + COMMENTED])
def test_comments_and_trailing_commas_stay(text: str) -> None:
    server = with_json(text, ("mcpServers", "vault-index"), SERVER)
    hook = with_json(server, ("hooks", "Stop", 0), {"hooks": [{"command": "y"}]})
    assert read_json(hook)["hooks"] == {"Stop": [{"hooks": [{"command": "y"}]}]}
    assert '\t\t"vault-index": {' in hook
    assert set(text.splitlines()) <= set(hook.splitlines())
    assert without_json(hook, ("hooks", "Stop", 0)) == server
    assert without_json(server, ("mcpServers", "vault-index")) == text


def test_a_file_that_is_not_there_yet_is_an_empty_object() -> None:
    text = with_json("", ("mcpServers", "vault-index"), SERVER)
    assert text.startswith('{\n  "mcpServers": {\n    "vault-index"')
    assert without_json(text, ("mcpServers", "vault-index")) == "{}\n"


def test_of_one_line_one_line_is_made() -> None:
    assert with_json('{"a": [1]}', ("a", 1), 2) == '{"a": [1, 2]}'


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1',
        '{"a" 1}',
        "{'a': 1}",
        '{"a": 1 "b": 2}',
        "[1]",
        '"x"',
        "{} {}",
        "{,}",
        '{"a": nope}',
        "[" * 99999,
        "/*",
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ConfigError, match="this is no JSON"):
        with_json("\n" + text, ("a",), 1)


TOML = """# mine
model = "o3" # the good one

[mcp_servers.other]
command = 'y'
args = [ "a",
  "b" ]

[ui]
x = 1
"""


@pytest.mark.parametrize("text", ["", TOML, TOML.replace("\n", "\r\n"), "x = 1\n", "[a]\n\n\n"])
def test_a_table_comes_to_the_end_and_goes_to_the_byte(text: str) -> None:
    changed = with_table(text, "mcp_servers", "vault-index", SERVER)
    assert changed.startswith(text)
    assert read_toml(changed)["mcp_servers"]["vault-index"] == SERVER
    assert without_table(changed, "mcp_servers", "vault-index") == text
    more = changed + '\n# theirs\n[hooks.state."x"]\ntrusted_hash = "y"\n'
    kept = without_table(more, "mcp_servers", "vault-index")
    assert kept.startswith(text)
    assert kept.endswith('\n# theirs\n[hooks.state."x"]\ntrusted_hash = "y"\n')


def test_a_table_is_changed_in_its_place_with_what_else_it_says() -> None:
    text = (
        '[mcp_servers."vault-index"] # ours\ncommand = "old"\nargs = ["mcp"]\nstartup_timeout_sec = 9\n\n[ui]\nx = 1\n'
    )
    changed = with_table(text, "mcp_servers", "vault-index", SERVER)
    assert changed == text.replace('"old"', '"vault-index"')
    assert without_table(changed, "mcp_servers", "vault-index") == "\n[ui]\nx = 1\n"


@pytest.mark.parametrize(
    "text", ["mcp_servers = { other = { command = 'y' } }\n", "mcp_servers = 3\n", "x = [\n", "x = 1\nx = 2\n"]
)
def test_a_file_that_is_not_understood_stays_as_it_is(text: str) -> None:
    with pytest.raises(ConfigError):
        with_table(text, "mcp_servers", "vault-index", SERVER)


def test_an_inline_table_of_ours_is_left_to_its_owner() -> None:
    with pytest.raises(ConfigError, match="not understood"):
        without_table("mcp_servers = { vault-index = { command = 'y' } }\n", "mcp_servers", "vault-index")
