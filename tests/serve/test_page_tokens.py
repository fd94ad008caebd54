"""Tokens on the page are listed, made and revoked by the same rules as on the command line."""

import time
from typing import Any

import pytest

from tests.world import World
from vault_index.access import Tokens
from vault_index.callers import Caller, Scope
from vault_index.errors import VaultIndexError
from vault_index.page.tokens import list_tokens

ME = Caller("page-1", writes=True, owner=True)


def answer(world: World, params: dict[str, Any]) -> dict[str, Any]:
    return list_tokens(world.home, ME, params)


def add_ci(**more: Any) -> dict[str, Any]:
    return {"add": {"name": "ci", "writes": False, **more}}


def caller_of(world: World, secret: str) -> Caller | None:
    return Tokens(world.home.tokens_file).find(secret, time.time())


def test_page_tokens_makes_a_token_as_requested(new_world: World) -> None:
    given: list[tuple[dict[str, Any], Scope]] = [
        ({}, Scope()),
        ({"sources": None, "folders": None, "expires": None}, Scope()),
        ({"sources": ["vault", "vault"]}, Scope(("vault",))),
        ({"folders": [f"{new_world.vault}/notes"]}, Scope(("vault",), ("notes",))),
    ]
    (new_world.vault / "notes").mkdir()
    for params, scope in given:
        made = answer(new_world, add_ci(**params))
        assert caller_of(new_world, made["token"]) == Caller("ci", scope=scope)
        assert (made["made"]["name"], made["warnings"]) == ("ci", [])
        assert "token" not in answer(new_world, {})
        answer(new_world, {"revoke": "ci"})


# test_tokens.py has the scopes that are refused.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"name": "a b"}, "not a valid token name"),
    ({"name": 7}, "needs name and writes"),
    ({"writes": "yes"}, "needs name and writes"),
    ({"owner": True}, "field 'owner'"),
    ({"sources": "vault"}, "lists of texts"),
    ({"folders": ["/etc"]}, "is not in a vault"),
    ({"folders": ["a\0b"]}, "lists of texts"),
    ({"projects": ["a"] * 101}, "lists of texts"),
    ({"expires": "2020-01-01"}, "in the past"),
    ({"expires": 1.5}, "lists of texts"),
]


def test_page_tokens_refuses_an_ambiguous_token(new_world: World) -> None:
    for params, said in REFUSED:
        with pytest.raises(VaultIndexError) as caught:
            answer(new_world, add_ci(**params))
        assert said in caught.value.message
        assert Tokens(new_world.home.tokens_file).all() == ()


def test_page_tokens_unknown_request_changes_nothing(new_world: World) -> None:
    answer(new_world, add_ci())
    unknown: list[dict[str, Any]] = [{"add": 1}, {"revoke": None}, {"ad": {}}, {"revoke": "ci", "add": {}}]
    for params in unknown:
        with pytest.raises(VaultIndexError, match="must be add, revoke, drop or empty"):
            answer(new_world, params)
    assert [token.caller.name for token in Tokens(new_world.home.tokens_file).all()] == ["ci"]


def test_page_tokens_lists_and_revokes_all_tokens(new_world: World) -> None:
    secret = answer(new_world, add_ci(expires="in 2 hours"))["token"]
    Tokens(new_world.home.tokens_file).add(ME, created=1.0, expires=2.0)
    listed = answer(new_world, {})
    assert [(row["name"], row["owner"], row["expired"]) for row in listed["results"]] == [
        ("ci", False, False),
        ("page-1", True, True),
    ]
    assert (listed["name"], listed["sources"]) == ("page-1", ["vault"])
    assert secret not in str(listed)
    assert [row["name"] for row in answer(new_world, {"revoke": "ci"})["results"]] == ["page-1"]
    assert caller_of(new_world, secret) is None
    with pytest.raises(VaultIndexError, match="no token 'ci'"):
        answer(new_world, {"revoke": "ci"})


def test_page_tokens_drops_a_code_but_no_token(new_world: World) -> None:
    tokens = Tokens(new_world.home.tokens_file)
    code = tokens.add(ME, created=1.0, expires=time.time() + 60, once=True)
    secret = answer(new_world, add_ci())["token"]
    for given in (secret, code, code):
        answer(new_world, {"drop": given})
    assert [token.caller.name for token in tokens.all()] == ["ci"]
