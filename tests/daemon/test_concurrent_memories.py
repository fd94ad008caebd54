"""Processes write memories of one vault at once, with a daemon and without: nothing is lost or doubled."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import fresh_rows, opened, rows
from tests.waiting import PATIENCE
from tests.world import World
from vault_index import VaultIndex
from vault_index.markdown.frontmatter import read_frontmatter

PROCESSES, ROUNDS, SHARED = 4, 25, 5
CODE = """
import json, sys
from vault_index.api import VaultIndex, dispatch
from vault_index.config import find_home
from vault_index.daemon.client import connect
from vault_index.errors import VaultIndexError
home, (number, rounds, shared) = find_home(sys.argv[1]), map(int, sys.argv[2:])
client = connect(home.socket_path)
index = VaultIndex.open(home) if client is None else None
for turn in range(rounds):
    requests = (
        ("add", {"text": f"Fact {turn} of process {number}."}),
        ("add", {"text": f"What everybody says, number {turn % shared}.", "tags": [f"of-{number}"]}),
        ("update", {"ref": "log", "content": f"line {turn} of {number}", "append": True}),
    )
    method, params = requests[turn % 3]
    code, answer = 0, {}
    try:
        answer = client.call(method, params) if index is None else dispatch(index, method, params)
    except VaultIndexError as error:
        code = error.exit_code
    print(json.dumps([method, params, code, answer]), flush=True)
(client or index).close()
"""


def run_all(home: Path) -> list[tuple[str, dict[str, Any], int, dict[str, Any]]]:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", CODE, str(home), str(number), str(ROUNDS), str(SHARED)], stdout=subprocess.PIPE
        )
        for number in range(PROCESSES)
    ]
    lines = [line for worker in workers for line in worker.communicate(timeout=PATIENCE)[0].splitlines()]
    assert [worker.returncode for worker in workers] == [0] * PROCESSES
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("with_daemon", [True, False])
def test_concurrent_writes_are_stored_exactly_once(world: World, tmp_path: Path, with_daemon: bool) -> None:
    with VaultIndex.open(world.home) as index:
        index.sync()
        index.add("The log begins.", path="log")
    daemon = world.daemon() if with_daemon else None
    results = run_all(world.home.data_dir)
    assert len(results) == PROCESSES * ROUNDS
    assert {code for _, _, code, _ in results} <= {0, 5}
    done = [(method, params, answer) for method, params, code, answer in results if code == 0]
    files = {path: path.read_text("utf-8") for path in world.vault.rglob("80-memory/**/*.md")}
    log = (world.vault / "80-memory/log.md").read_text("utf-8").splitlines()

    added = {params["text"] for method, params, _ in done if method == "add"}
    bodies = [text.split("\n---\n", 1)[1].strip() for path, text in files.items() if path.name != "log.md"]
    assert sorted(bodies) == sorted(added)
    appended = [params["content"] for method, params, _ in done if method == "update"]
    assert sorted(line for line in log if line.startswith("line ")) == sorted(appended)
    for _, params, answer in done:
        front = read_frontmatter((world.vault / answer["path"]).read_text("utf-8").split("\n")).values
        assert front["id"] == answer["id"]
        assert set(params.get("tags", ())) <= set(front.get("tags", ()))

    if daemon is not None:
        assert daemon.end() == 0
    with opened(tmp_path) as index:
        report = index.sync()  # counts the words that came last; rows there are already
    assert (report.added, report.changed, report.moved, report.removed) == (0, 0, 0, 0)
    assert rows(world.home.index_db) == fresh_rows(tmp_path)
