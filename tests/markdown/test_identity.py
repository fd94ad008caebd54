import pytest
from hypothesis import given, strategies as st

from vault_index.markdown.normalize import identity

TITLE, SUBTITLE, FACTS, BODY = "Use WAL", "readers never block", ("a fact", "another"), "One line.\n\nAnd another."


@pytest.mark.parametrize(
    ("title", "subtitle", "facts", "body"),
    [
        ("  Use\tWAL ", SUBTITLE, FACTS, BODY),
        (TITLE, "readers  never\nblock", FACTS, BODY),
        (TITLE, SUBTITLE, [" a  fact", "another\n"], BODY),
        (TITLE, SUBTITLE, FACTS, "\nOne line.\r\n\r\nAnd  another.\r\n"),
    ],
)
def test_white_space_does_not_make_another_memory(title: str, subtitle: str, facts: list[str], body: str) -> None:
    assert identity(title, subtitle, facts, body) == identity(TITLE, SUBTITLE, FACTS, BODY)


def test_two_ways_to_write_an_accent_are_one() -> None:
    assert identity("cafe\u0301", "", (), "") == identity("café", "", (), "")


@pytest.mark.parametrize(
    ("title", "subtitle", "facts", "body"),
    [
        ("Use wal", SUBTITLE, FACTS, BODY),
        (TITLE, "", FACTS, BODY),
        (TITLE, SUBTITLE, ("a fact another",), BODY),
        (TITLE, SUBTITLE, FACTS[:1], BODY),
        (TITLE, SUBTITLE, FACTS, BODY + "!"),
        (f"{TITLE} {SUBTITLE}", "", FACTS, BODY),
        (TITLE, SUBTITLE, (), f"a fact another {BODY}"),
    ],
)
def test_what_is_said_and_where_makes_another_memory(title: str, subtitle: str, facts: list[str], body: str) -> None:
    assert identity(title, subtitle, facts, body) != identity(TITLE, SUBTITLE, FACTS, BODY)


@given(st.lists(st.text(), min_size=2, max_size=2), st.lists(st.text(), min_size=2, max_size=2))
def test_fields_do_not_run_into_each_other(one: list[str], other: list[str]) -> None:
    def normal(texts: list[str]) -> list[bytes]:
        return [identity(text, "", (), "") for text in texts]

    assert (identity(one[0], one[1], (), "") == identity(other[0], other[1], (), "")) == (normal(one) == normal(other))
    assert (identity("", "", one, "") == identity("", "", other, "")) == (normal(one) == normal(other))
