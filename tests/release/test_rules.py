"""What `make release` refuses and fills, and the lock file."""

import re
import runpy
import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES = runpy.run_path(str(ROOT / "tools/release_rules.py"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    (folder / "CHANGELOG.md").write_text("## 1.1.0 - Unreleased\n\n## 1.0.0 - 2026-12-01\n", "utf-8")
    name = ("-c", "user.name=user", "-c", "user.email=user@example.org")
    for words in (("init", "-q"), ("add", "."), (*name, "commit", "-qm", "First")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(
    ("version", "tag", "reasons"),
    [
        ("1.0.0", "", []),
        ("1.0.0", "v1.0.0", []),
        ("1.0.0", "v1.0.1", ["the tag is v1.0.1, but the version is 1.0.0: tag v1.0.0"]),
        ("1.1.0", "", ["CHANGELOG.md has no section: ## 1.1.0 - YYYY-MM-DD"]),  # not dated yet
    ],
)
def test_release_refuses_a_version_without_section_or_tag(tree: Path, version: str, tag: str, reasons: object) -> None:
    assert RULES["refusals"](tree, version, tag) == reasons


def test_release_refuses_a_dirty_tree(tree: Path) -> None:
    (tree / "new.py").touch()
    assert "new.py" in RULES["refusals"](tree, "1.0.0")[0]
    (tree / "new.py").unlink()


def test_release_names_the_files_in_which_two_builds_differ(tmp_path: Path) -> None:
    for name, text in (("one", "a"), ("same", "a"), ("other", "b")):
        with zipfile.ZipFile(tmp_path / name, "w") as wheel:
            wheel.writestr(zipfile.ZipInfo("built.py"), text)
    assert RULES["differences"](tmp_path / "one", tmp_path / "same") == []
    assert RULES["differences"](tmp_path / "one", tmp_path / "other") == ["built.py"]


def test_formula_has_version_and_checksum(tmp_path: Path) -> None:
    (sdist := tmp_path / "sdist").write_bytes(b"abc")
    made = RULES["formula"]((ROOT / "packaging/vault-indexer.rb").read_text("utf-8"), "1.2.3", sdist)
    assert "vault_indexer-1.2.3.tar.gz" in made
    assert 'sha256 "ba7816bf' in made  # the checksum of abc in FIPS 180
    assert "@" not in made.replace("python@3.13", "")


def test_lock_file_names_the_public_index_only() -> None:
    hosts = re.findall(r"https?://([^/\"]+)", (ROOT / "uv.lock").read_text("utf-8"))
    assert set(hosts) == {"pypi.org", "files.pythonhosted.org"}
