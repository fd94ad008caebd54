"""`doctor --recall`: the local models on a vault's own passages."""

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.api.vaults import indexed
from tests.embeddings.server import EmbeddingServer
from vault_index.config.edit import set_value
from vault_index.config.schema import EmbeddingConfig
from vault_index.embeddings import open_embedder
from vault_index.embeddings.packages import install_multilingual
from vault_index.health import local_models
from vault_index.health.local_models import ask_for_itself, compare_models, language_of, reciprocal_ranks
from vault_index.models import Vector, VectorSpace

NOTES = {
    "boiler.md": "The boiler is serviced every spring.\n\nThe plumber looks at burner, pump and pressure of water.\n",
    "bread.md": "# How we bake rye bread\n\nMix the flour with warm water, add salt, leave the dough overnight.\n",
    "heizung.md": "Die Heizung wird jedes Jahr gewartet.\n\nDer Klempner prüft Brenner, Pumpe und Wasserdruck genau.\n",
    "short.md": "Too short.\n",
}


class Indifferent:
    """A model to which all texts are the same."""

    remote, via, batch_tokens, batch_texts = False, "", 1000, 16
    space = VectorSpace("local", "indifferent", 2)

    def embed(self, texts: Sequence[str], before: Callable[[], object] | None = None) -> list[Vector]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str, before: Callable[[], object] | None = None) -> Vector:
        return struct.pack("<2f", 1.0, 0.0)

    def release(self, unused: float) -> bool:
        return False

    def close(self) -> None:
        return


def test_a_passage_asks_for_itself() -> None:
    thai = "หม้อไอน้ำได้รับการบริการทุกฤดูใบไม้ผลิช่างประปาตรวจสอบหัวเผาและปั๊ม"
    third = len(thai) // 3
    for text, asked in (
        ("# How we bake bread\n\nMix the flour with water.", ("How we bake bread", "Mix the flour with water.")),
        ("Yes. Ann came home late. She was tired, and slept for a day.",
         ("Yes. Ann came home late.", "She was tired, and slept for a day.")),
        (thai, (thai[:third], thai[third:])),
        ("Too short.", None),
    ):  # fmt: skip
        assert ask_for_itself(text) == asked


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The plumber looks at the burner and the pump.", "English"),
        ("Der Klempner prüft den Brenner und die Pumpe.", "other Latin"),
        ("Сантехник проверяет горелку и насос.", "Cyrillic"),
        ("水管工会检查燃烧器和水泵。", "Chinese"),
        ("配管工はバーナーとポンプを調べます。", "Japanese"),
        ("12 + 30 = 42", "No words"),
    ],
)
def test_languages_are_told_as_far_as_models_care(text: str, language: str) -> None:
    assert language_of(text) == language


def test_the_rank_is_that_of_the_passage_of_the_same_place() -> None:
    east, north, between = (struct.pack("<2f", *vector) for vector in ((1.0, 0.0), (0.0, 1.0), (0.6, 0.8)))
    ranks = reciprocal_ranks(Indifferent.space, [east, east, between], [east, north, between])
    assert ranks == pytest.approx([1.0, 1 / 3, 1.0])


def test_the_present_model_is_measured_and_the_other_one_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = open_embedder(EmbeddingConfig())
    assert shipped is not None
    monkeypatch.setattr(local_models, "_installed", lambda: [("all-MiniLM-L6-v2", shipped)])
    with indexed(tmp_path, NOTES, provider="local") as index:
        compared = compare_models(index._runtime)
    assert compared is not None
    assert (compared.present, compared.passages, compared.chunks) == ("all-MiniLM-L6-v2", 3, 4)
    assert {one.language: one.share for one in compared.languages} == {"English": 0.6667, "other Latin": 0.3333}
    assert compared.known == 0.6667
    first, second = compared.models
    assert (first.mrr, first.by_language, first.hint) == (1.0, (1.0, 1.0), "")
    assert (second.mrr, second.seconds, second.download_mb) == (None, None, 76)
    assert second.hint == f"{install_multilingual()} && vault-index config set embedding.model multilingual-e5-small"


def test_both_models_are_asked_for_the_same_passages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = [("all-MiniLM-L6-v2", Indifferent()), ("multilingual-e5-small", Indifferent())]
    monkeypatch.setattr(local_models, "_installed", lambda: models)
    with indexed(tmp_path, NOTES, provider="local") as index:
        assert compare_models(index._runtime, seconds=-1.0) is None  # no time for a single passage
        recall = index.doctor(recall=True).recall
    assert recall is not None
    assert recall.models is not None
    assert [bool(model.hint) for model in recall.models.models] == [False, True]
    assert all(model.seconds is not None for model in recall.models.models)


def test_nothing_is_sent_for_the_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setattr(local_models, "_installed", lambda: [("all-MiniLM-L6-v2", Indifferent())])
    with indexed(tmp_path, NOTES) as index, EmbeddingServer(dimensions=64) as server:
        for key, value in {"base_url": server.base_url, "model": "toy", "provider": "openai"}.items():
            set_value(index.home, f"embedding.{key}", value)
        index._runtime.reload()
        compared = compare_models(index._runtime)
        assert server.texts == []
    assert compared is not None
    assert (compared.present, compared.known) == ("toy", None)
    assert compared.models[0].hint.startswith("vault-index config set embedding.provider local, and ")
