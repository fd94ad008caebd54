import os
import shutil
import struct
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from vault_index.config import EmbeddingConfig
from vault_index.embeddings.inference import spans
from vault_index.embeddings.local import LocalEmbedder
from vault_index.errors import ConfigError, EmbedderRefused
from vault_index.models import INT8_SCALE, Vector

TEXTS = [
    "How do I back up the database?",
    "Restore a dump of the database with the restore command.",
    "Knead the dough for ten minutes and let it rise overnight.",
    "",
    "数据库索引",
    "one\n" + "two three four five six seven eight nine ten " * 60,
]


@pytest.fixture(scope="module")
def embedder() -> Iterator[LocalEmbedder]:
    opened = LocalEmbedder(EmbeddingConfig())
    yield opened
    opened.close()


def numbers(vector: Vector) -> tuple[float, ...]:
    return tuple(value / INT8_SCALE for value in struct.unpack("<384b", vector))


def cosine(left: Vector, right: Vector) -> float:
    return sum(a * b for a, b in zip(numbers(left), numbers(right), strict=True))


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("How do I back up the database?", "Make a copy of the Postgres data every night.", "A recipe for rye bread"),
        ("bread with a long rise", "Let the sourdough ferment overnight.", "Rotate the API keys every month."),
    ],
)
def test_local_embedder_places_similar_meanings_nearer(embedder: LocalEmbedder, text: str, near: str, far: str) -> None:
    asked, close, distant = embedder.embed([text, near, far])
    assert cosine(asked, close) > cosine(asked, distant) + 0.2


def test_local_embedder_vector_depends_only_on_its_text(embedder: LocalEmbedder) -> None:
    one_by_one = [embedder.embed_query(text) for text in TEXTS]
    assert embedder.embed(TEXTS) == one_by_one
    assert embedder.embed(TEXTS[::-1]) == one_by_one[::-1]
    for vector in one_by_one:
        assert len(vector) == 384
        assert cosine(vector, vector) == pytest.approx(1.0, abs=0.05)


def test_local_embedder_is_bit_identical_over_sessions_and_threads(
    embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = embedder.embed(TEXTS)
    for cores in (1, 3):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: range(cores), raising=False)
        other = LocalEmbedder(EmbeddingConfig())
        with ThreadPoolExecutor(2) as pool:
            assert [*pool.map(other.embed, [TEXTS, TEXTS])] == [expected, expected]
        other.close()
        other.close()
        assert other.embed_query(TEXTS[0]) == expected[0]  # loads the model again


def test_local_embedder_counts_the_end_of_a_long_text(embedder: LocalEmbedder) -> None:
    garden = "Notes about the garden: we planted beans, peas and carrots in the second bed. " * 66
    end = "The wireless network is slow, so restart the router and change its password. " * 10
    assert len(garden.split()) > 900
    plain, ended = embedder.embed([garden, garden + end])
    question = embedder.embed_query("Where is the router's password?")
    assert cosine(question, ended) > cosine(question, plain) + 0.05


@given(st.integers(1, 2000), st.integers(1, 254))
def test_spans_are_few_even_and_complete(count: int, longest: int) -> None:
    found = spans(count, longest)
    assert [i for start, end in found for i in range(start, end)] == list(range(count))
    lengths = [end - start for start, end in found]
    assert max(lengths) <= longest
    assert max(lengths) - min(lengths) <= 1
    assert len(found) == (count + longest - 1) // longest


@pytest.mark.parametrize("config", [EmbeddingConfig(model="bge-m3"), EmbeddingConfig(dimensions=256)])
def test_local_embedder_refuses_another_model_in_the_configuration(config: EmbeddingConfig) -> None:
    with pytest.raises(ConfigError) as caught:
        LocalEmbedder(config)
    assert "embedding." in caught.value.hint


@pytest.mark.parametrize("content", [None, b"not a model"])
def test_local_embedder_refuses_a_damaged_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "vocab.txt").write_text("[UNK]\n")
    if content is not None:
        (tmp_path / "model" / "model.int8-nm.onnx").write_bytes(content)
    monkeypatch.setattr("vault_index.embeddings.inference.MODEL", tmp_path / "model")
    with pytest.raises(EmbedderRefused, match="cannot be loaded") as caught:
        LocalEmbedder(EmbeddingConfig()).embed(["text"])
    assert "reinstall" in caught.value.hint


def test_local_embedder_refuses_a_model_with_a_wrong_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even one that loads, and one changed after the check."""
    shipped = Path(sys.modules[LocalEmbedder.__module__].__file__ or "").parent / "model"
    shutil.copytree(shipped, tmp_path / "model")
    monkeypatch.setattr("vault_index.embeddings.inference.MODEL", tmp_path / "model")
    LocalEmbedder(EmbeddingConfig()).embed(["text"])
    model = tmp_path / "model" / "model.int8-nm.onnx"
    data = bytearray(model.read_bytes())
    data[len(data) // 2] ^= 1  # among the weights
    model.write_bytes(data)
    with pytest.raises(EmbedderRefused, match="cannot be loaded") as caught:
        LocalEmbedder(EmbeddingConfig()).embed(["text"])
    assert str(caught.value.__cause__) == "checksum mismatch"
