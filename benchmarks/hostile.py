"""Measure time and index size of 73 files that are made to take long or fill the disk.

python -m benchmarks.hostile [--only TEXT]
"""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import arguments
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config

MB = 1_000_000
FREE = 2 * MB


def files() -> Iterator[tuple[str, str]]:
    """What each is, and its text."""
    prose = "a few words of prose that say little. " * 26_000
    n = 200_000
    short = "".join(f"###### h{i}\n\nx\n\n" for i in range(60_000))
    yield from (
        ("one line of 5 MB", "x" * 5 * MB), ("one line of 5 MB of words", "word " * MB),
        ("a million blank lines", "\n" * MB), ("a million lines of one letter", "a\n" * MB),
        ("a tag of 200 kB", f"#{'t' * n}\n\n{prose}"),
        ("a frontmatter tag of 60 kB", f"---\ntags: [{'t' * 60_000}]\n---\n{prose}"),
        ("100,000 tags", " ".join(f"#t{i}" for i in range(100_000))),
        ("a tag with 60,000 parts", "#" + "a/" * 60_000 + "b\n\n" + prose),
        ("a title of 60 kB", f"---\ntitle: {'t ' * 30_000}\n---\n{prose}"),
        ("a heading of 200 kB", f"# {'t ' * 100_000}\n\n{prose}"),
        ("an underlined paragraph of 1 MB", "word " * n + "\n===\n\n" + prose),
        ("100,000 headings", "".join(f"# h{i}\n\nx\n\n" for i in range(100_000))),
        (
            "six long headings over 60,000 short ones",
            "".join(f"{'#' * i} {'long ' * 99}\n\n" for i in range(1, 6)) + short,
        ),
        ("long aliases over short sections", f"---\naliases: [{'alias ' * 9_000}]\n---\n" + short),
        (
            "many fields over short sections",
            "---\n" + "".join(f"k{i}: v{i}\n" for i in range(4_000)) + "---\n" + short,
        ),
        (
            "100,000 keys of frontmatter",
            "---\n" + "".join(f"k{i}: v\n" for i in range(100_000)) + "---\nx",
        ),
        (
            "a bomb of YAML aliases",
            "---\na: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip(
                "abcdefgh", "bcdefghi", strict=True,
            ))
            + "---\nx",
        ),
        ("frontmatter of 60,000 brackets", f"---\na: {'[' * 60_000}\n---\nx"),
        (
            "frontmatter nested by indentation",
            "---\n" + "".join(f"{' ' * i}a:\n" for i in range(330)) + "---\nx",
        ),
        ("frontmatter without an end", "---\n" + "a: b\n" * n),
        ("broken frontmatter with many entries", "---\n" + "a: b: c\n" * 8_000 + "---\nx"),
        ("spaces behind a key", "---\na: b: c\nd:" + " " * 60_000 + "\n---\nx"),
        ("rules", "---\n" * n),
        ("lists, nested", "".join(f"{'  ' * min(i, 1_000)}- a\n" for i in range(1_500))),
        ("lists, nested on one line", "- " * n + "a"), ("a list of 200,000 items", "- a\n" * n),
        ("numbers, nested on one line", "1. " * n + "a"), ("quotes, nested", ">" * n + " a"),
        ("quotes, nested, on many lines", (">" * 1_000 + " a\n") * 500),
        ("quotes and lists in turn", "> - " * 100_000 + "a"),
        ("callouts", "> [!note] a\n" * 100_000), ("opening brackets", "[" * MB),
        ("opening brackets with words", "[a " * 300_000), ("closing brackets", "]" * MB),
        ("brackets, nested", "[" * n + "a" + "]" * n),
        ("wikilinks without an end", "[[a" * 300_000),
        ("200,000 wikilinks", "".join(f"[[note {i}]] " for i in range(n))),
        ("links without an end", "[a](" * 250_000),
        ("links, nested", "[a](b" * 100_000 + ")" * 100_000),
        ("images, nested", "![" * n + "a" + "](b)" * n),
        ("100,000 definitions of links", "".join(f"[a{i}]: b\n" for i in range(100_000))),
        ("a definition of a link with a title without an end", "[a]: b '" + "x\n" * n),
        ("100,000 footnotes", "".join(f"x[^{i}]\n\n[^{i}]: y\n\n" for i in range(50_000))),
        ("backticks of every length", "".join("`" * i + " " for i in range(1, 1_500))),
        ("backticks", "`" * MB), ("backticks and letters", "`a" * 500_000),
        ("fences without an end", "```\na\n\n" * 150_000 + "````"), ("stars", "*" * MB),
        ("stars and letters", "*a **b " * 150_000),
        ("stars in headings", f"# {'*a' * 99}\n\n" * 5_000), ("underscores", "_a_b" * 250_000),
        ("opening angles", "<" * MB), ("comments of HTML without an end", "<!-- a " * 150_000),
        ("comments in headings", f"# {'<!-- ' * 95}\n\n" * 2_000),
        ("tags of HTML without an end", "<a b=" * n), ("HTML, nested", "<div>\n" * 100_000),
        ("comments of Obsidian", "%%a" * 300_000),
        ("formulas without an end", "$$\na\n\n" * 100_000 + "$" * 100_001),
        (
            "a table of 2,000 columns",
            ("|a" * 2_000 + "|\n" + "|-" * 2_000 + "|\n") + ("|a" * 2_000 + "|\n") * 100,
        ),
        ("a table of 50,000 rows", "|a|b|\n|-|-|\n" + "|a|b|\n" * 50_000),
        ("spaces", " " * 5 * MB + "a"), ("tabs and text", "\ta" * 500_000), ("escapes", "\\" * MB),
        ("entities", "&amp;" * n), ("block ids", "a ^b\n" * n),
        ("accents on one letter", "a" + "\u0301" * MB), ("emoji joined", "\U0001f469\u200d" * n),
        ("Chinese without a space", "\u4e2d\u6587" * 500_000),
        ("controls of a terminal", "\x1b]0;" * 250_000), ("camel humps", "aB" * 500_000),
        ("sentences of one letter", "a. " * 300_000),
        (
            "a canvas of 20,000 cards",
            '{"nodes":[' + ",".join(
                f'{{"id":"{i}","type":"text","text":"a","x":0,"y":{i},"width":1,"height":1}}'
                for i in range(20_000))
            + "]}",
        ),
        ("a canvas, nested", '{"nodes":' + "[" * n + "]" * n + "}"),
    )  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """The cost of one file: CPU seconds, bytes of text and index, and the outcome."""

    what: str
    seconds: float
    text: int
    index: int
    outcome: str

    @property
    def times(self) -> float:
        """How many times as large as its text the index is, beyond what an empty one takes."""
        return max(self.index - FREE, 0) / self.text


def measure(what: str, text: str) -> Measured:
    """A sync of a vault of this file alone, without vectors."""
    with tempfile.TemporaryDirectory() as folder:
        vault, home = Path(folder) / "vault", find_home(Path(folder) / "home")
        vault.mkdir()
        size = (vault / ("a.canvas" if what.startswith("a canvas") else "a.md")).write_bytes(
            text.encode()
        )
        create_config(home, vault, provider="none", memory_dir=None)
        with VaultIndex.open(home) as index:
            begun = time.process_time()
            report = index.sync()
            seconds = time.process_time() - begun
            failures = sorted({failure.error for failure in report.failed})
        used = sum(file.stat().st_size for file in home.data_dir.glob("index.db*"))
        outcome = ", ".join(failures) or f"{report.chunks:,} chunks"
        return Measured(what, seconds, size, used, outcome)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--only", default="", help="files whose description contains this")
    options = parser.parse_args()
    print("| file | kB | seconds | index, times its text | |\n|---|---|---|---|---|", flush=True)
    for what, text in files():
        if options.only in what:
            one = measure(what, text)
            cost = f"{one.text // 1000:,} | {one.seconds:.2f} | {one.times:.1f}"
            print(f"| {what} | {cost} | {one.outcome} |", flush=True)


if __name__ == "__main__":
    main()
