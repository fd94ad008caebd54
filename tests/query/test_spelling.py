from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from tests.store.rows import document_row
from tests.tables import tables
from vault_index.query.language.parse import parse_query
from vault_index.query.ranking.spelling import Spelling, correct, corrections, suspected_typos
from vault_index.store.reader import IndexReader
from vault_index.store.vocabulary import count_words
from vault_index.store.writer import IndexWriter

CASES = tables(__file__)

WORDS = {
    "docker": 9, "dockers": 1, "kubernetes": 5, "caroline": 4, "melanie": 2, "cluster": 20, "cloister": 1, "test": 3,
    "best": 3, "group": 2, "data": 8, "center": 6, "résumé": 2, "what": 30, "hat": 2, "useEffect": 1, "sync": 4,
    "planet": 3, "planer": 9,
}  # fmt: skip


@contextmanager
def index_of(folder: Path, words: Mapping[str, int]) -> Iterator[IndexReader]:
    """An index whose texts contain each word this many times."""
    writer = IndexWriter(folder / "index.db")
    texts = [" ".join(word for word, count in words.items() if number < count) for number in range(max(words.values()))]
    writer.put_document(document_row("a.md", [f"{text} {number}" for number, text in enumerate(texts)]), (), None, {})
    count_words(writer)
    writer.close()
    reader = IndexReader(folder / "index.db")
    yield reader
    reader.close()


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    with index_of(tmp_path_factory.mktemp("words"), WORDS) as opened:
        yield opened


def corrected(reader: IndexReader, question: str, threshold: float = 0.7) -> dict[str, list[str]]:
    words = question.split()
    suspects = suspected_typos(reader.vocabulary().frequencies(words))
    found = corrections(suspects, reader.vocabulary(), threshold)
    return {typed: [correction.text for correction in meant] for typed, meant in found.items()}


def test_corrections_find_the_nearest_word(reader: IndexReader) -> None:
    meant = {
        "dokcer": "docker", "ocker": "docker", "dockrs": "dockers", "kuberntes": "kubernetes", "crolin": "caroline",
        "melaniwe": "melanie", "goup": "group", "syn": "sync", "useefect": "useeffect", "resumme": "résumé",
        "datacenter": "data center",
    }  # fmt: skip
    assert {typed: corrected(reader, f"the {typed}")[typed][0] for typed in meant} == meant


@pytest.mark.parametrize("question", CASES["corrections_keep_words_without_typing_errors"])
def test_corrections_keep_words_without_typing_errors(reader: IndexReader, question: str) -> None:
    assert corrected(reader, question) == {}


def test_corrections_prefer_common_words_and_the_first_letter(reader: IndexReader) -> None:
    assert corrected(reader, "planec tbest") == {"planec": ["planer", "planet"], "tbest": ["test", "best"]}


def test_corrections_complete_a_prefix_without_similar_words(reader: IndexReader) -> None:
    assert corrected(reader, "kuber") == {"kuber": ["kubernetes"]}
    assert corrected(reader, "kube") == {}  # too short to be sure
    assert corrected(reader, "docke") == {"docke": ["docker"]}
    assert corrected(reader, "kuber", 1.0) == {}


def test_corrections_threshold_is_the_share_of_equal_letters(reader: IndexReader) -> None:
    assert corrected(reader, "dokcer", 0.8) == {"dokcer": ["docker"]}
    assert corrected(reader, "dokcer", 0.9) == {}
    assert corrected(reader, "kubrntse", 0.8) == {}
    assert corrected(reader, "kubrntse", 0.6) == {"kubrntse": ["kubernetes"]}
    assert corrected(reader, "dokcer", 1.0) == {}


def test_corrections_doubt_a_rare_word_only_next_to_a_common_one(tmp_path: Path) -> None:
    with index_of(tmp_path, {"cluster": 150, "clustr": 1, "claps": 1, "class": 20}) as reader:
        frequencies = reader.vocabulary().frequencies(["cluster", "clustr", "claps", "clss"])
        suspects = suspected_typos(frequencies)
        assert suspects == {"clustr": 1, "claps": 1, "clss": 0}
        found = corrections(suspects, reader.vocabulary())
        assert {typed: meant[0].text for typed, meant in found.items()} == {"clustr": "cluster", "clss": "class"}


def test_corrections_ignore_dozens_of_equally_near_words(tmp_path: Path) -> None:
    alike = {f"zat{letter}lolu": 1 for letter in "abcdefghijkmnopqrstuvwxyz"}
    with index_of(tmp_path, alike) as reader:
        assert corrected(reader, "zatllolu") == {}


@given(st.lists(st.text(max_size=20), max_size=4), st.floats(0, 1))
def test_corrections_accept_any_words(reader: IndexReader, words: list[str], threshold: float) -> None:
    suspects = suspected_typos(reader.vocabulary().frequencies(words))
    for meant in corrections(suspects, reader.vocabulary(), threshold).values():
        assert all(0 < correction.weight < 1 for correction in meant)


def mended(reader: IndexReader, question: str) -> Spelling:
    return correct(reader, parse_query(question).terms, 0.7)


@pytest.mark.parametrize(("typed", "meant"), CASES["corrections_change_only_words_of_a_query"])
def test_corrections_change_only_words_of_a_query(reader: IndexReader, typed: str, meant: str) -> None:
    assert mended(reader, typed).corrected(typed) == meant
