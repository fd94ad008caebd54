"""Code spans, comments, links and tags, and plain words."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from vault_index.markdown.inline import MAX_CHARACTERS, code_spans, masked, plain_words
from vault_index.markdown.parse import parse
from vault_index.models import Link


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#a #b\n#c", ["a", "b", "c"]), ("#trailing/ x", ["trailing"]),
        ("#snake_case #kebab-case", ["snake_case", "kebab-case"]), ("#tag, #other. (#not)", ["tag", "other"]),
        ("#1984 #y1984 #2024-01", ["y1984", "2024-01"]), ("#---", []), ("#读书笔记，后面", ["读书笔记"]),
        ("#हिंदी #ไทย", ["हिंदी", "ไทย"]), ("#🎉 #👩‍💻/work", ["🎉", "👩‍💻/work"]), ("Setext #tag\n===", ["tag"]),
        ("| a | #cell |\n|---|---|\n| #x | y |", ["cell", "x"]), ("a#b ##c \\#d", []),
        ("`#code` and `` #more ` ``", []),
        ("    #indented code", []),
        ("[[note #x]] [text #y](z.md) [t](<a #b.md>)", []), ("[[a]]#b `c`#d", []),
        ("https://example.org/ #yes https://example.org/#no", ["yes"]), ('<span class="a #b">x</span> #c', ["c"]),
        ("$a #b$ and $5 #cash $6", ["cash"]), ("$$\n#formula\n$$\n\n#after", ["after"]),
        ("%% #hidden %% #shown", ["shown"]), ("#a`code`", ["a"]),
    ],
)  # fmt: skip
def test_parse_finds_inline_tags(text: str, tags: list[str]) -> None:
    assert list(parse(text, "note").tags) == tags


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[folder/Note.md]]", [Link("folder/Note", "", "", 1)]),
        ("[[Note|shown]]", [Link("Note", "", "shown", 1)]),
        ("[[Note#Part#Deeper|shown]]", [Link("Note", "Part#Deeper", "shown", 1)]),
        ("[[#Part]]", [Link("", "Part", "", 1)]),
        ("![[picture.png|300]]", [Link("picture.png", "", "", 1, True)]),
        ("| [[Note\\|shown]] | [[Other\\|x]] |\n|--|--|", [Link("Note", "", "shown", 1), Link("Other", "", "x", 1)]),
        ("[[a [b]|c [d]]]", [Link("a [b]", "", "c [d", 1)]),
        ("[[]] [[|x]] [[a\nb]] [[open", []),
        ("a\n\n[[b]] and [[c]]\n\n[[d]]", [Link("b", "", "", 3), Link("c", "", "", 3), Link("d", "", "", 5)]),
        ("[text](my%20note.md#Some%20part)", [Link("my note", "Some part", "text", 1)]),
        ('[text](note.md "title")', [Link("note", "", "text", 1)]),
        ("[text](a_(b).md)", [Link("a_(b)", "", "text", 1)]),
        ("[text](note.md?view=x#part)", [Link("note", "part", "text", 1)]),
        ("[**bold** `x`](note.md)", [Link("note", "", "bold x", 1)]),
        ("[a [b] c](note.md)", [Link("note", "", "a [b] c", 1)]),
        ("[wrapped\ntext](note.md)", [Link("note", "", "wrapped text", 1)]),
        ("[![alt](a.png)](page.md)", [Link("a.png", "", "alt", 1, True), Link("page", "", "alt", 1)]),
        ("[a](https://x.org/y.md) [b](mailto:a@b.c) [c](//x.org) [d](obsidian://open)", []),
        ("[a]() [b](two words.md) [c] (d.md)", []),
        ("`[[code]]` ``[a](b.md)``", []),
        ("`a\n\n[[b]] `", [Link("b", "", "", 3)]),
        ("$$\n[[formula]]\n$$", []),
        (r"\[a](b.md) [c\]](d.md)", [Link("d", "", "c]", 1)]),
        ("See [the plan][1].\n\n[1]: plans/The%20plan.md 'Plan'", [Link("plans/The plan", "", "the plan", 1)]),
        (
            "[Note][], [note] and ![pic][P 1]\n\n[note]: <a b.md>\n[p  1]:\n  x.png",
            [Link("a b", "", "Note", 1), Link("a b", "", "note", 1), Link("x.png", "", "pic", 1, True)],
        ),
        ("[x][y] [z]\n\n[y]: https://a.b\n[^z]: a.md\n`[q]: b.md`", []),
        ("[a][b]\n\n[b]: first.md#Part\n[b]: second.md", [Link("first", "Part", "a", 1)]),
        ("- [ ] [[task]]\n  - [[nested]]", [Link("task", "", "", 1), Link("nested", "", "", 2)]),
        ("> [!note] [[a]]\n> [[b]]", [Link("a", "", "", 1), Link("b", "", "", 2)]),
    ],
)
def test_parse_finds_links(text: str, links: list[Link]) -> None:
    assert list(parse(text, "note").links) == links


def test_parse_finds_links_in_properties() -> None:
    document = parse('---\nup: "[[Parent|p]]"\nsee:\n  - "[[Other#x]]"\n---\n[[Body]]\n', "note")
    assert document.links == (Link("Parent", "", "p", 2), Link("Other", "x", "", 4), Link("Body", "", "", 6))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("status:: done", {"status": ["done"]}),
        ("- due date:: 2026-12-01\n- [ ] **owner**:: [[Jo]]", {"due date": ["2026-12-01"], "owner": ["[[Jo]]"]}),
        ("Text [priority:: high] and (rating::5), too.", {"priority": ["high"], "rating": ["5"]}),
        ("[by:: [[Ann]], [[Bob]]]", {"by": ["[[Ann]], [[Bob]]", "[[Ann]]", "[[Bob]]"]}),
        ("> mood:: good\n\nmood:: better", {"mood": ["good", "better"]}),
        ("Größe:: drei", {"Größe": ["drei"]}),
        ("use std::vector and a::b, `x:: y`, [[a::b]]", {}),
        ("status::\n\n:: no key", {}),
        ("```\nstatus:: done\n[a:: b]\n```", {}),
        ("---\nstatus: done\n---\nText", {}),
        ("long:: " + "x" * 501, {}),
    ],
)  # fmt: skip
def test_parse_finds_dataview_fields(text: str, fields: dict[str, list[str]]) -> None:
    assert parse(text, "note").inline == fields


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


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("**Bold** and *italic* and _more_", "Bold and italic and more"), ("**a *b* c**", "a b c"),
        ("==marked== ~~gone~~", "marked gone"), ("snake_case and __init__.py", "snake_case and __init__.py"),
        ("`__init__` of `a*b*c`", "__init__ of a*b*c"), ("2 * 3 * 4", "2 * 3 * 4"), (r"\*kept\*", "*kept*"),
        ("[[folder/Note#Part|shown]]", "shown"), ("[[Note#Part]]", "Note > Part"),
        ("see [the docs](https://example.org/a_(b)) now", "see the docs now"), ("[![alt](image.png)](page.md)", "alt"),
        ("[text][ref] and [ ] box", "text and [ ] box"), ("Note[^1]", "Note"), ("Title ^block-id", "Title"),
        ('<a id="x"></a>Title<br>', "Title"), ("List<string>", "List<string>"), ("R&amp;D", "R&D"), ("", ""),
        ("\0001\0 [[x]]", "1 x"),
    ],
)  # fmt: skip
def test_plain_words_removes_markup_of_a_heading(written: str, words: str) -> None:
    assert plain_words(written) == words


def test_plain_words_cuts_an_endless_heading_at_a_word() -> None:
    words = plain_words("word " * 1000)
    assert len(words) <= MAX_CHARACTERS
    assert words.endswith("word")


@given(st.text(alphabet="ab*_`[]()=~\\^<>&! \n\0" + "0"))
def test_plain_words_accepts_any_text(text: str) -> None:
    words = plain_words(text)
    assert "\n" not in words
    assert words == words.strip()
