import pytest

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
