"""The tokens as the page's user has them listed, made and revoked: as strictly as by the commands."""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.servers import Place, bearer, place, until
from vault_index.access import Tokens
from vault_index.callers import Caller, Scope
from vault_index.config import Home
from vault_index.daemon.client import connect
from vault_index.errors import VaultIndexError
from vault_index.page.tokens import list_tokens

ME = Caller("page-1", writes=True, owner=True)


@pytest.fixture
def here() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="vx-") as folder, place(Path(folder)) as made:
        made.write("work/acme/plan.md", "# Plan\n\nthe aardvark\n")
        yield made


def answer(home: Home, caller: Caller, params: dict[str, Any]) -> dict[str, Any]:
    def reload() -> None:
        client = connect(home.socket_path)
        if client is not None:
            with client:
                client.call("reload")

    return list_tokens(home, caller, params, reload=reload)


def _known(home: Home, secret: str) -> Caller | None:
    return Tokens(home.tokens_file).find(secret, time.time())


def _asked(**more: Any) -> dict[str, Any]:
    return {"add": {"name": "ci", "writes": False, **more}}


@pytest.mark.parametrize(
    ("asked", "scope"),
    [
        ({}, Scope()),
        ({"sources": None, "folders": None, "expires": None}, Scope()),
        ({"sources": ["vault", "vault"]}, Scope(("vault",))),
        ({"folders": ["./work//acme/"]}, Scope(folders=("work/acme",))),
        ({"folders": ["{vault}/work"]}, Scope(("vault",), ("work",))),
        ({"projects": [" acme ", "b"]}, Scope(projects=("acme", "b"))),
        ({"sources": ["vault"], "isolated": True}, Scope(("vault",), isolated=True)),
    ],
)
def test_a_token_is_made_as_it_was_asked_for(here: Place, asked: dict[str, Any], scope: Scope) -> None:
    given = {key: [str(one).format(vault=here.vault) for one in value] if isinstance(value, list) else value
             for key, value in asked.items()}  # fmt: skip
    made = answer(here.home, ME, _asked(**given))
    assert _known(here.home, made["token"]) == Caller("ci", scope=scope)
    assert made["made"]["name"] == "ci"
    assert made["doubts"] == []
    assert "token" not in answer(here.home, ME, {})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"name": "a b"}, "cannot be the name"),
        ({"name": 7}, "has a name"),
        ({"writes": "yes"}, "has a name"),
        ({"writes": None}, "has a name"),
        ({"owner": True}, "no 'owner'"),
        ({"source": ["vault"]}, "no 'source'"),
        ({"sources": "vault"}, "lists of texts"),
        ({"sources": ["vauld"]}, "no source 'vauld'"),
        ({"sources": []}, "source is empty"),
        ({"folders": [" "]}, "folder is empty"),
        ({"folders": ["."]}, "whole of a vault"),
        ({"folders": ["../other"]}, "no folder of a vault"),
        ({"folders": ["/etc"]}, "lies in no vault"),
        ({"folders": ["a\0b"]}, "lists of texts"),
        ({"folders": ["a\ud800"]}, "lists of texts"),
        ({"projects": ["a"] * 101}, "lists of texts"),
        ({"projects": [""]}, "project is empty"),
        ({"isolated": True}, "isolated needs"),
        ({"expires": "someday"}, "not a date"),
        ({"expires": "2020-01-01"}, "over already"),
        ({"expires": 1.5}, "lists of texts"),
    ],
)
def test_what_would_be_another_token_than_meant_is_refused(here: Place, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(VaultIndexError) as caught:
        answer(here.home, ME, _asked(**asked))
    assert said in caught.value.message
    assert Tokens(here.home.tokens_file).all() == ()


@pytest.mark.parametrize("params", [{"add": 1}, {"revoke": None}, {"ad": {}}, {"revoke": "ci", "add": {}}])
def test_what_is_neither_is_refused(here: Place, params: dict[str, Any]) -> None:
    answer(here.home, ME, _asked())
    with pytest.raises(VaultIndexError, match="nothing of this"):
        answer(here.home, ME, params)
    assert [token.caller.name for token in Tokens(here.home.tokens_file).all()] == ["ci"]


def test_tokens_are_listed_with_those_of_pages_and_revoked(here: Place) -> None:
    secret = answer(here.home, ME, _asked(expires="in 2 hours"))["token"]
    Tokens(here.home.tokens_file).add(ME, created=1.0, expires=2.0)
    listed = answer(here.home, ME, {})
    assert [(row["name"], row["owner"], row["expired"]) for row in listed["results"]] == [
        ("ci", False, False),
        ("page-1", True, True),
    ]
    assert (listed["name"], listed["sources"]) == ("page-1", ["vault"])
    assert secret not in str(listed)
    assert [row["name"] for row in answer(here.home, ME, {"revoke": "ci"})["results"]] == ["page-1"]
    assert _known(here.home, secret) is None
    with pytest.raises(VaultIndexError, match="no token 'ci'"):
        answer(here.home, ME, {"revoke": "ci"})


def test_what_may_not_have_been_meant_is_said(here: Place) -> None:
    made = answer(here.home, ME, {"add": {"name": "ci", "writes": True, "folders": ["work", "werk"]}})
    assert [one.split(":")[0] for one in made["doubts"]] == ["There is no folder werk yet", "It can store nothing"]


def test_an_index_of_its_own_comes_and_goes_with_the_token(here: Place) -> None:
    def parts() -> list[str]:
        client = connect(here.home.socket_path)
        assert client is not None
        with client:
            status = client.call("status")
        assert isinstance(status, dict)
        return [name for part in status["daemon"].get("isolated", ()) for name in part["tokens"]]

    here.daemon()
    answer(here.home, ME, _asked(sources=["vault"], isolated=True))
    until(lambda: parts() == ["ci"])
    answer(here.home, ME, {"revoke": "ci"})
    until(lambda: parts() == [] and not os.listdir(here.home.isolated_dir))


@pytest.mark.parametrize("name", ["tokens", "disk", "about", "sent", "tree"])
def test_it_is_for_the_owner_alone(here: Place, name: str) -> None:
    served = here.serve()
    secret = here.token("laptop", writes=True)
    owner = Tokens(here.home.tokens_file).add(ME, created=time.time())
    refused = served.ask("POST", f"/page/{name}", b"{}", bearer(secret))
    assert (refused.status, "vault-index open" in refused.json["error"]["hint"]) == (403, True)
    assert served.ask("POST", f"/page/{name}", b"{}", bearer(owner)).status == 200


def test_a_disk_is_told_of_by_what_is_on_it(here: Place) -> None:
    here.daemon()
    here.home.sessions_dir.mkdir()
    (here.home.sessions_dir / "one").write_bytes(b"x" * 70_000)
    owner = Tokens(here.home.tokens_file).add(ME, created=time.time())
    told = here.serve().ask("POST", "/page/disk", b"{}", bearer(owner)).json
    sizes = {row["name"]: row["bytes"] for row in told["results"]}
    assert sizes["kept sessions"] == 70_000
    assert sizes["index"] >= here.home.index_db.stat().st_size > 0
    assert {"index", "state", "kept sessions", "other"} <= sizes.keys()
    assert told["total"] == sum(sizes.values())
