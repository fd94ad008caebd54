"""Edits of client settings change one value and keep every other byte."""

import json
import random
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, strategies as st

from vault_index.agents.edit import read_json, read_toml, with_json, with_server, without_json, without_server
from vault_index.errors import ConfigError

SERVER = {"command": "vault-index", "args": ["mcp"]}
KEYS = st.sampled_from(["a", "hooks", "é\n", "mcpServers", "", '"'])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
PATHS = st.lists(KEYS, min_size=1, max_size=3)

SERVERS, STOP = ("mcpServers", "vault-index"), ("hooks", "Stop")
OTHER, BELL, OURS = {"url": "http://x/*y*/"}, {"hooks": [{"command": "bell", "n": [1, -2.5]}]}, {"hooks": [SERVER]}
CHANGES: list[tuple[tuple[str | int, ...], Any, dict[str, Any], dict[str, Any]]] = [
    (SERVERS, SERVER, {}, {"mcpServers": {"vault-index": SERVER}}),
    (SERVERS, SERVER, {"mcpServers": {"x": OTHER}}, {"mcpServers": {"x": OTHER, "vault-index": SERVER}}),
    ((*STOP, 0), OURS, {"hooks": {"End": []}}, {"hooks": {"End": [], "Stop": [OURS]}}),
    ((*STOP, 1), OURS, {"hooks": {"Stop": [BELL]}}, {"hooks": {"Stop": [BELL, OURS]}}),
]
"""Path of the entry, the entry, and the settings without and with it."""
REST = {"a": '// "', "b": [[], {"c": None}]}
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}:,\s]+')
COMMENT = re.compile(r"// } , \{ \d[ \t]*\n|/\* ] , \d \*/")
GAPS = ("", "", "", " ", "\n", "\n\t", "// } , { 1\n", "// } , { 2\n", "/* ] , 3 */")


def commented(data: object, rng: random.Random) -> str:
    """Return JSON with random comments, blanks and trailing commas."""
    text = before = ""
    for token in TOKEN.findall(json.dumps(data)):
        comma = "," if token in ("]", "}") and before not in ("[", "{") and rng.random() < 0.3 else ""
        text += comma + rng.choice(GAPS) + token + rng.choice(GAPS)
        before = token
    return text


def plain(text: str) -> Any:
    """Parse the same text in another way."""
    return json.loads(re.sub(r",(?=\s*[]}])", "", COMMENT.sub("", text)))


def shuffled(table: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    return dict(rng.sample(list(table.items()), len(table)))


COMMENTED = """{
\t// my settings
\t"model": "opus", /* the "large" one } */
\t"mcpServers": {
\t\t"other": { "command": "x" }, // theirs
\t},
}
"""


@given(st.dictionaries(KEYS, VALUES, max_size=4), PATHS, VALUES, st.sampled_from([None, 2, 4, "\t"]))
def test_with_json_sets_one_value_and_keeps_the_rest(
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
def test_without_json_restores_the_original_bytes(
    data: dict[str, Any], indent: int | str | None, windows: bool
) -> None:
    data.pop("new", None)
    text = json.dumps(data, indent=indent, ensure_ascii=False) + "\n"
    text = text.replace("\n", "\r\n") if windows else text
    changed = with_json(text, ("new", "list", 0, "deep"), {"command": "x", "args": ["a", {}]})
    assert changed.count("\n") == changed.count("\r\n") or not windows
    assert without_json(changed, ("new", "list", 0, "deep")) == text


@pytest.mark.parametrize("text", [COMMENTED, COMMENTED.replace("\n", "\r\n"), "\ufeff" + COMMENTED])
def test_with_json_keeps_comments_and_trailing_commas(text: str) -> None:
    server = with_json(text, ("mcpServers", "vault-index"), SERVER)
    hook = with_json(server, ("hooks", "Stop", 0), {"hooks": [{"command": "y"}]})
    assert read_json(hook)["hooks"] == {"Stop": [{"hooks": [{"command": "y"}]}]}
    assert '\t\t"vault-index": {' in hook
    assert set(text.splitlines()) <= set(hook.splitlines())
    assert without_json(hook, ("hooks", "Stop", 0)) == server
    assert without_json(server, ("mcpServers", "vault-index")) == text


@pytest.mark.parametrize(("path", "entry", "without", "full"), CHANGES)
def test_with_json_keeps_every_comment_in_random_files(
    path: tuple[str | int, ...], entry: object, without: dict[str, Any], full: dict[str, Any]
) -> None:
    for seed in range(75):
        rng = random.Random(seed)
        text = commented(shuffled(REST | {name: shuffled(table, rng) for name, table in full.items()}, rng), rng)
        comments = Counter(map(str.rstrip, COMMENT.findall(text)))
        for wanted in (without, full, without):  # first remove a hand-made entry, then ours
            text = without_json(text, path) if wanted is without else with_json(text, path, entry)
            assert plain(text) == read_json(text) == REST | wanted, seed
            assert Counter(map(str.rstrip, COMMENT.findall(text))) == comments, seed


def test_with_json_creates_a_missing_file_and_keeps_a_one_line_array() -> None:
    text = with_json("", ("mcpServers", "vault-index"), SERVER)
    assert text.startswith('{\n  "mcpServers": {\n    "vault-index"')
    assert without_json(text, ("mcpServers", "vault-index")) == "{}\n"
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
def test_with_json_refuses_invalid_json(text: str) -> None:
    with pytest.raises(ConfigError, match=r"this is not|no safe way"):
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
def test_without_server_removes_exactly_what_with_server_appended(text: str) -> None:
    changed = with_server(text, SERVER)
    assert changed.startswith(text)
    assert read_toml(changed)["mcp_servers"]["vault-index"] == SERVER
    assert without_server(changed) == text
    more = changed + '\n# theirs\n[hooks.state."x"]\ntrusted_hash = "y"\n'
    kept = without_server(more)
    assert kept.startswith(text)
    assert kept.endswith('\n# theirs\n[hooks.state."x"]\ntrusted_hash = "y"\n')


def test_with_server_updates_a_table_in_place_and_keeps_other_keys() -> None:
    text = (
        '[mcp_servers."vault-index"] # ours\ncommand = "old"\nargs = ["mcp"]\nstartup_timeout_sec = 9\n\n[ui]\nx = 1\n'
    )
    changed = with_server(text, SERVER)
    assert changed == text.replace('"old"', '"vault-index"')
    assert without_server(changed) == "# ours\n\n[ui]\nx = 1\n"


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
def test_with_server_refuses_toml_it_cannot_edit_safely(text: str) -> None:
    with pytest.raises(ConfigError) as adding:
        with_server(text, SERVER)
    assert re.search("by hand|correct the file", adding.value.hint)
    if "vault-index" in text:
        with pytest.raises(ConfigError, match="no safe way"):
            without_server(text)
