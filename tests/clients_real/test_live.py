"""Sessions are searchable while their client runs."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.clients_real.test_connect import MAKE, WORDS, Place
from tests.waiting import until

PROMPT = "When does the airship land?\n\n[[scene:live]]"
ANSWER = "It comes down on the meadow behind the mill, as soon as the fog has lifted."


@pytest.mark.parametrize("name", MAKE)
def test_watch_indexes_a_turn_while_the_client_runs(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    place = Place(tmp_path_factory.mktemp("live").resolve(), name, live=[{"text": ANSWER, "hold": 1}])
    watching = [sys.executable, "-m", "vault_index", "watch", "--quiet"]

    def found(word: str) -> bool:
        answer = json.loads(place.vx("search", word, "--mode", "text", "--client", name, "--json"))
        return bool(answer["results"])

    with subprocess.Popen(watching, env=place.env) as daemon, ThreadPoolExecutor(1) as beside:
        try:
            until(lambda: json.loads(place.vx("status", "--json"))["daemon"]["running"])
            client = beside.submit(place.client.run, *WORDS[name], PROMPT)
            until(place.model.held.is_set)
            until(lambda: found("airship"))
            assert not client.done()
            assert not found("meadow")
            place.model.go_on.set()
            client.result()
            until(lambda: found("meadow"))
        finally:
            place.model.go_on.set()
            daemon.terminate()
