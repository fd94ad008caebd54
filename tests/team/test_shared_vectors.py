"""A text that one machine embedded is not embedded again by the next one of the team."""

import math
import struct
from pathlib import Path

import pytest

from tests.team.machines import Laptop
from vault_index import VaultIndex
from vault_index.models import INT8_SCALE, VectorSpace
from vault_index.results.changes import SyncReport
from vault_index.store.state import State
from vault_index.team.shared_vectors import as_floats, as_vector

FLOATS = VectorSpace("openai", "m", 4, "http://x")
BYTES = VectorSpace("local", "all-MiniLM-L6-v2-int8", 4)
UNIT = [0.5, 0.5, 0.5, -0.5]


def synced(laptop: Laptop) -> SyncReport:
    with VaultIndex.open(laptop.home) as index:
        return index.sync()


def test_machines_share_vectors_except_of_private_texts(pool_dsn: str, tmp_path: Path) -> None:
    anna, ben = (Laptop(tmp_path / name, pool_dsn, embedder="local") for name in ("anna", "ben"))
    anna.write("one.md", "# One\n\nthe same text")
    anna.write("two.md", "# Two\n\nanother text")
    anna.publish()
    ben.configure("vectors = true", vault='local_only = ["private/"]')
    ben.write("copy.md", "# One\n\nthe same text")
    ben.write("private/two.md", "# Two\n\nanother text")
    report = synced(ben)
    assert (report.embedded, report.cached) == (1, 1)
    assert [(one.path, one.model) for one in State(ben.home.state_db).sent()] == [("copy.md", "hashes")]


def test_machine_embeds_itself_if_the_pool_does_not_answer(pool_dsn: str, tmp_path: Path) -> None:
    ben = Laptop(tmp_path / "ben", "postgresql:///none?host=/nonexistent", embedder="local")
    ben.configure("vectors = true")
    ben.write("one.md", "some text")
    assert synced(ben).embedded == 1


@pytest.mark.parametrize("space", [FLOATS, BYTES])
@pytest.mark.parametrize("floats", [UNIT[:3], [0.1, 0.1, 0.1, 0.1], [math.nan] * 4, [0.0] * 4, [2.0, 0.0, 0.0, 0.0]])
def test_as_vector_refuses_what_is_no_unit_vector(space: VectorSpace, floats: list[float]) -> None:
    assert as_vector(space, floats) is None


def test_as_vector_restores_the_stored_bytes() -> None:
    stored = struct.pack("8b", *[127, -127, 90, 60, -60, 5, 0, 127])
    space = BYTES._replace(dimensions=8)
    rounded = [round(part * 2048) / 2048 for part in as_floats(space, stored)]
    assert as_vector(space, rounded) == stored
    assert struct.unpack("4b", as_vector(BYTES, [127 / INT8_SCALE] * 4) or b"") == (127,) * 4
    assert as_floats(FLOATS, as_vector(FLOATS, UNIT) or b"") == pytest.approx(UNIT)
