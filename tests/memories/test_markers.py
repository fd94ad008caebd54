from datetime import datetime

import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.memories.capture.markers import Captured, captures, tag_words

NOW = datetime(2026, 11, 21, 13, 5).astimezone()
CASES = tables(__file__)
NO_TAGS: dict[str, tuple[str, ...]] = {}


def texts(output: str) -> list[str]:
    return [captured.text for captured in captures(output, now=NOW, tag_words=NO_TAGS)]


def one(output: str) -> Captured:
    (captured,) = captures(output, now=NOW, tag_words=tag_words())
    return captured


def test_markers_are_read_in_every_form() -> None:
    port = "the port is 8081"
    assert [form for form in CASES["forms"] if texts(f"Some work.\n\n{form}{port}") != [port]] == []


def test_markers_are_not_found_in_other_texts() -> None:
    assert [output for output in CASES["marks_nothing"] if texts(output)] == []


def test_markers_in_one_text_end_at_a_blank_line_or_the_next() -> None:
    output = (
        "I fixed the build.\n\n*Remember*: the build needs\nlibpq-dev\nand make.\n\nThen I looked further.\n"
        "*Remember*: ports are in `ports.toml`\n*Remember:* not 80\n# Next\n\nDone. *Remember*: one *Remember*: two\n"
    )
    found = captures(output, now=NOW, tag_words=NO_TAGS)
    assert [(each.line, each.text) for each in found] == [
        (3, "the build needs\nlibpq-dev\nand make."),
        (8, "ports are in `ports.toml`"),
        (9, "not 80"),
        (12, "one"),
        (12, "two"),
    ]


def test_markers_end_with_their_block_and_may_omit_the_colon() -> None:
    assert [(output, texts(output)) for output, found in CASES["blocks"] if texts(output) != found] == []


def test_markers_take_tags_from_whole_words() -> None:
    told = {text: one(f"*Remember*: {text}").tags for text, _ in CASES["tags"]}
    wrong = [text for text, tags in CASES["tags"] if bool(tags) != bool(told[text]) or not {*tags} <= {*told[text]}]
    assert [(text, told[text]) for text in wrong] == []


def test_markers_obey_tag_words_of_the_settings() -> None:
    words = tag_words(["Billing: invoice, Stripe  API", "docker: moby", "security:", "project:shop: basket"])
    text = "*Remember*: the Stripe API and docker; moby is a security matter"
    assert captures(text, now=NOW, tag_words=words)[0].tags == ("billing", "docker")


def test_markers_take_an_expiry_from_words() -> None:
    found = {text: one(f"*Remember*: {text}").expires for text in [*CASES["expiry"], *CASES["lasting"]]}
    assert found == CASES["expiry"] | dict.fromkeys(CASES["lasting"])


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("see `a\nb` and\n*Remember*: `c\nd` is one\n", "`c\nd` is one"),
        ("a\r\n\r\n*Remember*: one\r\ntwo\r\n\r\nb", "one\ntwo"),
    ],
)
def test_markers_count_lines_across_code_and_windows_line_ends(output: str, text: str) -> None:
    assert captures(output, now=NOW, tag_words=NO_TAGS) == (Captured(text, 3),)


def test_markers_take_the_type_from_a_label() -> None:
    assert one("*Remember*: **Decision**: use WAL") == Captured("use WAL", 1, type="decision")
    assert one("*Remember* - warning - never use NFS").type == "warning"
    assert one("*Remember*: decisions: three").type is None


def test_markers_take_the_title_from_a_short_first_sentence() -> None:
    titled = one("*Remember*: Deploys run on Mondays.\nThe token is in the vault, valid until Q1 2027.")
    text = "The token is in the vault, valid until Q1 2027."
    assert titled == Captured(text, 1, "Deploys run on Mondays", None, ("deployment",), "2027-03-31")
    assert one("*Remember*: a line that is\nwrapped.").title is None
    assert one("*Remember*: One sentence.").title is None


@given(st.text(alphabet="*_Rremember:>-` \n\r\t~#a1.", max_size=200))
def test_markers_accept_any_text_and_keep_its_lines(output: str) -> None:
    for captured in captures(output, now=NOW, tag_words=NO_TAGS):
        assert 1 <= captured.line <= len(output.splitlines())
        assert captured.text.strip() == captured.text != ""
