"""The command that installs the multilingual model for this copy of the program."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.tables import tables
from vault_index.embeddings import packages

CASES = tables(__file__)

FROM_INDEX = {"INSTALLER": "pip\n"}


@pytest.mark.parametrize(
    ("marker", "from_clone", "from_index"), CASES["install_multilingual_uses_the_tool_that_installed_this_copy"]
)
def test_install_multilingual_uses_the_tool_that_installed_this_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marker: str, from_clone: str, from_index: str
) -> None:
    (tmp_path / marker).touch()
    (tmp_path / "Makefile").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(packages, "find_spec", lambda name: name == "pip")
    values = {"clone": tmp_path, "python": sys.executable}

    def command(**files: str) -> str:
        monkeypatch.setattr(packages, "distribution", lambda name: SimpleNamespace(read_text=files.get))
        return packages.install_multilingual()

    assert command(**FROM_INDEX) == from_index.format(**values)
    build = f"make -C {tmp_path} multilingual && "
    assert command(**{"direct_url.json": f'{{"url": "file://{tmp_path}"}}'}) == build + from_clone.format(**values)
    # Neither an index nor an existing folder: give no name, because a stranger may register it.
    unknown = "make -C CLONE multilingual && " + from_clone.format(clone="CLONE", python=sys.executable)
    assert command(**{"direct_url.json": '{"url": "file:///no/such/folder"}'}) == unknown
    assert command(INSTALLER="nix") == unknown


def test_install_multilingual_needs_only_make_in_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Makefile").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    record = f'{{"url": "file://{tmp_path}", "dir_info": {{"editable": true}}}}'
    monkeypatch.setattr(packages, "distribution", lambda name: SimpleNamespace(read_text=lambda file: record))
    assert packages.install_multilingual() == f"make -C {tmp_path} multilingual"
