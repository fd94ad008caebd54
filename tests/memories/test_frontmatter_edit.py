"""Frontmatter edits change one key and keep the rest of the file."""

from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from tests.tables import tables
from vault_index.errors import UsageError
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.markdown.normalize import split_lines
from vault_index.memories.file.document import lines_with_ends
from vault_index.memories.file.frontmatter_edit import with_changes

CASES = tables(__file__)


def values(text: str) -> Any:
    front = read_frontmatter(split_lines(text.removeprefix("\ufeff")))
    assert front.faults == ()
    return front.values


HEAD = CASES["head"]


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        *CASES["with_changes_edits_only_the_named_key"],
        ({"aliases": None}, 'aliases:\n  - one # the first\n  - "two"\n', ""),
    ],
)
def test_with_changes_edits_only_the_named_key(changes: dict[str, Any], old: str, new: str) -> None:
    assert old in HEAD
    for mark, newline in product(("", "\ufeff"), ("\n", "\r\n", "\r")):
        text = mark + HEAD.replace("\n", newline)
        assert with_changes(text, changes) == mark + HEAD.replace(old, new, 1).replace("\n", newline)


def test_with_changes_ignores_equal_values() -> None:
    same = {"title": "Use WAL", "tags": ("sqlite", "ops"), "created": "2026-01-01", "unknown": None}
    assert with_changes(HEAD, same) == HEAD


@pytest.mark.parametrize(
    ("inside", "changes", "changed"),
    [
        *CASES["with_changes_edits_unusual_frontmatter_in_place"],
        ("title: a\nb: 1\ntitle: b\n", {"title": None}, "b: 1\n"),
        ("a: |\n  text\ntitle: x\n  # was beside the title\nb: 1\n", {"title": None}, "a: |\n  text\nb: 1\n"),
        ('{"title": "a", "id": "1"}\n', {"title": None}, "id: '1'\n"),
    ],
)
def test_with_changes_edits_unusual_frontmatter_in_place(inside: str, changes: dict[str, Any], changed: str) -> None:
    assert with_changes(f"---\n{inside}---\nbody", changes) == f"---\n{changed}---\nbody"


@pytest.mark.parametrize(("text", "changed"), CASES["with_changes_adds_frontmatter_to_a_file_without_one"])
def test_with_changes_adds_frontmatter_to_a_file_without_one(text: str, changed: str) -> None:
    assert with_changes(text, {"id": "x"}) == changed
    assert with_changes(text, {"unknown": None}) == text


@pytest.mark.parametrize(
    ("inside", "line"), [("a: 1\nb: @x", 3), ("date: {{date}}", 2), ("a: &x [1]\nb: *x", 3), ("a:\n- b\n- @c", 4)]
)
def test_with_changes_refuses_broken_frontmatter_and_names_the_line(inside: str, line: int) -> None:
    with pytest.raises(UsageError, match=rf"^line {line}: .*; nothing was written"):
        with_changes(f"---\n{inside}\n---\nbody", {"title": "x"})


def test_with_changes_finds_a_key_in_any_case() -> None:
    assert with_changes("---\nTags: [a]\n---\n", {"tags": ["b"]}) == "---\nTags: [b]\n---\n"


# --- any frontmatter -------------------------------------------------------------------------------------------

_WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8)
_PLAIN = st.from_regex(r"[A-Za-zÀ-ÿ一-龥][\w é🎉:/.-]{0,20}[\w]", fullmatch=True).filter(lambda text: ": " not in text)
_QUOTED = st.one_of(
    _WORDS.map(lambda text: "'" + text.replace("'", "''") + "'"),
    _WORDS.map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'),
)
_SCALAR = st.one_of(_PLAIN, _QUOTED, st.sampled_from(["", "1", "1.5", "true", "~", "2026-01-31", "!!str 1", "&a x"]))
_FLOW = st.lists(_QUOTED, max_size=3).map(lambda items: f"[{',  '.join(items)}]") | st.just("{x: 1,y: [2]}")
_COMMENT = st.sampled_from(["", " # why", "\t#tab", " # a: b - c"])
_BLOCKS = st.sampled_from(
    [
        "|\n  text\n\n  # text\n", ">-\n  folded\n  more\n", "|+\n  kept\n\n\n", "|2-\n   text\n",
        "\n  - a # first\n  # between - them\n  - 'b'\n", "\n- a\n-\n- b\n", "\n  - x: 1\n    y:\n  - - z\n",
        "\n  deep:\n    deeper: [1]\n  # inside\n  other: |\n    text\n", "\n  plain text\n  on two lines\n",
        "[a,\n  # in brackets\n  b\n  ]\n", '"two\n  lines"\n', "&b\n  - a\n", "# below\n  - a\n",
    ]
)  # fmt: skip
_VALUE = st.one_of(st.tuples(st.one_of(_SCALAR, _FLOW), _COMMENT).map(lambda parts: f"{parts[0]}{parts[1]}\n"), _BLOCKS)
_BETWEEN = st.sampled_from(["", "", "\n", "# a comment\n", "\n# one: two\n\n", "#\n"])
_NAMES = st.lists(st.sampled_from(["id", "my key", "'quoted'", "日本", "facts", "x"]), max_size=3, unique=True)
_KEYS = st.sampled_from(["title", "tags", "created", "bead_id", "mine"])
_TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
_NEW = st.one_of(st.just("2026-11-21"), _TEXTS, st.lists(_TEXTS, max_size=3), st.integers(), st.booleans())
_LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
_REST = "---\n\nBody \u2028 text\n---\n"


@st.composite
def _entries(draw: st.DrawFn) -> str:
    return "".join(f"{draw(_BETWEEN)}{name}: {draw(_VALUE)}" for name in draw(_NAMES))


def _readable(text: str) -> bool:
    return not read_frontmatter(split_lines(text)).faults


@given(_entries(), _BETWEEN, _KEYS, _VALUE, _BETWEEN, _LINE_ENDS, _NEW)
def test_with_changes_keeps_every_byte_around_a_changed_key(
    above: str, between: str, key: str, old: str, below: str, newline: str, new: Any
) -> None:
    head, value, rest = f"---\n{above}{between}", f"{key}: {old}", f"{below}x1: y\n{_REST}"
    head, value, rest = (part.replace("\n", newline) for part in (head, value, rest))
    text = head + value + rest
    assume(_readable(text))
    changed = with_changes(text, {key: new})
    assert changed.startswith(f"{head}{key}:")
    assert changed.endswith(rest)
    assert values(changed) == {**values(text), key: new}
    if "|+" not in above:  # it would include the blank lines below the key
        without = with_changes(text, {key: None})
        assert without.startswith(head)
        assert without.endswith(rest)
        assert values(without) == {name: said for name, said in values(text).items() if name != key}


@given(_entries(), _BETWEEN, _KEYS, _LINE_ENDS, _NEW)
def test_with_changes_adds_a_new_key_as_one_line(head: str, last: str, key: str, newline: str, new: Any) -> None:
    text = f"---\n{head}{last}{_REST}".replace("\n", newline)
    assume(_readable(text))
    changed = with_changes(text, {key: new})
    assert "".join(line for line in lines_with_ends(changed) if not line.startswith(f"{key}: ")) == text
    assert values(changed)[key] == new
