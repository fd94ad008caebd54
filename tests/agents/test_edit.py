"""Edits of client settings change one entry and keep all other data."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from vault_index.agents.install import read_json, read_toml, write_json, write_toml
from vault_index.errors import ConfigError

SERVER = {"command": "vault-index", "args": ["mcp"]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.sampled_from([1, 2, 4, "\t"]), st.booleans(), st.booleans())
def test_write_json_keeps_the_layout_of_the_file(
    data: dict[str, Any], indent: int | str, windows: bool, raw: bool
) -> None:
    text = json.dumps({"first": 1, **data}, indent=indent, ensure_ascii=not raw) + "\n"
    text = text.replace("\n", "\r\n") if windows else text
    assert write_json(text, read_json(text)) == text


def test_write_json_begins_a_new_file_with_two_spaces() -> None:
    assert write_json("", {"a": {"b": "ü"}}) == '{\n  "a": {\n    "b": "\\u00fc"\n  }\n}\n'


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1', '{"a" 1}', "{'a': 1}", '{"a": 1,}', '{"a": 1} // mine', "[1]", '"x"', "{} {}", "{,}",
        '{"a": nope}', '{"a": 1e999}', '{"a": "é\\ud83d"}', "[" * 99999, "/*",
    ],
)  # fmt: skip
def test_json_with_comments_or_errors_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="this ") as error:
        write_json(text, read_json(text))
    assert "run the same command again" in error.value.hint


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
def test_write_toml_removes_exactly_what_it_added(text: str) -> None:
    changed = write_toml(text, SERVER)
    assert changed.startswith(text)
    assert read_toml(changed)["mcp_servers"]["vault-index"] == SERVER
    assert write_toml(changed, None) == text
    more = changed + '\n# theirs\n[hooks.state."x"]\ntrusted_hash = "y"\n'
    kept = write_toml(more, None)
    assert kept.startswith(text)
    assert kept.endswith('\n# theirs\n[hooks.state."x"]\ntrusted_hash = "y"\n')


def test_write_toml_replaces_our_table_and_its_subtables() -> None:
    text = (
        '[mcp_servers."vault-index"] # ours\ncommand = "old"\n\n[mcp_servers.vault-index.env]\nA = "b"\n\n[ui]\nx = 1\n'
    )
    changed = write_toml(text, {**SERVER, "env": {"A": "b"}})
    assert changed.startswith("\n[ui]\nx = 1\n")
    assert read_toml(changed)["mcp_servers"] == {"vault-index": {**SERVER, "env": {"A": "b"}}}


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { other = { command = 'y' } }\n",
        "mcp_servers = { vault-index = { command = 'y' } }\n",
        "mcp_servers = 3\n",
        "x = [\n",
        "x = 1\nx = 2\n",
        'mcp_servers.vault-index.command = "x"\ny = """\n[mcp_servers.vault-index]\nz = 1\n"""\n',
    ],
)
def test_write_toml_refuses_a_file_that_it_cannot_change_safely(text: str) -> None:
    with pytest.raises(ConfigError) as adding:
        write_toml(text, SERVER)
    assert re.search("set mcp_servers|correct the file", adding.value.hint)
    if "vault-index" in text:
        with pytest.raises(ConfigError, match="no safe way"):
            write_toml(text, None)
