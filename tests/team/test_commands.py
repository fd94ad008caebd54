"""The commands `pool` and the daemon that publishes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.process import Out, answer
from tests.team.machines import Laptop, paths
from tests.waiting import until
from tests.world import World
from vault_index.cli import main


@pytest.fixture
def anna(pool_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laptop:
    """A machine that does not know the pool yet, whose commands use its home."""
    laptop = Laptop(tmp_path / "anna", pool_dsn)
    text = laptop.home.config_file.read_text("utf-8").partition("[pool]")[0]
    laptop.home.config_file.write_text(text, "utf-8")
    monkeypatch.setenv("VAULT_INDEX_HOME", str(laptop.home.data_dir))
    laptop.write("one.md", "# One\n\ntext")
    return laptop


def test_commands_join_publish_and_leave(anna: Laptop, capsys: Out) -> None:
    joined = answer(capsys, "pool", "join", anna.dsn, "--publish", "notes", "--machine", "laptop")
    assert (joined["created"], joined["machine"]) == (False, "laptop")
    done = answer(capsys, "pool", "publish")
    assert [(one["name"], one["published"]) for one in done["results"]] == [("notes", 1)]
    status = answer(capsys, "pool", "status")
    found = {one["name"]: (one["machine"], one["documents"]) for one in status["results"]}
    assert found["notes"] == ("laptop", 1)
    assert status["publishes"] == ["notes"]
    [sent] = answer(capsys, "status", "--privacy")["results"]
    assert sent["path"] == "one.md"
    assert [one["price"] for one in answer(capsys, "status")["spent"]] == [0.0]
    answer(capsys, "pool", "leave", "notes")
    assert paths(anna.dsn) == set()
    answer(capsys, "pool", "leave")
    assert "[pool]\n" in anna.home.config_file.read_text("utf-8")
    assert main(["pool", "status"]) == 4


def test_join_creates_a_pool(anna: Laptop, capsys: Out) -> None:
    with psycopg.connect(anna.dsn) as pool:
        pool.execute("DROP SCHEMA pool, answer CASCADE")
    assert answer(capsys, "pool", "join", anna.dsn)["created"]


@pytest.mark.parametrize(
    "dsn",
    ["postgresql://anna:geheim@localhost/team", "host=localhost password=geheim", "postgresql://h/db?password=geheim"],
)
def test_join_stores_and_prints_no_password(anna: Laptop, capsys: Out, dsn: str) -> None:
    assert main(["pool", "join", dsn]) == 2
    shown = capsys.readouterr()
    assert "must not contain a password" in shown.err
    assert "geheim" not in shown.err + shown.out + anna.home.config_file.read_text("utf-8")


def test_members_command_prints_a_token_once(anna: Laptop, capsys: Out) -> None:
    answer(capsys, "pool", "join", anna.dsn)
    with psycopg.connect(anna.dsn, autocommit=True) as pool:
        pool.execute("DROP ROLE IF EXISTS carla")
    added = answer(capsys, "pool", "members", "add", "carla", "--write", "--folder", "work")
    assert added["token"].startswith("vx_")
    [carla] = answer(capsys, "pool", "members", "list")["results"]
    assert (carla["name"], carla["writes"], carla["folders"]) == ("carla", True, ["work"])
    assert added["token"] not in json.dumps(carla)
    answer(capsys, "pool", "members", "remove", "carla")
    assert answer(capsys, "pool", "members", "list")["results"] == []


def test_publish_reports_a_pool_that_does_not_answer(anna: Laptop, capsys: Out) -> None:
    anna.write("one.md", "text")
    anna.dsn = "postgresql:///none?host=/nonexistent"
    anna.configure()
    assert main(["pool", "publish"]) == 6
    assert "the pool does not answer" in capsys.readouterr().err
    assert answer(capsys, "search", "text")["results"]
    problems = answer(capsys, "doctor", code=1)["problems"]
    assert "pool" in {one["code"] for one in problems}


@pytest.fixture
def world(pool_dsn: str, tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path, f'[pool]\ndsn = "{pool_dsn}"\nmachine = "anna"\nsources = ["vault"]\n')
    yield world
    world.close()


def test_daemon_publishes_after_each_change(world: World, pool_dsn: str) -> None:
    world.daemon()
    world.write("one.md", "text")
    until(lambda: paths(pool_dsn) == {"one.md"})
    world.write("two.md", "text")
    until(lambda: paths(pool_dsn) == {"one.md", "two.md"})


def test_daemon_waits_for_a_pool_and_says_so(world: World, pool_dsn: str) -> None:
    def problems() -> list[dict[str, Any]]:
        return [one for one in world.ask("status")["problems"] if one["code"] == "pool"]

    with psycopg.connect(pool_dsn, autocommit=True) as pool:
        pool.execute("ALTER SCHEMA pool RENAME TO gone")
        world.write("one.md", "hello text")
        world.daemon()
        until(lambda: bool(problems()))
        assert "no pool" in problems()[0]["message"]
        assert world.found("hello") == {"one.md"}
        pool.execute("ALTER SCHEMA gone RENAME TO pool")
    until(lambda: paths(pool_dsn) == {"one.md"})
    until(lambda: not problems())
