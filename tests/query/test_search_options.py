"""Options that change how a query is read, and its point in time."""

from pathlib import Path

import pytest

from tests.api.vaults import opened, paths_found as found, write
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import set_value
from vault_index.errors import UsageError

OLD, NEW = "5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f", "6f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f"
NOTES = {
    "docker.md": "---\ncreated: 2026-01-10\n---\n# Docker\n\nContainers are built in layers.\n",
    "heron.md": "---\ncreated: 2026-06-10\n---\n# Heron\n\nA heron stands in the water.\n",
    "80-memory/until-may.md": "---\ncreated: 2026-02-01\nexpires: 2026-05-01\n---\nThe gate code is 4711.\n",
    "80-memory/old.md": f"---\nid: {OLD}\ncreated: 2026-02-01\nsuperseded_by: {NEW}\n---\nThe ferry leaves at nine.\n",
    "80-memory/new.md": f"---\nid: {NEW}\ncreated: 2026-04-01\nsupersedes: [{OLD}]\n---\nThe ferry leaves at ten.\n",
    "80-memory/outdated.md": "---\ncreated: 2026-02-01\nvalid_until: 2026-03-01\n---\nThe bakery opens at six.\n",
}


def test_search_corrects_a_typing_error_unless_disabled(index: VaultIndex) -> None:
    assert index.search("dokcer").corrections == {"dokcer": "docker"}
    assert found(index, "dokcer") == ["docker.md"]
    assert found(index, "dokcer", fuzzy=False) == []
    assert found(index, "hern") == ["heron.md"]  # one letter of five
    assert found(index, "hern", threshold=0.9) == []


def test_search_defaults_come_from_the_configuration(tmp_path: Path) -> None:
    write(tmp_path / "vault", NOTES)
    with opened(tmp_path) as index:
        index.sync()
    set_value(find_home(tmp_path / "home"), "search.fuzzy", "false")
    with opened(tmp_path) as index:
        assert found(index, "dokcer") == []
        assert found(index, "dokcer", fuzzy=True) == ["docker.md"]


def test_search_shows_expired_and_superseded_memories_on_request(index: VaultIndex) -> None:
    assert found(index, "gate code") == []
    assert found(index, "gate code", include_expired=True) == ["80-memory/until-may.md"]
    assert found(index, "ferry") == ["80-memory/new.md"]
    assert set(found(index, "ferry", include_superseded=True)) == {"80-memory/new.md", "80-memory/old.md"}


def test_search_as_of_a_day_hides_later_documents(index: VaultIndex) -> None:
    assert found(index, "heron", as_of="2026-06-09") == []
    assert found(index, "heron", as_of="2026-06-10") == ["heron.md"]
    assert found(index, "heron", as_of="2026-06-10T09:30") == ["heron.md"]


def test_search_as_of_a_day_finds_memories_valid_on_it(index: VaultIndex) -> None:
    assert found(index, "gate code", as_of="2026-05-01") == ["80-memory/until-may.md"]
    assert found(index, "gate code", as_of="2026-05-02") == []
    assert found(index, "ferry", as_of="2026-03-01") == ["80-memory/old.md"]
    assert found(index, "ferry", as_of="2026-04-02") == ["80-memory/new.md"]


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0}, {"offset": -1}, {"mode": "best"}, {"match": "some"}, {"after": "soon"}, {"kind": "book"},
        {"as_of": "soon"}, {"threshold": 0.49}, {"threshold": 1.01}, {"threshold": float("nan")},
    ],
)  # fmt: skip
def test_search_refuses_invalid_options_with_a_hint(index: VaultIndex, options: dict[str, object]) -> None:
    with pytest.raises(UsageError) as caught:
        found(index, "heron", **options)
    assert caught.value.hint


def test_search_accepts_a_page_long_query_and_refuses_a_longer_one(index: VaultIndex) -> None:
    assert found(index, "heron water " * 1500)[0] == "heron.md"
    for ask in (index.search, lambda query: index.why(query, "heron.md"), lambda query: index.timeline(query=query)):
        with pytest.raises(UsageError, match=r"24,000 characters"):
            ask("heron water " * 2000)
