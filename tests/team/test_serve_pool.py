"""`serve --pool`: what members get, through the API and in PostgreSQL."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import indexed
from tests.team.loading import load
from tests.world import World
from vault_index.callers import Caller, Scope
from vault_index.errors import NotFoundError, PoolError
from vault_index.serve.pool import PoolBackend, PoolTokens
from vault_index.team.database import connect
from vault_index.team.members import add_member

NOTES = {
    "work/acme/heron.md": "# Heron\n\nThe grey heron waits at the acme pond. See [[otter]].\n",
    "work/otter.md": "---\ntags: [river]\nproject: river\n---\n# Otter\n\nThe otter swims in the river Glimmerbrook.\n",
    "home/bread.md": "---\ntags: [food]\n---\n# Bread\n\nRye bread needs sourdough and patience.\n",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, module_pool_dsn: str) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("pool")
    with indexed(folder, NOTES) as index:
        load(index, module_pool_dsn)
    opened = World(folder / "server", f'[pool]\ndsn = "{module_pool_dsn}"\n')
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def backend(world: World) -> Iterator[PoolBackend]:
    opened = PoolBackend(world.home)
    yield opened
    opened.connections.close()


@pytest.fixture(scope="module")
def members(module_pool_dsn: str, world: World) -> Iterator[dict[str, tuple[Caller, str]]]:
    scopes = {
        "everyone": Scope(),
        "acme": Scope(folders=("work/acme",)),
        "river": Scope(projects=("river",)),
        "elsewhere": Scope(sources=("other",)),
    }
    with connect(module_pool_dsn) as pool:
        tag = pool.execute("SELECT current_database()").fetchall()[0][0][-6:]
        callers = {name: Caller(f"{name}_{tag}", False, scope) for name, scope in scopes.items()}
        yield {name: (one, add_member(pool, one, expires=None)) for name, one in callers.items()}
        for one in callers.values():
            pool.execute(f"DROP ROLE {one.name}")


def paths(answer: dict[str, Any]) -> set[str]:
    return {one["path"] for one in answer["results"]}


def test_pool_backend_answers_each_method(backend: PoolBackend, members: dict[str, tuple[Caller, str]]) -> None:
    caller, _ = members["everyone"]
    assert paths(backend.call("search", {"query": "sourdough patience"}, caller)) == {"home/bread.md"}
    assert paths(backend.call("search", {"query": "soudrough"}, caller)) == {"home/bread.md"}
    assert paths(backend.call("search", {"query": "otter tag:river project:river"}, caller)) == {"work/otter.md"}
    assert paths(backend.call("list", {"source": ["vault"]}, caller)) == set(NOTES)
    texts = backend.call("get", {"ref": ["work/otter.md"]}, caller)
    assert "Glimmerbrook" in json.dumps(texts)
    assert paths(backend.call("related", {"ref": "work/acme/heron.md"}, caller)) == {"work/otter.md"}
    assert {one["tag"] for one in backend.call("tags", {}, caller)["results"]} == {"river", "food"}
    assert backend.call("stats", {}, caller)["documents"] == 3
    why = backend.call("why", {"query": "heron", "ref": "home/bread.md"}, caller)
    assert why["reasons"][0]["code"] == "no_word"
    assert backend.call("timeline", {"ref": "work/otter.md"}, caller)["anchor"]["path"] == "work/otter.md"
    assert backend.call("recall", {}, caller)
    with pytest.raises(NotFoundError, match="does not answer"):
        backend.call("review", {}, caller)


@pytest.mark.parametrize(
    ("member", "visible"),
    [
        ("everyone", set(NOTES)),
        ("acme", {"work/acme/heron.md"}),
        ("river", {"work/otter.md"}),
        ("elsewhere", set()),
    ],
)
def test_pool_backend_hides_what_a_member_may_not_see(
    backend: PoolBackend, members: dict[str, tuple[Caller, str]], member: str, visible: set[str]
) -> None:
    caller, _ = members[member]
    assert paths(backend.call("list", {}, caller)) == visible
    assert paths(backend.call("search", {"query": "heron otter bread"}, caller)) == visible
    # The role sees no more if the query forgets the scope.
    forgetful = caller._replace(scope=Scope())
    assert paths(backend.call("list", {}, forgetful)) == visible
    assert backend.call("stats", {}, forgetful)["documents"] == len(visible)


def test_pool_tokens_find_their_members(
    world: World, backend: PoolBackend, members: dict[str, tuple[Caller, str]]
) -> None:
    tokens = PoolTokens(world.home, backend.connections)
    assert all(tokens.find(secret, 0.0) == caller for caller, secret in members.values())
    assert tokens.find("vx_other", 0.0) is None


def test_serve_answers_from_the_pool(world: World, members: dict[str, tuple[Caller, str]]) -> None:
    served = world.serve("--pool")
    _, secret = members["acme"]
    answer = served.call("search", secret, query="heron bread")
    assert (answer.status, paths(answer.json)) == (200, {"work/acme/heron.md"})
    assert served.call("search", "vx_wrong", query="heron").status == 401


def test_serve_without_its_pool_answers_503_with_a_hint(tmp_path: Path) -> None:
    world = World(tmp_path / "server", f'[pool]\ndsn = "postgresql://nobody@/team?host={tmp_path}"\n')
    try:
        served = world.serve("--pool")
        answer = served.call("search", "vx_any", query="heron")
        assert answer.status == 503
        assert answer.json["error"]["code"] == "pool"
        assert answer.json["error"]["hint"]
    finally:
        world.close()


def test_pool_backend_reports_a_lost_pool(tmp_path: Path) -> None:
    world = World(tmp_path / "server", f'[pool]\ndsn = "postgresql://nobody@/team?host={tmp_path}"\n')
    with pytest.raises(PoolError, match="does not answer"):
        PoolBackend(world.home).call("list", {}, Caller("anyone"))
