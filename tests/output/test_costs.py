"""What answers cost an agent, on the fixture vault: TOON is cheap, and much cheaper than JSON."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.vaults import opened
from vault_index import VaultIndex, tokens
from vault_index.api import dispatch
from vault_index.output import render

VAULT = Path(__file__).parents[2] / "fixtures" / "vault"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    folder = tmp_path_factory.mktemp("costs")
    shutil.copytree(VAULT, folder / "vault")
    with opened(folder) as opened_index:
        opened_index.sync()
        for number in range(12):
            opened_index.add(
                f"The {number}th lighthouse keeps its lamp on a rota, because the keeper of it sleeps at noon.\n\n"
                + "More is said of that lighthouse and of its keeper than anybody wants to know. " * 20,
                type="decision",
                title=f"Lighthouse {number}: the lamp is kept on a rota, by hand",
                project="harbour-lights",
                tags=["harbour/lights", "operations"],
                by="build-agent",
                facts=["a rota of three", "a timer failed twice"],
            )
        yield opened_index


@pytest.mark.parametrize(
    "query",
    [
        "how do we poll carriers",
        "harbour review meeting",
        "recipe with flour and water",
        "docker network",
        "lighthouse lamp",
    ],
)
def test_ten_hits_in_toon(index: VaultIndex, query: str) -> None:
    answer = dispatch(index, "search", {"query": query, "limit": 10})
    assert len(answer["results"]) == 10
    toon = tokens.count(render("search", answer, "toon"))
    assert toon <= 10 * 100
    assert toon <= 0.7 * tokens.count(render("search", answer, "json"))


def test_ten_memories_in_a_list(index: VaultIndex) -> None:
    answer = dispatch(index, "list", {"kind": "memory", "limit": 10})
    toon = tokens.count(render("list", answer, "toon"))
    assert toon <= 10 * 100
    assert toon <= 0.7 * tokens.count(render("list", answer, "json"))


@pytest.mark.parametrize(("method", "params"), [("search", {"query": "lighthouse lamp"}), ("list", {"kind": "memory"})])
def test_a_memory_is_told_before_it_is_opened(index: VaultIndex, method: str, params: dict[str, str]) -> None:
    head = render(method, dispatch(index, method, params), "toon").split("{")[1].split("}")[0].split(",")
    assert {"id", "type", "title", "created", "tokens"} <= set(head)
    assert "score" in head or method == "list"
