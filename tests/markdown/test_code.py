from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from vault_index.markdown.code import code_spans, masked


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a `b` c", ["`b`"]), ("`a` `b`", ["`a`", "`b`"]), ("``a ` b`` c", ["``a ` b``"]), ("`a``b`", ["`a``b`"]),
        ("``a` b", []), ("`a\nb` c", ["`a\nb`"]), ("`a\n\nb`", []), ("- `a\n- b`", []), ("> `a\n> b`", ["`a\n> b`"]),
        (r"\`a` b`", ["` b`"]), (r"`a\` b", [r"`a\`"]), (r"\\`a`", ["`a`"]),
    ],
)  # fmt: skip
def test_code_spans_finds_inline_code(text: str, code: list[str]) -> None:
    assert [text[start:end] for start, end in code_spans(text)] == code


@given(st.text(alphabet="`a \n\\-"))
def test_code_spans_are_in_order_and_masking_keeps_offsets(text: str) -> None:
    spans = code_spans(text)
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert len(masked(text, spans)) == len(text)
