"""The model that an idle index releases."""

import gc
from pathlib import Path

from tests.api.vaults import indexed, paths_found
from vault_index.embeddings.inference import EnglishModel

NOTES = {"tree.md": "# Oak\n\nAn oak grows slowly.\n", "car.md": "# Engine\n\nThe engine did not start.\n"}


def models_in_memory() -> int:
    gc.collect()
    return sum(type(one) is EnglishModel for one in gc.get_objects())


def test_index_keeps_one_model_until_it_is_released(tmp_path: Path) -> None:
    others = models_in_memory()
    with indexed(tmp_path, NOTES, provider="local") as index:
        before, stats = paths_found(index, "automobile", mode="vector"), index.stats()
        assert before[0] == "car.md"
        assert models_in_memory() == others + 1
        assert not index._runtime.release(60)
        assert models_in_memory() == others + 1
        assert index._runtime.release(0)
        assert models_in_memory() == others
        assert not index._runtime.release(0)
        assert paths_found(index, "automobile", mode="vector") == before
        index._runtime.release(0)
        (tmp_path / "vault" / "tree.md").write_text("# Oak\n\nAn oak grows very slowly.\n", encoding="utf-8")
        report = index.sync()
        assert (report.changed, report.embedded, report.pending) == (1, 1, 0)
        assert index.stats().chunks == stats.chunks
