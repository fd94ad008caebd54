"""Each ignore rule on real files."""

import json
import os
from pathlib import Path

import pytest

from tests.sources.trees import build, paths, vault_at
from vault_index.errors import ConfigError

TREE = ("a.md", "Archive/b.md", "Archive/2020/c.md", "Notes/d.md", "Notes/Archive/e.md", "Notes/f.canvas")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "vault", *TREE)


def ignoring(root: Path, *lines: str, place: str = "") -> None:
    build(root, f"{place}.vaultignore", text="\n".join(lines))


def obsidian(root: Path, name: str, **settings: object) -> None:
    build(root, f".obsidian/{name}", text=json.dumps(settings))


DOCUMENTS = (
    "note.md", "NOTE.MD", "notes.markdown", "board.canvas", "笔记.md", "~tilde.md", "a~.md", "#1.md", "conflict.md",
    "How to resolve a conflicted copy.md", "sync-conflict-notes.md", "armed_conflict.md", "Torn (conflicted).md",
)  # fmt: skip
OTHERS = (
    "note.txt", "md", ".md", ".hidden.md", ".note.md.icloud", "~$note.md", "note.md~", "note.md.tmp", "note.tmp",
    "note.sync-conflict-20260102-101112-ABCDEFG.md", "note (conflicted copy 2026-01-02 101112).md",
    "note (Ann's conflicted copy 2026-01-02).md", "note (Ann's Conflicted Copy).canvas", "note.md.swp",
    "note_conflict-20180220-141213.md", "note [conflicted].md", "note (SFConflict ann 2018-02-20-14-12-13).md",
    "note (in Konflikt stehende Kopie von Ann 2026-01-02).md", "note (Copie en conflit de Ann 2026-01-02).md",
    "note (cópia em conflito de Ann).md", "note (Ann の競合コピー 2026-01-02).md", "note (конфликтующая копия).md",
    "note_NAS_Jan-02-101112-2026_Conflict.md",
)  # fmt: skip
FOLDERS = ("Notes", "#1 project", "bak", "logseq/pages")
OTHER_FOLDERS = (
    "node_modules", "site-packages", "@Recycle", "logseq/bak/pages", "logseq/version-files",
    "@eaDir", "#recycle", "$RECYCLE.BIN", "$Recycle.Bin", "__MACOSX", ".obsidian", ".trash",
)  # fmt: skip


def test_scan_omits_files_that_are_not_documents(tmp_path: Path) -> None:
    wanted = sorted([*DOCUMENTS, *(f"{folder}/x.md" for folder in FOLDERS)])
    others = [*OTHERS, *(f"{folder}/x.md" for folder in OTHER_FOLDERS), "folder.md/"]
    assert paths(vault_at(build(tmp_path / "vault", *wanted, *others)).scan()) == wanted


@pytest.mark.parametrize(
    ("exclude", "include", "wanted"),
    [
        (["Archive/"], [], ["Notes/d.md", "Notes/f.canvas", "a.md"]),
        (["/Archive/"], [], ["Notes/Archive/e.md", "Notes/d.md", "Notes/f.canvas", "a.md"]),
        (["*.canvas"], ["Notes/"], ["Notes/Archive/e.md", "Notes/d.md"]),
        ([], ["Notes/*.md"], ["Notes/d.md"]),
        (["*", "!*/", "!d.md"], [], ["Notes/d.md"]),
    ],
)
def test_scan_obeys_include_and_exclude(root: Path, exclude: list[str], include: list[str], wanted: list[str]) -> None:
    assert paths(vault_at(root, exclude=tuple(exclude), include=tuple(include)).scan()) == wanted


@pytest.mark.parametrize("key", ["exclude", "include", "local_only"])
def test_settings_refuse_an_invalid_glob(root: Path, key: str) -> None:
    for pattern in ("!", "[a", "a\\", "[[:what:]]"):
        with pytest.raises(ConfigError, match=rf"sources\.vault\.{key}"):
            vault_at(root, **{key: ("ok", pattern)})


def test_scan_obeys_changed_rule_files(root: Path) -> None:
    source = vault_at(root)
    for line, gone in (("a.md", "a.md"), ("d.md", "Notes/d.md")):  # the same size, within one tick of the clock
        ignoring(root, line)
        assert source.look(gone) is None
        assert gone not in paths(source.scan())
        assert len(source.scan().refs) == len(TREE) - 1
    (root / ".vaultignore").unlink()
    assert len(source.scan().refs) == len(TREE)


def test_scan_names_an_invalid_rule_and_obeys_the_others(root: Path) -> None:
    ignoring(root, "a.md", "[a", "!", "Archive")
    scan = vault_at(root).scan()
    assert paths(scan) == ["Notes/d.md", "Notes/f.canvas"]
    assert [(fault.code, fault.path, fault.line) for fault in scan.faults] == [
        ("ignore_rule", ".vaultignore", 2),
        ("ignore_rule", ".vaultignore", 3),
    ]


def test_scan_ignores_a_folder_or_pipe_named_like_a_rule_file(root: Path) -> None:
    (root / ".vaultignore").mkdir()
    os.mkfifo(root / "Notes" / ".vaultignore")
    assert len(vault_at(root).scan().refs) == len(TREE)


def test_scan_follows_obsidian_s_excluded_files(root: Path) -> None:
    archive = ["Archive/2020/c.md", "Archive/b.md"]
    cases: list[tuple[list[object], list[str]]] = [
        (["Archive/"], archive), (["Arch"], archive), (["Notes/d.md"], ["Notes/d.md"]), (["Notes/d"], ["Notes/d.md"]),
        (["archive/"], []), (["/\\.canvas$/"], ["Notes/f.canvas"]), (["/20\\d\\d/"], archive[:1]), (["/"], []),
        (["//"], []), (["", 3, None], []),
    ]  # fmt: skip
    for filters, gone in cases:
        obsidian(root, "app.json", userIgnoreFilters=filters)
        scan = vault_at(root).scan()
        assert sorted(set(TREE) - set(paths(scan))) == gone, filters
        assert scan.faults == ()


def test_scan_omits_template_folders(root: Path) -> None:
    for folder, kept in (("Archive", 4), ("/Archive/", 4), ("", 6), ("/", 6), (None, 6)):
        obsidian(root, "templates.json", folder=folder)
        assert len(vault_at(root).scan().refs) == kept, folder
    obsidian(root, "plugins/templater-obsidian/data.json", templates_folder="Archive/2020")
    assert len(vault_at(root).scan().refs) == 5
    obsidian(root, "templates.json", folder="Archive")
    ignoring(root, "!/Archive/")
    assert len(vault_at(root).scan().refs) == 5  # .vaultignore overrides the first, and not the second


@pytest.mark.parametrize(
    ("text", "faults", "kept"),
    [
        ("{", 1, 6), ("\xff", 1, 6), ("[" * 100_000, 1, 6), ("[]", 0, 6), ("3", 0, 6),
        ('{"userIgnoreFilters": 3}', 0, 6), ('{"userIgnoreFilters": ["/(/", "Archive/"]}', 1, 4),
    ],
)  # fmt: skip
def test_scan_names_broken_obsidian_settings_and_ignores_them(root: Path, text: str, faults: int, kept: int) -> None:
    build(root, ".obsidian/app.json", text=text)
    source = vault_at(root)
    scan = source.scan()
    assert len(scan.refs) == kept
    assert [(fault.code, fault.path) for fault in scan.faults] == [("ignore_rule", ".obsidian/app.json")] * faults
    assert source.scan().faults == scan.faults


def test_scan_omits_everything_for_an_expression_with_backtracking(root: Path) -> None:
    for text in (r"/(?=Arch)/", r"/(a)\1/", r"/^(?!Notes\/)/"):
        obsidian(root, "app.json", userIgnoreFilters=[text])
        scan = vault_at(root).scan()
        assert paths(scan) == []
        assert [(fault.code, fault.path) for fault in scan.faults] == [("ignore_rule", ".obsidian/app.json")]
    ignoring(root, "!/Notes/**")
    assert paths(vault_at(root).scan()) == ["Notes/Archive/e.md", "Notes/d.md", "Notes/f.canvas"]


def test_scan_is_fast_for_an_expression_that_once_hung(root: Path) -> None:
    build(root, f"{'a' * 200}.md")
    obsidian(root, "app.json", userIgnoreFilters=["/(a+)+$/", "/(a|a)*$/"])
    assert "Notes/d.md" not in paths(vault_at(root).scan())  # the second one matches nothing, and so everything


def test_scan_reads_obsidian_expressions_as_javascript(root: Path) -> None:
    for text, gone in ((r"/caf\u00e9/", "caf\u00e9.md"), (r"/^\d+\.md$/", "12.md"), (r"/x\/y/", "x/y.md")):
        build(root, gone)
        assert gone in paths(vault_at(root).scan())
        obsidian(root, "app.json", userIgnoreFilters=[text])
        scan = vault_at(root).scan()
        assert sorted(paths(scan)) == sorted(TREE)
        assert scan.faults == ()
        (root / gone).unlink()


@pytest.mark.parametrize(
    "line", ["*a" * 7 + "b", "**/a*" * 7 + "b", "[a-z]*" * 9 + "1", "[[:" * 300_000, "a" * 1_000_000]
)
def test_scan_is_fast_for_a_rule_that_once_hung(root: Path, line: str) -> None:
    build(root, f"{'a' * 200}.md")
    ignoring(root, line, "d.md")
    scan = vault_at(root).scan()
    assert len(scan.refs) == len(TREE)
    assert [fault.line for fault in scan.faults] == ([1] if len(line) > 4096 else [])


def test_rules_match_accents_in_either_form(tmp_path: Path) -> None:
    root = build(tmp_path / "vault", "Cafe\u0301/a.md", "Caf\u00e9s/b.md")
    source = vault_at(root, exclude=("Caf\u00e9/",), local_only=("Cafe\u0301s/",))
    assert paths(source.scan()) == ["Caf\u00e9s/b.md"]
    assert source.stays_home("Caf\u00e9s/b.md")


def test_stays_home_follows_local_only(root: Path) -> None:
    cases: list[tuple[bool | tuple[str, ...], str, bool]] = [
        (True, "a.md", True), ((), "a.md", False),
        (("private/",), "private/a.md", True), (("private/",), "x/private/y/a.md", True),
        (("private/",), "private.md", False), (("private",), "private/a.md", True),
        (("/private/",), "x/private/a.md", False), (("journal/**",), "journal/2026/a.md", True),
        (("journal/**",), "a.md", False), (("*.secret.md",), "x/a.secret.md", True),
        (("private/", "!private/open.md"), "private/open.md", False),
    ]  # fmt: skip
    assert [row for row in cases if vault_at(root, local_only=row[0]).stays_home(row[1]) is not row[2]] == []


def test_stays_home_includes_a_private_note_behind_a_link(root: Path) -> None:
    build(root, ".private/secret.md")
    (root / "open").symlink_to(".private")
    source = vault_at(root, local_only=(".private/",))
    assert "open/secret.md" in paths(source.scan())
    assert source.stays_home("open/secret.md")
    assert not source.stays_home("a.md")


def test_changes_rules_recognizes_rule_files(root: Path) -> None:
    source = vault_at(root)
    for path in (".vaultignore", "Notes/.vaultignore", ".obsidian/app.json",
                 ".obsidian/plugins/templater-obsidian/data.json"):  # fmt: skip
        assert source.changes_rules(path), path
    assert not source.changes_rules(".obsidian/workspace.json")
    assert not source.changes_rules("a.md")
