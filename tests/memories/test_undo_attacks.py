"""Concurrent undos restore the same bytes as before."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.memories.waiting import files_of
from tests.world import opened_world


def test_undo_from_four_clients_reverts_each_change_once(tmp_path: Path) -> None:
    with opened_world(tmp_path) as world:
        world.daemon()
        for number in range(8):
            world.ask("add", text=f"Fact {number} of the heron.")
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: world.ask("undo"), range(8)))
        assert len({str(answer["results"]) for answer in answers}) == 8
        assert files_of(world.vault) == {}
