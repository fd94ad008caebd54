"""The token cost of answers on the fixture vault: TOON costs little, and much less than JSON."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from tests.api.vaults import opened
from vault_index import VaultIndex, tokens
from vault_index.api import dispatch
from vault_index.output import Format, render, render_json

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


def answered(index: VaultIndex, method: str, **params: object) -> dict[str, Any]:
    """The answer with ids that are the same in every run: random ones cost from five to eleven tokens."""
    answer = dispatch(index, method, params)
    for number, record in enumerate(answer["results"]):
        record["id"] = str(uuid5(NAMESPACE_URL, str(number)))
    return answer


def test_render_toon_limits_the_cost_of_ten_hits(index: VaultIndex) -> None:
    queries = (
        "how do we poll carriers", "harbour review meeting", "recipe with flour and water", "docker network",
        "lighthouse lamp",
    )  # fmt: skip
    for query in queries:
        answer = answered(index, "search", query=query, limit=10, all=True)
        assert len(answer["results"]) == 10
        toon = tokens.count(render("search", answer, "toon"))
        assert toon <= 10 * 85
        assert toon <= 0.5 * tokens.count(render("search", answer, "json"))


def test_render_toon_limits_the_cost_of_ten_memories(index: VaultIndex) -> None:
    answer = answered(index, "list", kind="memory", limit=10)
    toon = tokens.count(render("list", answer, "toon"))
    assert toon <= 10 * 50
    assert toon <= 0.5 * tokens.count(render("list", answer, "json"))


def test_render_get_cost_is_bounded_by_its_content(index: VaultIndex) -> None:
    for record in dispatch(index, "list", {"limit": 100})["results"]:
        [bare], [full] = (
            dispatch(index, "get", {"ref": record["id"], "full": full})["results"] for full in (False, True)
        )
        form: Format
        for form in ("markdown", "toon"):
            shown = tokens.count(render("get", {"results": [full]}, form))
            assert shown <= 1.5 * (tokens.count(full["content"]) + tokens.count(render_json(full["metadata"])))
        text = render("get", {"results": [bare]}, "markdown")
        fields = tokens.count(render_json(bare.get("fields", {})))
        assert tokens.count(text) <= tokens.count(bare["content"]) + fields + 100
