import math
import os
import shutil
import struct
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.api.vaults import indexed
from vault_index import VaultIndex
from vault_index.config import EmbeddingConfig
from vault_index.config.edit import set_value
from vault_index.embeddings import open_embedder
from vault_index.embeddings.local import LocalEmbedder
from vault_index.embeddings.packages import install_multilingual
from vault_index.embeddings.spaces import BOTH, ENGLISH, MULTILINGUAL, MULTILINGUAL_PACKAGE
from vault_index.errors import EmbedderRefused
from vault_index.models import Vector
from vault_index.query.ranking.confidence import scale_of

CONFIG = EmbeddingConfig(model="multilingual-e5-small")
TOGETHER = EmbeddingConfig(model="both")
SPEC = find_spec(MULTILINGUAL_PACKAGE)
built = pytest.mark.skipif(SPEC is None, reason="the multilingual model is not installed: make multilingual")
TEXTS = [
    "The database is copied every night.", "Die Datenbank wird jede Nacht kopiert.", "", "数据库每天凌晨两点复制。",
    "one\n" + "two three four five six seven eight nine ten " * 80,
]  # fmt: skip


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder(CONFIG)


def numbers(vector: Vector) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def cosine(left: Vector, right: Vector) -> float:
    return sum(a * b for a, b in zip(numbers(left), numbers(right), strict=True))


def test_open_embedder_names_the_command_to_install_the_multilingual_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_index.embeddings.spaces.find_spec", lambda name: None)
    for config, space in ((CONFIG, None), (CONFIG, MULTILINGUAL), (TOGETHER, None), (CONFIG, BOTH)):
        with pytest.raises(EmbedderRefused, match="not installed") as caught:
            open_embedder(config, space)
        assert install_multilingual() in caught.value.hint
    english = open_embedder(CONFIG, ENGLISH)  # works while the vectors of the other model wait for it
    assert english is not None
    assert english.space == ENGLISH


@built
def test_multilingual_vector_depends_only_on_its_text(embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [embedder.embed([text])[0] for text in TEXTS]
    assert embedder.embed(TEXTS[::-1]) == expected[::-1]
    for vector in expected:
        assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-5)
    for cores in (1, 3):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: range(cores), raising=False)
        assert LocalEmbedder(CONFIG).embed(TEXTS) == expected


def test_multilingual_checksums_match_the_build_recipe() -> None:
    from vault_index.embeddings.multilingual import _SUMS

    root = Path(__file__).resolve().parent.parent.parent
    lines = (root / "tools" / "multilingual" / "SHA256SUMS").read_text("utf-8").splitlines()
    assert {name: digest for digest, name in map(str.split, lines)} == _SUMS
    notice = (root / "NOTICE").read_text("utf-8")
    assert all(f"{digest}  {name}" in notice for name, digest in _SUMS.items() if name != "centre.f32")


@built
def test_multilingual_separates_queries_passages_and_unrelated_texts(embedder: LocalEmbedder) -> None:
    one, other = embedder.embed(["The dough has to rise overnight.", "The old bridge was destroyed by a flood."])
    assert embedder.embed_query("The dough has to rise overnight.") != one
    assert cosine(one, other) < 0.4  # .75 without centring


@built
@pytest.mark.parametrize(
    "question",
    [
        "When is the database backed up?", "Wann wird die Datenbank gesichert?",
        "Когда делается резервная копия базы данных?", "数据库什么时候备份？",
        "データベースはいつバックアップされますか？", "متى تُحفظ نسخة من قاعدة البيانات؟",
    ],
)  # fmt: skip
def test_multilingual_places_similar_meanings_nearer_in_every_language(embedder: LocalEmbedder, question: str) -> None:
    asked = embedder.embed_query(question)
    near = embedder.embed(["The database is copied every night at two.", "每天夜里两点复制数据库。"])
    far = embedder.embed(["The dough has to rise overnight.", "面团要发酵一夜。", "Die Brücke hat fünf Bögen."])
    assert min(cosine(asked, one) for one in near) > max(cosine(asked, one) for one in far) + 0.1


@built
@pytest.mark.parametrize("name", ["centre.f32", "encoder.onnx", "vocabulary.bin", "words.q4"])
def test_multilingual_refuses_files_that_differ_from_the_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert SPEC is not None
    assert SPEC.submodule_search_locations
    shutil.copytree(SPEC.submodule_search_locations[0], tmp_path, dirs_exist_ok=True)
    with (tmp_path / name).open("r+b") as file:
        file.seek(-3, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-3, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    monkeypatch.setattr("vault_index.embeddings.multilingual.files", lambda package: tmp_path)
    with pytest.raises(EmbedderRefused, match="cannot be loaded") as caught:
        LocalEmbedder(CONFIG).embed(["text"])
    assert "reinstall" in caught.value.hint


@built
@pytest.mark.parametrize(
    ("question", "english"),
    [("When is the database backed up?", 1), ("Wann wird die Datenbank gesichert?", 0), ("数据库什么时候备份？", 0)],
)
def test_both_models_give_the_mean_of_their_cosines_or_that_of_the_one_that_reads_the_query(
    embedder: LocalEmbedder, question: str, english: int
) -> None:
    both, alone = LocalEmbedder(TOGETHER), LocalEmbedder(EmbeddingConfig())
    asked = both.embed_query(question)
    factor, scale = scale_of(BOTH, asked)
    assert (scale == scale_of(MULTILINGUAL, asked)[1]) == (not english)
    for text in TEXTS[:2]:
        by_multilingual = cosine(embedder.embed_query(question), embedder.embed([text])[0])
        one, other = (struct.unpack("<384b", vector) for vector in alone.embed([question, text]))
        by_english = sum(a * b for a, b in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)
        expected = (by_english + by_multilingual) / 2 if english else by_multilingual
        assert factor * cosine(asked, both.embed([text])[0]) == pytest.approx(expected, abs=0.005)


@built
def test_both_models_replace_the_english_one_that_answers_until_their_vectors_are_complete(tmp_path: Path) -> None:
    notes = {"backup.md": TEXTS[0], "bread.md": "The dough has to rise overnight."}
    with indexed(tmp_path, notes, provider="local") as index:
        set_value(index.home, "embedding.model", "both")
    with VaultIndex.open(index.home) as index:
        assert (index.embed_plan().chunks, index.status().embedder.model) == (2, ENGLISH.model)
        assert index.search("When is the database copied?").results[0].path == "backup.md"
        index.embed()
        assert index.status().embedder.model == BOTH.model
        found = [
            index.search(asked).results[0] for asked in ("When is the backup?", "Wann wird die Datenbank gesichert?")
        ]
        assert [hit.path for hit in found] == ["backup.md"] * 2
