import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from vault_index.markdown.canvas import parse_canvas
from vault_index.markdown.chunk import chunk
from vault_index.models import Link

NODES: list[dict[str, Any]] = [
    {"id": "b2", "type": "text", "text": "# Plan\nwith [[Note|words]] #Tag\n\n`#code`", "x": 0},
    {"id": "f1", "type": "file", "file": "folder/Note.md", "subpath": "#Part"},
    {"id": "f2", "type": "file", "file": "picture.png"},
    {"id": "l1", "type": "link", "url": "https://example.org"},
    {"id": "g1", "type": "group", "label": "Group"},
    {"id": "b3", "type": "text", "text": 'the id "b2" of another %%hidden%%'},
]


def as_obsidian_writes(nodes: list[dict[str, Any]]) -> str:
    lines = ",\n".join("\t\t" + json.dumps(node, ensure_ascii=False) for node in nodes)
    return '{\n\t"nodes":[\n' + lines + '\n\t],\n\t"edges":[\n\t\t{"id":"e1","fromNode":"b2","toNode":"b3"}\n\t]\n}'


def test_canvas_cards_have_the_line_of_their_node() -> None:
    document = parse_canvas(as_obsidian_writes(NODES), "Board")
    assert [(block.start_line, block.end_line, block.text) for block in document.blocks] == [
        (3, 3, "# Plan"), (3, 3, "with [[Note|words]] #Tag"), (3, 3, "`#code`"), (8, 8, 'the id "b2" of another '),
    ]  # fmt: skip
    assert document.blocks[1].headings == ("Plan",)
    assert document.tags == ("tag",)
    assert document.links == (
        Link("Note", "", "words", 3),
        Link("folder/Note", "Part", "", 4, True),
        Link("picture.png", "", "", 5, True),
    )
    assert (document.title, document.title_in_text) == ("Board", False)
    assert document.line_count == 13
    assert document.faults == ()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_canvas_in_another_json_style_has_its_lines_too(end: str) -> None:
    text = json.dumps({"edges": [{"text": "no card"}], "nodes": NODES}, indent=2).replace("\n", end)
    lines = text.split(end)
    document = parse_canvas("\ufeff" + text, "Board")
    assert ['"id": "b2"' in lines[block.start_line - 1] for block in document.blocks[:3]] == [True] * 3
    assert '"id": "b3"' in lines[document.blocks[3].start_line - 1]
    assert '"id": "f2"' in lines[document.links[2].line - 1]


def test_canvas_cards_become_chunks_with_blank_lines_between_blocks() -> None:
    (piece,) = chunk(parse_canvas(as_obsidian_writes([{"id": "a", "text": "one\n\ntwo"}]), "Board"), 400, 80)
    assert (piece.start_line, piece.end_line, piece.text) == (3, 3, "one\n\ntwo")


@pytest.mark.parametrize(
    ("text", "line"),
    [('{\r"nodes": [\r  {"id": 1,}\r]}', 3), ("{} x", 1), ("[" * 100_000, 1), ('{"nodes": ' + "9" * 5000 + "}", 1)],
)
def test_canvas_reports_broken_json_with_its_line(text: str, line: int) -> None:
    document = parse_canvas(text, "Board")
    assert [(fault.code, fault.line) for fault in document.faults] == [("canvas", line)]
    assert document.blocks == ()


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '{"nodes": 1}', '{"nodes": [1, null, [], {}, {"text": 5}, {"file": 5}]}']
)
def test_canvas_without_cards_has_no_blocks(text: str) -> None:
    document = parse_canvas(text, "Board")
    assert (document.blocks, document.links, document.faults) == ((), (), ())


@given(st.text(alphabet='{}[]":, \n\\anodestx1'))
def test_canvas_accepts_any_text(text: str) -> None:
    parse_canvas(text, "Board")
