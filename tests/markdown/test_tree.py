"""The tree of a note: the parts that a reader sees, and no others."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.markdown import grammar
from vault_index.markdown.tree import Node, destination, tree

CASES = tables(__file__)

TAGS = {
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "del",
    "mark", "sup", "hr", "br", "table", "thead", "tbody", "tr", "th", "td", "a", "img", "callout", "input", "math",
    "tag", "embed",
}  # fmt: skip
ATTRIBUTES = {
    "line", "end", "id", "href", "ref", "src", "alt", "title", "width", "lang", "start", "checked", "align", "kind",
    "name", "display", "fold",
}  # fmt: skip
MARKS = "# *_~=`$[]()!<>|\\\n\t-+1.:/&;%^@{}\"'a\u00e4\u200b\ud83d\0\r"
PIECES = [
    "> ", "- ", "- [ ] ", "1. ", "    ", "\n\n", "\n", "```\n", "| a | b |\n|---|---|\n", "> [!note] ", "# ", "$$\n",
    "%%", "[[", "]]", "![", "](", ")", "<", ">", "javascript:", "JaVa\tscript:", "data:text/html,", "//x.org",
    "https://x.org", "http:#", "mailto:",
    "[^1]", "[^1]: ", "==", "~~", "**", "_", "`", "---\n", "&#106;avascript&colon;", "\ufeff",
    "\0", "\ud83d", "\r\n", "x.png", "|200", "#tag", "[a]: ", "word ",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(), st.text(MARKS), st.lists(st.sampled_from(PIECES) | st.text(MARKS, max_size=3), max_size=60).map("".join)
)


def nodes(inside: list[Node]) -> Iterator[list[Any]]:
    """Every node that is not text."""
    for node in inside:
        if not isinstance(node, str):
            yield node
            yield from nodes(node[2:])


def text_of(node: Node) -> str:
    return node if isinstance(node, str) else "".join(map(text_of, node[2:]))


def drawn(text: str) -> str:
    return "\n".join(map(text_of, tree(text).nodes))


def bare(node: Node) -> Node:
    """The node without its lines."""
    if isinstance(node, str):
        return node
    return [node[0], {key: value for key, value in node[1].items() if key not in ("line", "end")}, *map(bare, node[2:])]


def inline(text: str) -> list[Any]:
    (paragraph,) = tree(text).nodes
    assert paragraph[0] == "p"
    return [bare(node) for node in paragraph[2:]]


def depth(node: Node) -> int:
    deepest, waiting = 0, [(node, 1)]
    while waiting:
        one, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(child, level + 1) for child in one[2:]] if not isinstance(one, str) else []
    return deepest


def check(text: str) -> None:
    found = tree(text)
    json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    assert all(depth(node) <= 100 for node in found.nodes)
    ids = [node[1]["id"] for node in nodes(found.nodes) if "id" in node[1]]
    assert len(ids) == len(set(ids))
    assert {entry["id"] for entry in found.outline} <= set(ids)
    for tag, attributes, *children in nodes(found.nodes):
        assert tag in TAGS
        assert attributes.keys() <= ATTRIBUTES
        assert attributes.get("href", "https:").startswith(("http://", "https://", "mailto:", "https:"))
        assert all(isinstance(value, str | int | bool) for value in attributes.values())
        assert 1 <= attributes.get("line", 1) <= attributes.get("end", attributes.get("line", 1))
        assert tag not in ("img", "input", "br", "hr") or not children
        if tag == "a":
            assert "a" not in [inner[0] for inner in nodes(children)]


@given(TEXTS)
def test_tree_contains_only_whitelisted_nodes(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        ">" * 3_000 + "end", "> - " * 1_000 + "end", "- " * 800 + "end", "*a **b " * 1_000 + "**c* " * 1_000 + "end",
        "![" * 300 + "](u)" * 300 + "end", "[" * 3_000 + "end", "=" * 9_000 + "end",
        "\n".join("  " * level + "- x" for level in range(200)) + "end",
    ],
    ids=["quotes", "both", "lists", "emphasis", "images", "brackets", "equals", "indented"],
)  # fmt: skip
def test_tree_turns_deep_nesting_into_text(text: str) -> None:
    check(text)
    assert "end" in drawn(text)


WORDS = st.text("abcdefghäöü漢", min_size=1, max_size=8)


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_tree_loses_no_word(words: list[str]) -> None:
    lines, row = "\n".join(words), " | ".join(words)
    for text in (
        lines, "\n\n".join(words), "\n".join(f"- {word}" for word in words), "\n".join(f"> {word}" for word in words),
        "\n".join(f"{'  ' * level}- {word}" for level, word in enumerate(words)),
        f"```\n{lines}\n```", f"~~~ text\n{lines}", "\n".join(f"    {word}" for word in words),
        f"<div>\n{lines}\n</div>", f"> [!tip] {row}\n> {lines}",
        f"| {row} |\n|{'---|' * len(words)}\n| {row} |", f"$$\n{lines}\n$$", f"[^n]: {lines}",
        "\n".join(f"# {word}" for word in words),
    ):  # fmt: skip
        shown = " ".join(json.dumps(tree(text).nodes, ensure_ascii=False).replace("\\n", " ").split('"'))
        for word in words:
            assert word in shown


@pytest.mark.parametrize(("text", "expected"), CASES["tree_renders_inline_text"])
def test_tree_renders_inline_text(text: str, expected: list[Node]) -> None:
    assert inline(text) == expected


@pytest.mark.parametrize(("text", "expected"), CASES["tree_renders_blocks"])
def test_tree_renders_blocks(text: str, expected: Node) -> None:
    assert [bare(node) for node in tree(text).nodes] == [expected]


def test_tree_blocks_have_their_lines_in_the_file() -> None:
    text = (
        "---\nt: x\n---\r\n\r\n# a\r\nb\nc\n\n- d\n- e\n\n  f\n\n\n| g |\n|---|\n| h |\n\n> [!note]\n> i\n\n%% j\n%%\n"
    )
    places = [(tag, at["line"], at["end"]) for tag, at, *_ in nodes(tree("\ufeff" + text).nodes) if "line" in at]
    assert places == [
        ("h1", 5, 5), ("p", 6, 7), ("ul", 9, 12), ("li", 9, 9), ("p", 9, 9), ("li", 10, 12), ("p", 10, 10),
        ("p", 12, 12), ("table", 15, 17), ("tr", 15, 15), ("tr", 17, 17), ("callout", 19, 20), ("p", 20, 20),
    ]  # fmt: skip


def test_tree_headings_have_unique_ids_and_an_outline() -> None:
    found = tree("# One **Two**\n## One two\n> # quoted\n\n### 漢字\n\n## &\nSetext\n---\n## constructor\n")
    assert [(node[0], node[1]["id"]) for node in nodes(found.nodes) if "id" in node[1]] == [
        ("h1", "h-one-two"), ("h2", "h-one-two-2"), ("h1", "h-quoted"), ("h3", "h-漢字"), ("h2", "h-"),
        ("h2", "h-setext"), ("h2", "h-constructor"),
    ]  # fmt: skip
    assert found.outline[1] == {"level": 2, "text": "One two", "id": "h-one-two-2", "line": 2}
    assert [entry["line"] for entry in found.outline] == [1, 2, 5, 7, 8, 10]


def test_tree_hides_block_ids() -> None:
    found = tree("Said. ^id\n\n^other\n\n2 ^ 3")
    assert [bare(node) for node in found.nodes] == [["p", {}, "Said."], ["p", {}, "2 ^ 3"]]


def test_tree_puts_footnotes_at_the_end() -> None:
    found = tree("a[^1] b\n[^1]: https://x.org\n[^long]: *c*\n  d\n\ne")
    assert [bare(node) for node in found.nodes] == [
        ["p", {}, "a", ["sup", {}, "1"], " b"],
        ["p", {}, "e"],
        ["p", {}, ["sup", {}, "1"], " ", ["a", {"href": "https://x.org"}, "https://x.org"]],
        ["p", {}, ["sup", {}, "long"], " ", ["em", {}, "c"], "\nd"],
    ]


def test_tree_links_lead_to_web_mail_or_the_vault() -> None:
    leading = {
        "https://x.org/a b": {"href": "https://x.org/a%20b"},
        "HTTP://x.org": {"href": "http://x.org"},
        " \x01https://x.org": {"href": "https://x.org"},
        "mailto:a@b.c": {"href": "mailto:a@b.c"},
        "../a%20b.md?x=1#c%20d": {"ref": "../a b.md#c d"},
    }
    nowhere = (
        "javascript:alert(1)", "JaVa\tScRiPt:alert(1)", "\x01javascript:alert(1)", "java\nscript:alert(1)",
        "javascript%3Aalert(1)", "vbscript:x", "data:text/html,x", "file:///etc/passwd", "obsidian://open?vault=x",
        "blob:https://x.org/1", "//x.org/a", "%2F%2Fx.org", "http:#/tokens", "https:/tokens", "http:\\\\x.org",
        "http:///x.org", "https://" + "x" * 3000, "", "#",
    )  # fmt: skip
    assert {address: destination(address) for address in leading} == leading
    assert [address for address in nowhere if destination(address) is not None] == []


def test_tree_keeps_the_words_of_an_unsafe_link() -> None:
    for text in (
        "[w](javascript:x)", "[w](&#106;avascript&colon;x)", "[w][r]\n\n[r]: data:x", "[w]( <java\tscript:x> )",
    ):  # fmt: skip
        assert inline(text) == ["w"], text
    assert inline("<javascript:x> <data:y>") == ["javascript:x data:y"]


def test_tree_limits_a_definition_used_on_every_line() -> None:
    text = f"[a]: http://x.org/{'y' * 1900}\n\n" + "[a] " * 5_000
    found = tree(text)
    assert len(json.dumps(found)) < 2_000_000
    assert text_of(found.nodes[0]).count("a") == 5_000


def test_tree_limits_tables_with_missing_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "_CELLS", 2_000)
    table = "a|" * 64 + "\n" + "-|" * 64 + "\n" + "b\n" * 64 + "\n"
    assert sum(1 for _ in nodes(tree(table * 20).nodes)) < 30_000


def test_tree_shows_too_many_lines_as_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "MAX_LINES", 50)
    warning, *shown = tree("# a\n\nb *c*\n\n" + "e\n\n" * 50).nodes
    assert list(warning[:1]) == ["callout"]
    assert list(map(bare, shown[:2])) == [["p", {}, "# a"], ["p", {}, "b *c*"]]
