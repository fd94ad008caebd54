"""Compare the blocks of the line scanner with those of markdown-it, and their speed.

    python -m benchmarks.blocks [FOLDER...] [--random N] [--seed N]

Compares every markdown file of the folders, and N random documents of lines that change their
meaning with their neighbours. Prints the first difference of each document, and exits with 1 if
there is one.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from vault_index.markdown.blocks import DOLLARS, parsed
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.markdown.normalize import split_lines
from vault_index.markdown.scanner import Spans, scan

_INDENTS = [
    "",
    "",
    "",
    " ",
    "  ",
    "   ",
    "    ",
    "     ",
    "      ",
    "\t",
    " \t",
    "  \t",
    "\t\t",
    " " * 8,
    " " * 18,
]
_MARKS = [
    *[
        "",
        "",
        "",
        "- ",
        "* ",
        "+ ",
        "-",
        "*",
        "1. ",
        "2. ",
        "1) ",
        "01. ",
        "10. ",
        "123456789. ",
        "1234567890. ",
    ],
    *[
        "-\t",
        "-  ",
        "-     ",
        "-    ",
        "1.",
        "- - ",
        "- 1. ",
        "> ",
        ">",
        ">> ",
        ">     ",
        ">\t",
        "# ",
        "## ",
        "#",
    ],
    *["#######", "#### ", "- [ ] ", "- [x] "],
]
_TEXTS = [
    *[
        "text",
        "a b c",
        "[a]: b",
        "[a]:",
        "[foo",
        "]: url",
        "b]: c 'd",
        "[x](y)",
        "[[w]]",
        "# h",
        "## h ##",
        "#tag",
    ],
    *[
        "```",
        "````",
        "```py",
        "``` a`b",
        "~~~",
        "~~~~ x",
        "~~",
        "`code`",
        "``x``",
        "---",
        "***",
        "___",
        "- - -",
    ],
    *[
        "* * *",
        "_ _ _",
        "--",
        "===",
        "=",
        "== x ==",
        "==hl==",
        "| a | b |",
        "|---|---|",
        "| - | - |",
        "|-|",
        "--|--",
    ],
    *[
        ":--|--:",
        "|",
        "| |",
        "a | b",
        "<div>",
        "</div>",
        "<br>",
        "<!-- c -->",
        "<!--",
        "-->",
        "<pre>",
        "</pre>",
    ],
    *[
        "<script>",
        "</script>",
        "<b>x</b>",
        "<https://a.b>",
        "<?",
        "?>",
        "<!X",
        ">",
        "<![CDATA[",
        "]]>",
        "\\",
        "\\# x",
    ],
    *[
        "**b** c",
        "*i* c",
        "_i_",
        "*",
        "**",
        "+",
        "+x",
        "-x",
        "--x",
        "1",
        "12",
        "1.5 x",
        "1.) x",
        "2024-01-01",
        "3) x",
    ],
    *[
        "\u00a0",
        "\u00a0x",
        "\x0c",
        "\u2028x",
        ":",
        "::: note",
        ":smile:",
        "$x$",
        "!",
        "![i](j)",
        "(x)",
        '"q"',
        "'t'",
    ],
    *[
        "[^1]: note",
        "'title'",
        '"title',
        'end"',
        "\u4e00\u4e8c",
        "\ud800",
        "x\\",
        "&amp;",
        "text  ",
        "text\t",
        "  ",
    ],
]
_ENDS = ["", "", " ", "  ", "\t", " x", " #", "|"]
_USUAL = [
    *[
        "```",
        "~~~",
        "- a",
        "- b",
        "  c",
        "text",
        "",
        "",
        "",
        "",
        "# h",
        "1. a",
        "2. b",
        "> q",
        "| a | b |",
    ],
    *["|---|---|", "    code", "<div>", "---", "   - x", "\t- y"],
]


def random_lines(source: random.Random) -> list[str]:
    """A document of at most forty lines."""
    return [_line(source) for _ in range(source.choice([2, 3, 4, 6, 10, 20, 40]))]


def _line(source: random.Random) -> str:
    kind = source.random()
    if kind < 0.45:
        return source.choice(_USUAL) if kind > 0.22 else ""
    twice = source.choice(_MARKS) if kind > 0.92 else ""
    return "".join(
        (*map(source.choice, (_INDENTS, _MARKS)), twice, *map(source.choice, (_TEXTS, _ENDS)))
    )


def difference(lines: Sequence[str]) -> str:
    """Return the first difference; empty if there is none. Blank lines count as code in neither."""
    if any(DOLLARS in line or "\0" in line for line in lines):
        return ""  # the scanner is not asked
    try:
        expected = whole(lines)
    except RecursionError:
        return ""
    found = scan(lines, partial(parsed, lines))
    for ours, theirs in zip(_said(found, lines), _said(expected, lines), strict=True):
        if wrong := sorted(set(ours) ^ set(theirs), key=str):
            return f"{wrong[0]}: {'scanner' if wrong[0] in ours else 'markdown-it'} alone"
    return ""


def whole(lines: Sequence[str]) -> Spans:
    """What markdown-it makes of a document."""
    found = parsed(lines, 0, len(lines))
    assert found is not None
    return found


def _said(
    spans: Spans, lines: Sequence[str]
) -> tuple[Sequence[tuple[object, ...]], Sequence[tuple[int]]]:
    code = (number for block in spans[1] for number in block if number <= len(lines))
    return spans[0], [(number,) for number in code if lines[number - 1].strip()]


def documents(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Markdown files with their lines, the frontmatter blanked out."""
    for file in sorted(folder.rglob("*.md")):
        lines = split_lines(file.read_text("utf-8", "replace").removeprefix("\ufeff"))
        front = read_frontmatter(lines).lines
        yield str(file), [""] * front + lines[front:]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="*")
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    source = random.Random(options.seed)
    made = ((f"random {number}", random_lines(source)) for number in range(options.random))
    readers: list[Callable[[list[str]], Spans]] = [
        whole,
        lambda lines: scan(lines, partial(parsed, lines)),
    ]
    count, differing, seconds = 0, 0, [0.0, 0.0]
    for given in (*map(documents, options.folder), made):
        for name, lines in given:
            if different := difference(lines):
                print(f"{name}: {different}")
            count, differing = count + 1, differing + bool(different)
            if given is not made:
                for at, read in enumerate(readers):
                    began = time.process_time()
                    read(lines)
                    seconds[at] += time.process_time() - began
    print(
        f"{count:,} documents, {differing} differ; markdown-it {seconds[0]:.2f} s, "
        f"scanner {seconds[1]:.2f} s"
    )
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
