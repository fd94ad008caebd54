"""`scan`, `scan_places` and `look` agree with each other, and with git about ignore files."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings, strategies as st

from tests.seeds import TIMES
from tests.sources.trees import build, paths, vault_at
from vault_index.models import Fault

FOLDERS = ["a", "b", "a/b", "a/.h", "b/c", ".h", "node_modules"]
NAMES = ["x.md", "y.md", "z.canvas", "w.txt", ".h.md", "x~.md", "X.MD"]
RULES = ["x.md", "a/", "!x.md", "/b", "b/**", "!a/b/", "*.md", "!*.canvas", "a/*", "**/c", "!b/c", "!a/", "*", "!*/"]

files = st.tuples(st.sampled_from(["", *(f"{folder}/" for folder in FOLDERS)]), st.sampled_from(NAMES)).map("".join)
rule_files = st.dictionaries(
    st.sampled_from(["", "a/", "a/b/", "b/", ".h/"]), st.lists(st.sampled_from(RULES), max_size=4), max_size=3
)
TARGETS = [".", "..", "a", "../a", "../.h", ".h", "b/c", "x.md", "../x.md", ".h/x.md", "../../out", "nowhere"]
links = st.dictionaries(
    st.sampled_from(["l", "a/l", "b/l", ".h/l", "l.md", "a/l.md", "b/c/l.md"]), st.sampled_from(TARGETS), max_size=4
)


@contextmanager
def tree(found: list[str], rules: dict[str, list[str]]) -> Iterator[Path]:
    """A folder `vault` of these files; hypothesis runs many examples, so `tmp_path` would not do."""
    with tempfile.TemporaryDirectory() as folder:
        root = build(Path(folder, "vault"), "README.md", *found)
        build(Path(folder, "out"), "o.md", "x.md")
        for place, lines in rules.items():
            build(root, f"{place}.vaultignore", text="\n".join(lines))
        yield root


def every_path(root: Path) -> list[str]:
    """All paths, including those through links, up to the maximum depth of a document."""
    found = []
    for folder, folders, names in os.walk(root, followlinks=True):
        inner = os.path.relpath(folder, root)
        prefix = "" if inner == "." else f"{inner}/"
        found += [f"{prefix}{name}" for name in (*folders, *names)]
        if prefix.count("/") > 3:
            folders.clear()
    return found


@settings(max_examples=80 * TIMES)
@given(
    st.lists(files, max_size=12),
    rule_files,
    links,
    st.lists(st.sampled_from(["a/", "*.canvas", "y.md"]), max_size=2),
    st.lists(st.sampled_from(["a/", "b/", "x.md"]), max_size=2),
    st.booleans(),
)
def test_scan_agrees_with_look(
    found: list[str],
    rules: dict[str, list[str]],
    linked: dict[str, str],
    exclude: list[str],
    include: list[str],
    outside: bool,
) -> None:
    with tree(found, rules) as root:
        for link, target in linked.items():
            (root / link).parent.mkdir(parents=True, exist_ok=True)
            (root / link).symlink_to(target)
        source = vault_at(root, exclude=tuple(exclude), include=tuple(include), follow_outside_links=outside)
        scan = source.scan()
        refs = {ref.path: ref for ref in scan.refs}
        assert len({os.path.realpath(root / path) for path in refs}) == len(refs), "each file once"
        for path in every_path(root):
            if scan.knows(path):
                assert source.look(path) == refs.get(path), path
            elif path.endswith(".md"):
                assert isinstance(source.examine(path), Fault), path
            under = [ref for ref in scan.refs if ref.path == path or ref.path.startswith(f"{path}/")]
            assert list(source.scan(path).refs) == under, path
        assert source.scan_places(every_path(root)).refs == scan.refs


def seen_by_git(root: Path) -> list[str]:
    """The documents that git would not ignore, with `.vaultignore` as its ignore file."""
    git = ["git", "-C", str(root), "-c", "core.excludesFile="]
    subprocess.run([*git, "init", "-q"], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull})
    listing = [*git, "ls-files", "-z", "--others", "--exclude-per-directory=.vaultignore"]
    found = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted(
        path
        for path in found
        if path.lower().endswith((".md", ".canvas"))
        and not any(part.startswith(".") or part == "node_modules" for part in path.split("/"))
    )


@settings(max_examples=25 * TIMES)
@given(st.lists(files, max_size=12), rule_files)
def test_scan_agrees_with_git_about_ignore_files(found: list[str], rules: dict[str, list[str]]) -> None:
    with tree(found, rules) as root:
        assert paths(vault_at(root).scan()) == seen_by_git(root)


SOUP = ["a", "b", "ab", "A", "5", "-", "]", " ", "#", "a b", "\\"]  # ASCII: to git `é` is two characters
PIECES = ["*", "**", "?", "/", "/**/", "**/", "/**", "[ab]", "[!a]", "[^a-b]", "[]-]", "[[:alpha:]]", "[[:punct:]]"]
PIECES += ["\\", "\\*", "!", "#", "[", "a", "b", ".md", " ", "-", "[a-", "[\\]a]", "[[:digit:]5]", "***"]


@settings(max_examples=25 * TIMES)
@given(
    st.lists(st.lists(st.sampled_from(SOUP), min_size=1, max_size=3).map("/".join), min_size=1, max_size=15),
    st.lists(st.lists(st.sampled_from(PIECES), max_size=5).map("".join), min_size=1, max_size=3),
)
def test_scan_agrees_with_git_about_globs(names: list[str], lines: list[str]) -> None:
    with tree([f"{name}.md" for name in names], {"": lines}) as root:
        assert paths(vault_at(root).scan()) == seen_by_git(root), lines
