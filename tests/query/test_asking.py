"""Searches exclude the asking session and the sessions that it belongs to."""

import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.query.sessions import make_home, say
from tests.sources.opencode.stores import Client
from tests.waiting import PATIENCE
from vault_index import VaultIndex
from vault_index.api import dispatch
from vault_index.mcp_server.toolbox import Toolbox
from vault_index.mcp_server.tools import TOOLS

EVERY = {"ses_main", "ses_part", "ses_deeper", "ses_sister", "ses_fork", "ses_ninth"}


def fill(client: Client) -> None:
    for session, columns in {
        "ses_main": {},
        "ses_part": {"parent_id": "ses_main"},
        "ses_deeper": {"parent_id": "ses_part"},
        "ses_sister": {"parent_id": "ses_main"},
        "ses_ninth": {},
    }.items():
        say(client, session, [f"The turnstile squeaks, says {session}.", "Noted."], title=f"About {session}", **columns)
    client.fork("ses_main", "ses_fork")
    client.user("The turnstile squeaks, says ses_fork.", "ses_fork")
    client.close()


@pytest.fixture(scope="module", params=[False, True], ids=["rows", "mirrored"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    home, client = make_home(tmp_path_factory.mktemp("asking"), mirror=request.param)
    fill(client)
    with VaultIndex.open(home) as opened:
        opened.sync()
        yield opened


def found(index: VaultIndex, **options: Any) -> set[str]:
    hits = index.search("turnstile squeaks", limit=50, **options).results
    return {session for session in EVERY for hit in hits if session in hit.snippet}


def recalled(index: VaultIndex, **options: Any) -> set[str]:
    text = index.recall("which turnstile squeaks", project="/home/user/api", budget=5000, **options).text
    return {session for session in EVERY if f"says {session}" in text or f"About {session}" in text}


@pytest.mark.parametrize(
    ("asking", "left"),
    [
        ("ses_main", {"ses_fork", "ses_ninth"}),
        ("ses_deeper", {"ses_fork", "ses_ninth"}),
        ("ses_fork", {"ses_ninth"}),
        ("ses_ninth", EVERY - {"ses_ninth"}),
        ("ses_unknown,ses_sister", {"ses_fork", "ses_ninth"}),
        (["ses_main", "ses_ninth"], {"ses_fork"}),
        ("ses_oth", EVERY),
    ],
)
def test_search_excludes_the_asking_session_and_its_relatives(
    index: VaultIndex, asking: str | list[str], left: set[str]
) -> None:
    assert found(index, exclude_session=asking) == left
    assert recalled(index, session=asking) <= left
    assert ("ses_ninth" in recalled(index, session=asking)) is (left >= {"ses_ninth"})
    anchor = index.timeline(query="turnstile squeaks", exclude_session=asking).anchor
    assert anchor.title not in {f"About {session}" for session in EVERY - left}


def test_search_takes_a_recent_session_of_the_folder_for_the_current_one(tmp_path: Path) -> None:
    home, client = make_home(tmp_path)
    (tmp_path / "shop/src").mkdir(parents=True)
    (tmp_path / "shop/.git").mkdir()
    shop, now = str(tmp_path / "shop"), int((time.time() + PATIENCE) * 1000)
    for session, folder, at in (
        ("ses_here", shop, now),
        ("ses_below", f"{shop}/src", now),
        ("ses_before", shop, now - 86_400_000),
        ("ses_elsewhere", f"{shop}2", now),
    ):
        say(client, session, [f"The turnstile squeaks, says {session}."], title=f"About {session}", directory=folder)
        for table in ("session", "message", "part"):
            where = "id" if table == "session" else "session_id"
            client.run(f"UPDATE {table} SET time_updated = ? WHERE {where} = ?", at, session)
    client.close()
    with VaultIndex.open(home) as index:
        index.sync()
        current = {hit.path for hit in index.search("turnstile", directory=shop, exclude_session="current").results}
        assert current == {"api/ses_before.md", "api/ses_elsewhere.md"}
        assert len(index.search("turnstile", directory="/", exclude_session="current").results) == 4
        assert len(index.search("turnstile", directory=shop).results) == 4
        # An MCP client does not name its session.
        toolbox = Toolbox(TOOLS, partial(dispatch, index))
        for tool, arguments in (("memory_search", {"query": "turnstile"}), ("memory_recall", {"project": shop})):
            text = toolbox.call(tool, arguments, folders=[f"{shop}/src"]).text
            assert "ses_before" in text, tool
            assert not re.search("ses_(here|below)", text), tool
        around = toolbox.call("memory_timeline", {"query": "turnstile"}, folders=[f"{shop}/src"]).structured
        assert around["anchor"]["path"] in current
