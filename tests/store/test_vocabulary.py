from dataclasses import replace

import pytest

from tests.store.rows import document_row
from vault_index.store.reader import IndexReader
from vault_index.store.vocabulary import count_words
from vault_index.store.writer import IndexWriter


def put(writer: IndexWriter, path: str, texts: list[str], *, title: str = "") -> None:
    known = writer.known("vault").get(path)
    writer.put_document(document_row(path, texts, title=title), (), known.id if known else None, {})
    count_words(writer)


def counts(reader: IndexReader) -> dict[str, int]:
    """Words and the number of texts with each, except words of the path, which every row has."""
    vocabulary = reader.vocabulary()
    words = [word for words in vocabulary.of_lengths(0, 99) for word in words if word not in ("note", "md")]
    return {word: chunks for word, (_, chunks) in vocabulary.look_up(words).items()}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Docker docker DOCKER dockers", {"docker", "dockers"}),
        ("useEffect, snake_case", {"useeffect", "use", "effect", "snake", "case"}),
        ("it's a 3 2024 k8s", {"it", "k8s"}), ("Straße—Über „naïve“ cafe\u0301", {"strasse", "über", "naïve", "café"}),
        ("全文検索 of 用Docker的网络 김치", {"of", "docker"}), ("x" * 40 + " " + "y" * 41, {"x" * 40}),
        ("а\u19b0b Привет", {"привет"}),  # the first contains a letter that FTS5 does not know
    ],
)  # fmt: skip
def test_vocabulary_holds_words_as_written(
    writer: IndexWriter, reader: IndexReader, text: str, words: set[str]
) -> None:
    put(writer, "a.md", [text])
    assert counts(reader) == dict.fromkeys(words, 1)


def test_vocabulary_counts_texts_and_forgets_removed_ones(writer: IndexWriter, reader: IndexReader) -> None:
    put(writer, "a.md", ["tea and tea", "tea, coffee"])
    put(writer, "b.md", ["coffee"])
    assert counts(reader) == {"tea": 2, "and": 1, "coffee": 2}
    put(writer, "a.md", ["tea, coffee", "water"])
    assert counts(reader) == {"tea": 1, "coffee": 2, "water": 1}
    writer.remove_document(writer.known("vault")["a.md"].id)
    count_words(writer)
    assert counts(reader) == {"coffee": 1}


def test_vocabulary_holds_names_and_fields(writer: IndexWriter, reader: IndexReader) -> None:
    def called(alias: str, field: str) -> None:
        row = document_row("a.md", ["text", "more"], title="")
        chunks = tuple(chunk._replace(terms=("", alias, "", "", field, "a.md", chunk.text)) for chunk in row.chunks)
        known = writer.known("vault").get("a.md")
        writer.put_document(replace(row, chunks=chunks), (), known.id if known else None, {})
        count_words(writer)

    called("Kubernetes", "Ada Lovelace")
    assert counts(reader) == dict.fromkeys(["text", "more", "kubernetes", "ada", "lovelace"], 1)
    called("Docker", "Ada Lovelace")
    assert counts(reader) == dict.fromkeys(["text", "more", "docker", "ada", "lovelace"], 1)
    put(writer, "a.md", [])
    assert counts(reader) == {}


def test_frequencies_join_forms_and_take_the_rarest_part(writer: IndexWriter, reader: IndexReader) -> None:
    put(writer, "a.md", ["a data center", "running data", "he runs", "naïve", "用网络"])
    words = ["Data-Center", "run", "NAIVE", "dokcer", "data-lake", "网络", "2024", "x"]
    told = {"Data-Center": 1, "run": 2, "NAIVE": 1, "dokcer": 0, "data-lake": 0}
    assert reader.vocabulary().frequencies(words) == told
    assert reader.vocabulary().frequencies([]) == {}
