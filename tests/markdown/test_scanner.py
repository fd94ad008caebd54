import json
import random
from pathlib import Path

import pytest

from tests.markdown.blocks import difference, documents, random_lines
from tests.seeds import seeds
from tests.tables import tables
from vault_index.markdown import blocks
from vault_index.markdown.normalize import split_lines

CASES = tables(__file__)

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_scanner_blocks_equal_those_of_markdown_it() -> None:
    texts = json.loads((FIXTURES / "commonmark.json").read_text("utf-8"))
    notes = [lines for folder in (FIXTURES, FIXTURES.parent / "docs") for _, lines in documents(folder)]
    assert len(texts) == 652
    assert len(notes) > 50
    wrong = [(lines, said) for lines in (*map(split_lines, texts), *notes) if (said := difference(lines))]
    assert not wrong


@pytest.mark.parametrize("seed", seeds(8))
def test_scanner_matches_markdown_it_on_random_lines(seed: int) -> None:
    source = random.Random(seed)
    made = [random_lines(source) for _ in range(100)]
    assert not [lines for lines in made if difference(lines)]


@pytest.mark.parametrize("lines", CASES["scanner_leaves_unusual_blocks_to_markdown_it"])
def test_scanner_leaves_unusual_blocks_to_markdown_it(lines: list[str]) -> None:
    assert not difference(lines)


def test_scanner_reads_usual_notes_without_markdown_it() -> None:
    text = (
        "# Title #\n\nA *text*, 1.5 of it,\n  over [lines](b.md).\n## List\n- [ ] a\n- **b**\n    - c\n\t- d\n\n  e\n"
        "1. f\n\n2. g\n\n> [!note] h\n> - i\n>\n> j\n\n```py\n# k\n\n- l\n```\n***\n| m | n |\n|---|---|\n| o | |\n"
    )
    spans, code = blocks.scan(split_lines(text), lambda start, end: pytest.fail(f"asked for lines {start} to {end}"))
    assert [(one.start, one.end) for one in spans] == [
        *[(1, 1), (3, 4), (5, 5), (6, 6), (7, 11), (12, 12), (14, 14), (16, 19), (21, 25), (26, 26), (27, 29)]
    ]
    assert [*code] == [range(21, 26)]
    assert spans[0] == (1, 1, 1, "Title")
