"""Filters in queries, options and commands, in every channel."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from vault_index import VaultIndex
from vault_index.api import dispatch
from vault_index.cli import main
from vault_index.errors import UsageError

NOTES = {
    "Heron.md": "---\nstatus: done\ntags: birds\n---\n# Heron\n\nA heron stands in the water.\n",
    "pond/Pond plan.md": "---\nstatus: [open]\n---\n# Pond plan\n\nDig, so that a heron finds shallow water.\n",
    "pond/Water bill.md": "The water bill is due. [paid:: no]\n\n- owner:: [[Jane Doe]]\n\n`paid:: code`\n",
    "80-memory/a.md": "---\ntype: decision\nconfidence: high\nconcepts: [water]\nbead_id: bd-7\nsession_id: ses_9\n"
    "---\nFill the pond with rain water.\n",
    "80-memory/b.md": "---\ntype: note\nvalid_until: 2020-01-01\n---\nTap water is fine.\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    folder = tmp_path_factory.mktemp("filters")
    with opened(folder, provider="local") as opened_index:
        write(folder / "vault", NOTES)
        opened_index.sync()
        yield opened_index


def found(index: VaultIndex, query: str, **options: object) -> set[str]:
    return {hit.path for hit in index.search(query, **options).results}  # type: ignore[arg-type]


_TABLES = tomllib.loads(Path(__file__).with_name("filters.toml").read_text("utf-8"))
CONDITIONS = {query: set(paths) for query, paths in _TABLES["conditions"].items()}


@pytest.mark.parametrize("mode", ["hybrid", "text", "vector"])
def test_filters_apply_in_every_channel(index: VaultIndex, mode: str) -> None:
    assert {query: found(index, query, mode=mode) for query in CONDITIONS} == CONDITIONS
    assert found(index, "the heron in the water", match="all", mode=mode) == {"Heron.md", "pond/Pond plan.md"}


def test_filters_as_options_equal_filters_in_the_query(index: VaultIndex) -> None:
    cases: list[tuple[dict[str, object], set[str]]] = [
        ({"title": "plan"}, {"pond/Pond plan.md"}),
        ({"file": ["heron", "*bill*"]}, {"Heron.md", "pond/Water bill.md"}),
        ({"concept": "water", "bead": "bd-7", "session": "ses_9", "confidence": "high,low"}, {"80-memory/a.md"}),
        ({"state": "outdated"}, {"80-memory/b.md"}),
        ({"property": ["status:done"]}, {"Heron.md"}),
        ({"property": "status"}, {"Heron.md", "pond/Pond plan.md"}),
    ]
    for options, paths in cases:
        assert found(index, "water", **options) == paths
        assert {record["path"] for record in dispatch(index, "list", options)["results"]} == paths
    with pytest.raises(TypeError, match="'titel'"):
        found(index, "water", titel="plan")
    with pytest.raises(UsageError, match="'titel'"):
        dispatch(index, "list", {"titel": "plan"})


def test_search_command_accepts_filters(index: VaultIndex, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(index.home.data_dir), "--json"]
    argv = ["search", "water", "--property", "status", "--property", "status:done", "--title", "heron", *home]
    assert main(argv) == 0
    assert [hit["path"] for hit in json.loads(capsys.readouterr().out)["results"]] == ["Heron.md"]
    assert main(["list", "--state", "outdated,superseded", "--file", "b.md", *home]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 1
    assert main(["search", "water after:soon", *home]) == 2
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["message"] == "not a date: 'soon' (after:soon at column 7)"
