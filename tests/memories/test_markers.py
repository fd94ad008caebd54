from datetime import date

import pytest
from hypothesis import given, strategies as st

from vault_index.memories.capture.markers import Captured, captures, tag_words

TODAY = date(2026, 11, 21)
NO_TAGS: dict[str, tuple[str, ...]] = {}


def texts(output: str) -> list[str]:
    return [captured.text for captured in captures(output, today=TODAY, tag_words=NO_TAGS)]


def one(output: str) -> Captured:
    (captured,) = captures(output, today=TODAY, tag_words=tag_words())
    return captured


@pytest.mark.parametrize(
    "marker",
    [
        "*Remember*: ", "**Remember**: ", "*Remember:* ", "**Remember:** ", "*remember* - ", "*Remember* — ",
        "_Remember_: ", "__Remember__: ", "***REMEMBER***: ", "*Remember* : ", "*Remember*:", "*Remember*:\n",
        "- *Remember*: ", "* **Remember**: ", "1. *Remember*: ", "- [ ] *Remember*: ", "  - *Remember:* ",
        "> *Remember*: ", "> > - **Remember**: ", "Done. *Remember*: ", "(note) *Remember*: ",
    ],
)  # fmt: skip
def test_ways_to_mark_a_memory(marker: str) -> None:
    assert texts(f"Some work.\n\n{marker}the port is 8081") == ["the port is 8081"]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("*Remember* the deploy is on Tuesday", "the deploy is on Tuesday"),
        ("**Remember** that the deploy is on Tuesday.", "the deploy is on Tuesday."),
        ("Done. *Remember* deploys are on Tuesday.", "deploys are on Tuesday."),
        ("- [ ] _remember_ `make db` comes first\n- Next", "`make db` comes first"),
        ("> *Remember* the deploy\n> is on Tuesday\n\nNext.", "the deploy\nis on Tuesday"),
    ],
)
def test_a_marker_needs_no_colon_where_a_sentence_begins(output: str, text: str) -> None:
    assert texts(output) == [text]


@pytest.mark.parametrize(
    "output",
    [
        "",
        "Do you *remember* the deploy on Tuesday?",
        "*Remember* the deploy on Tuesday?",
        "I *remember* the deploy on Tuesday",
        "*Remember* when we deployed on Tuesday",
        "**Remember** not to push",
        "*Remember* me",
        "| *Remember* | the deploy |",
        "Remember: run the tests",
        "Please remember to run the tests",
        "*Remember* to run the tests",
        "*Remember*-me cookies are off",
        "*Remembered*: it",
        "Write `*Remember*: fact` to keep it.",
        "Write ``*Remember*: a `fact` `` to keep it.",
        'Agents write "*Remember*: fact" to keep it.',
        "```\n*Remember*: not this\n```",
        "~~~markdown\n\n*Remember*: not this\n\n~~~",
        "- item:\n  ````\n  ```\n  *Remember*: not this\n  ````",
        "> ```\n> *Remember*: not this\n> ```",
        "```\n*Remember*: the fence never ends",
        "*Remember*: …",
        "*Remember*: ...",
        "*Remember*: <the fact>",
        "*Remember*: [one fact]",
        "*Remember*:",
        "*Remember*:\n\nA paragraph of its own.",
        "a*Remember*: b",
    ],
)
def test_what_marks_nothing(output: str) -> None:
    assert texts(output) == []


def test_several_in_one_text_each_up_to_a_blank_line_or_the_next() -> None:
    output = (
        "I fixed the build.\n\n*Remember*: the build needs\nlibpq-dev\nand make.\n\nThen I looked further.\n"
        "*Remember*: ports are in `ports.toml`\n*Remember:* not 80\n# Next\n\nDone. *Remember*: one *Remember*: two\n"
    )
    found = captures(output, today=TODAY, tag_words=NO_TAGS)
    assert [(each.line, each.text) for each in found] == [
        (3, "the build needs\nlibpq-dev\nand make."),
        (8, "ports are in `ports.toml`"),
        (9, "not 80"),
        (12, "one"),
        (12, "two"),
    ]


def test_code_that_goes_over_lines_moves_nothing() -> None:
    found = captures("see `a\nb` and\n*Remember*: `c\nd` is one\n", today=TODAY, tag_words=NO_TAGS)
    assert found == (Captured("`c\nd` is one", 3),)


def test_windows_lines_are_counted_like_others() -> None:
    found = captures("a\r\n\r\n*Remember*: one\r\ntwo\r\n\r\nb", today=TODAY, tag_words=NO_TAGS)
    assert found == (Captured("one\ntwo", 3),)


def test_in_a_list_a_memory_ends_with_its_item_but_keeps_what_is_nested() -> None:
    output = "- *Remember*: deploys need\n  two steps\n  - build\n  - push\n- another item\n  *Remember*: third\n* x"
    assert texts(output) == ["deploys need\ntwo steps\n- build\n- push", "third\n* x"]


def test_a_list_may_follow_a_marker() -> None:
    assert texts("*Remember*: two ports\n- 80\n- 443\n- *Remember*: three") == ["two ports\n- 80\n- 443", "three"]


def test_a_quote_ends_where_it_is_no_longer_quoted() -> None:
    assert texts("> *Remember*: quoted\n> still\nno longer\n\n> *Remember*: a\n>\n> b") == ["quoted\nstill", "a"]


def test_a_fence_after_a_marker_belongs_to_it_with_its_blank_lines() -> None:
    output = "*Remember*: start it with\n```sh\nmake\n\n*Remember*: no\n```\nand wait\n\nend"
    assert texts(output) == ["start it with\n```sh\nmake\n\n*Remember*: no\n```\nand wait"]


def test_emphasis_around_the_whole_is_taken_off() -> None:
    assert texts("**Remember: use *one* lock** always") == ["use *one* lock always"]
    assert texts("*Remember: one* *Remember*: **two**") == ["one", "**two**"]


def test_the_same_fact_twice_is_one() -> None:
    assert texts("*Remember*: Use  WAL\n\n*Remember*: use\nwal\n\n*Remember*: use wal2") == ["Use  WAL", "use wal2"]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("docker-compose up needs the k8s context off", ("docker", "kubernetes")),
        ("Postgres was slow until the index was there", ("postgresql", "database", "performance")),
        ("npm ci fails behind the proxy", ("nodejs", "ci", "troubleshooting", "networking")),
        ("the flake.nix of NixOS pins nixpkgs", ("nixos",)),
        ("use git rebase, not merge", ("git",)),
        ("the digital twin is legit and dockers strike", ()),
        ("Environment\nvariables are read first", ("configuration",)),
        ("`psql` needs secrets in `.env`", ("postgresql", "security", "configuration")),
    ],
)
def test_tags_are_told_by_whole_words(text: str, tags: tuple[str, ...]) -> None:
    found = one(f"*Remember*: {text}").tags
    assert set(found) >= set(tags)
    assert not (tags == () and found)


def test_words_of_ones_own_add_override_and_switch_off() -> None:
    words = tag_words(["Billing: invoice, Stripe  API", "docker: moby", "security:", "project:shop: basket"])
    found = captures("*Remember*: the Stripe API and docker; moby is a security matter", today=TODAY, tag_words=words)[
        0
    ].tags
    assert found == ("billing", "docker")


@pytest.mark.parametrize(
    ("text", "expires"),
    [
        ("the freeze is valid until March 2027", "2027-03-31"),
        ("**Valid until:** 2027-02-01 only", "2027-02-01"),
        ("the certificate expires 2027-02-01", "2027-02-01"),
        ("the certificate expires on Feb 1, 2027, then renew", "2027-02-01"),
        ("no deploys until next friday, because of the audit", "2026-11-27"),
        ("use the old endpoint till tomorrow.", "2026-11-22"),
        ("use the mirror until Q2 2027", "2027-06-30"),
        ("key rotation (expires in 3 months)", "2027-02-21"),
        ("Use the fork. Expires in 2 weeks.", "2026-12-05"),
        ("Expires: 90 days", "2027-02-19"),
        ("valid for 2 weeks: use the fork", "2026-12-05"),
        ("the flag is on until end of year", "2026-12-31"),
        ("this is a temporary fix", "2027-02-19"),
        ("CI is temporarily pinned to node 20", "2027-02-19"),
        ("temporary: use port 8081 until 2026-12-24", "2026-12-24"),
        ("the office is closed through Friday", "2026-11-27"),
        ("the certificate is valid through March 2027.", "2027-03-31"),
        ("the freeze runs through March 31, 2028, then we deploy", "2028-03-31"),
        ("valid thru 2027-03-01 only", "2027-03-01"),
        ("no deploys through the end of the year because of the audit", "2026-12-31"),
        ("API freeze, Q2 2027", "2027-06-30"),
        ("Q2 2027: prices are frozen", "2027-06-30"),
        ("use the old gateway (2027-Q2)", "2027-06-30"),
        ("use the old gateway Q2 2027", "2027-06-30"),
        ("it was slow until 2024-01-01, and stays on until May 2027", "2027-05-31"),
        # what does not end
        ("run it through Friday's script", None),
        ("requests go through Q4 gateways", None),
        ("data flows through 2 queues", None),
        ("CI is slow Monday through Thursday", None),
        ("it was slow through 2024", None),
        ("we planned the move in Q2 2027", None),
        ("the launch is planned for Q2 2027.", None),
        ("the Q2 2027 report is in the wiki", None),
        ("it was so in Q2 2024", None),
        ("wait until the release is out", None),
        ("tokens expire in 7 days", None),
        ("sessions are valid for 2 weeks", None),
        ("it was broken until 2024-01-01", None),
        ("a temporary fix until March 2024", None),
        ("write to a temporary file first", None),
        ("uploads go to the temporary upload directory", None),
        ("the workaround is no longer temporary", None),
        ("run `expire until 2027-02-01`", None),
        ("the release of 2027-02-01 may slip", None),
        ("it never expires", None),
        ("retry until 5", None),
    ],
)
def test_expiry_is_taken_from_words_that_say_it(text: str, expires: str | None) -> None:
    assert one(f"*Remember*: {text}").expires == expires


def test_a_label_says_the_type() -> None:
    assert one("*Remember*: **Decision**: use WAL") == Captured("use WAL", 1, type="decision")
    assert one("*Remember* - warning - never use NFS").type == "warning"
    assert one("*Remember*: decisions: three").type is None


def test_a_short_first_sentence_is_the_title_of_what_follows() -> None:
    titled = one("*Remember*: Deploys run on Mondays.\nThe token is in the vault, valid until Q1 2027.")
    assert titled == Captured(
        "The token is in the vault, valid until Q1 2027.",
        1,
        "Deploys run on Mondays",
        None,
        ("deployment",),
        "2027-03-31",
    )
    assert one("*Remember*: a line that is\nwrapped.").title is None
    assert one("*Remember*: One sentence.").title is None


@given(st.text(alphabet="*_Rremember:>-` \n\r\t~#a1.", max_size=200))
def test_any_text_is_read_and_every_line_is_in_it(output: str) -> None:
    for captured in captures(output, today=TODAY, tag_words=NO_TAGS):
        assert 1 <= captured.line <= len(output.splitlines())
        assert captured.text.strip() == captured.text != ""


def test_a_long_text_of_markers_and_backticks_is_read_in_one_go() -> None:
    output = "*Remember*: x`\n" * 20_000
    assert texts(output) == ["x`"]
