from datetime import datetime

from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.memories.capture.markers import Captured, tag_words, with_tags_and_expiry
from vault_index.memories.capture.statements import PASTED, statements

CASES = tables(__file__)


def test_statements_differ_from_texts_that_sound_alike() -> None:
    assert [message for message in CASES["kept"] if len(statements(message)) != 1] == []
    assert [message for message in CASES["passed_over"] if statements(message)] == []


def test_statements_of_held_out_messages_are_found() -> None:
    """Precision is at least 0.90 and recall 0.65."""
    assert sum(bool(statements(message)) for message in CASES["held_out_kept"]) >= 26
    assert sum(bool(statements(message)) for message in CASES["held_out_passed_over"]) <= 3


def test_statements_keep_sentence_line_and_type() -> None:
    message = (
        "The build is broken. Ok, we decided to use **WAL mode** in `store.py`. Can you fix it?\r\n"
        "\r\n"
        "- Never mock the database!\r\n"
        "- please remember that Ann's tests need i.e. e.g. `docker`, see above.  Thanks.\r\n"
        "I prefer ‘small’ commits"
    )
    assert statements(message) == (
        Captured("we decided to use WAL mode in `store.py`.", 1, type="decision"),
        Captured("Never mock the database!", 3, type="pattern"),
        Captured("Ann's tests need i.e. e.g. `docker`, see above.", 4, type="note"),
        Captured("I prefer ‘small’ commits", 5),
    )


def test_statements_may_be_wrapped_and_short_lines_stand_alone() -> None:
    message = (
        "After a long meeting about how to store our embeddings, we all\n"
        "agreed to keep them in a file\n"
        "fix the tests\nalways use pnpm\nthanks"
    )
    assert [(each.line, each.text) for each in statements(message)] == [
        (1, "After a long meeting about how to store our embeddings, we all agreed to keep them in a file"),
        (4, "always use pnpm"),
    ]


def test_statements_are_unique() -> None:
    assert len(statements("Never force push.\n\nnever force push.")) == 1


def test_statements_ignore_a_pasted_document() -> None:
    rule = "Always run the tests.\n\n"
    assert statements(rule)
    assert statements(rule + "x" * PASTED) == ()


def test_statements_get_tags_and_expiry_like_marked_text() -> None:
    (stated,) = statements("We decided to pin docker until March 2027.")
    described = with_tags_and_expiry(stated, now=datetime(2026, 11, 21).astimezone(), tag_words=tag_words())
    assert described.tags == ("docker",)
    assert described.expires == "2027-03-31"


WORDS = st.sampled_from(
    ["we ", "decided ", "always ", "İ", "never ", '"', "`", "'", ", ", ". ", "\n", "- ", "use it", "if "]
)


@given(st.text(max_size=80) | st.lists(WORDS, max_size=20).map("".join))
def test_statements_of_any_message_stand_in_it(message: str) -> None:
    for stated in statements(message):
        assert 1 <= stated.line <= message.count("\n") + message.count("\r") + 1
        assert stated.text == stated.text.strip() != ""
        assert set(stated.text.split()) <= set(message.replace("*", "").split())
