"""What is asked of the fixture vault with the shipped model, and of small vaults without one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.judged import open_index, read_set
from tests.api.vaults import opened, write
from vault_index import VaultIndex
from vault_index.query.ranking.confidence import above_chance, above_chance_by_words
from vault_index.query.ranking.passages import Passage
from vault_index.query.ranking.rank import Parts, RankedPassage
from vault_index.query.ranking.retrieval import Evidence
from vault_index.query.search import Mode
from vault_index.store.records import ChunkRecord

FIXTURES = read_set(Path(__file__).parents[2] / "fixtures" / "judged")


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with open_index(FIXTURES, tmp_path_factory.mktemp("confidence")) as index:
        index.sync()
        yield index


@pytest.mark.parametrize("query", ["chicken tikka masala", "visa requirements for Vietnam", "运动员 薪水"])
@pytest.mark.parametrize("mode", ["hybrid", "text"])
def test_a_question_about_nothing_in_the_vault_says_so(fixtures: VaultIndex, query: str, mode: Mode) -> None:
    assert fixtures.search(query, mode=mode).confidence == "none"


@pytest.mark.parametrize("query", ["ipvs hash table kernel", "blossom end rot", "parse_config", "味噌汁"])
@pytest.mark.parametrize("mode", ["hybrid", "text"])
def test_words_that_one_passage_says_are_an_answer(fixtures: VaultIndex, query: str, mode: Mode) -> None:
    assert fixtures.search(query, mode=mode).confidence == "high"


def test_other_words_for_the_same_are_an_answer_with_vectors(fixtures: VaultIndex) -> None:
    query = "cheaper way into town from the plane in Lyon"
    assert fixtures.search(query).confidence != "none"


def test_hits_that_are_no_answer_are_there_all_the_same(fixtures: VaultIndex) -> None:
    answer = fixtures.search("chicken tikka masala")
    assert answer.confidence == "none"
    assert answer.results
    assert all(0.0 <= hit.score <= 1.0 for hit in answer.results)


def test_an_empty_index_answers_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
        assert index.search("docker").confidence == "none"


@pytest.fixture
def one_note(tmp_path: Path) -> Iterator[VaultIndex]:
    text = "---\naliases: [Whale notes]\n---\nWe run docker on the old server, without swap.\n"
    with opened(tmp_path) as index:
        write(tmp_path / "vault", {"Containers.md": text})
        index.sync()
        yield index


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("docker server", {"high"}),
        ("docker", {"high"}),
        ("kind:note", {"high"}),
        ("dokcer", {"high", "low"}),
        ("Whale notes", {"high", "low"}),
        ("Containers", {"high", "low"}),
        ("how do we run docker in the cloud", {"high", "low"}),
        ("giraffe", {"none"}),
        ("kind:memory", {"none"}),
    ],
)
def test_a_vault_of_one_note(one_note: VaultIndex, query: str, expected: set[str]) -> None:
    assert one_note.search(query).confidence in expected


@pytest.fixture(scope="module")
def many_notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    """A short note with an alias, and many that have nothing to do with it."""
    folder = tmp_path_factory.mktemp("many")
    others = {f"{number}.md": f"word{number}\n" for number in range(100)}
    with opened(folder) as index:
        write(folder / "vault", {"Street.md": "---\naliases: [aardvark]\n---\nLook left.\n", **others})
        index.sync()
        yield index


def test_a_name_is_an_answer_though_the_text_says_nothing_of_it(many_notes: VaultIndex) -> None:
    assert many_notes.search("aardvark").confidence != "none"
    assert many_notes.search("aardvark of unicorns with a griffin").confidence == "none"


def test_what_stands_in_a_field_is_an_answer(fixtures: VaultIndex) -> None:
    assert fixtures.search("bd-31").confidence != "none"


def test_what_meets_a_condition_is_an_answer(many_notes: VaultIndex) -> None:
    words = ("left", "unicorn", "griffin", "wyvern", "dragon", "sphinx", "kraken")
    assert many_notes.search(" ".join(words)).confidence == "none"
    assert many_notes.search(" OR ".join(words)).confidence == "low"


def ranked(coverage: float, cosine: float | None) -> RankedPassage:
    chunk = ChunkRecord(**dict.fromkeys(ChunkRecord._fields))  # type: ignore[arg-type]
    return RankedPassage(chunk, Passage(0, 0, False), Evidence(cosine=cosine), Parts(0, 0, 0, 0), coverage, {}, 0.5)


def test_more_chunks_ask_for_more() -> None:
    hits = [ranked(0.3, 0.4), ranked(0.1, None)]
    assert above_chance(hits, 100) > above_chance(hits, 10_000)
    assert above_chance_by_words(hits, 4, 100) > above_chance_by_words(hits, 4, 10_000)


def test_half_of_a_long_question_is_more_than_half_of_a_short_one() -> None:
    hits = [ranked(0.5, None)]
    assert above_chance_by_words(hits, 8, 1000) > above_chance_by_words(hits, 2, 1000)


def test_cosines_count_from_where_unrelated_texts_lie() -> None:
    assert above_chance([ranked(0.0, 0.7)], 1000, unrelated=0.7) == above_chance([ranked(0.0, 0.0)], 1000)
    assert above_chance([ranked(0.0, 0.85)], 1000, unrelated=0.7) == pytest.approx(
        above_chance([ranked(0.0, 0.5)], 1000)
    )
