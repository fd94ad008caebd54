from collections.abc import Iterator

import pytest

from tests.query.readers import query_terms, reader_of
from vault_index.models import Filters
from vault_index.query.language.parse import match_expression, parse_query
from vault_index.query.ranking.retrieval import terms_meant
from vault_index.store.reader import IndexReader

WORDS = "amber basil cedar delta ember fjord grove heron inlet jetty knoll larch maple"
FILES = {
    **{f"{number:02}.md": f"common words {' '.join(WORDS.split()[number:])}\n" for number in range(13)},
    "zz.md": "He was running; useEffect; 数据库; docker v2.\n",
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    with reader_of(tmp_path_factory.mktemp("query_terms"), FILES) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("the amber and the Amber of basil", ["amber", "basil"]),
        ("the who", ["the", "who"]),
        ("useEffect", ["useeffect", "use", "effect"]),
        ("数据库", ["数据", "据库"]),
        ("库", ["库*"]),
    ],
)
def test_query_terms_are_unique_words_with_their_parts(reader: IndexReader, query: str, words: list[str]) -> None:
    assert [term.text + "*" * term.prefix for term in query_terms(reader, query)] == words


def test_query_terms_weigh_more_the_rarer_they_are(reader: IndexReader) -> None:
    unknown, rare, common = query_terms(reader, "qqqqq amber common")
    assert unknown.weight == rare.weight > common.weight > 0
    assert (unknown.known, rare.known, query_terms(reader, "runs")[0].known) == (False, True, True)
    chinese, number = query_terms(reader, "数据 2")
    assert chinese.weight == pytest.approx(query_terms(reader, "docker")[0].weight)
    assert number.text == "2"


def test_query_terms_weigh_a_typing_error_like_its_correction(reader: IndexReader) -> None:
    (meant,), (typed,) = query_terms(reader, "docker"), query_terms(reader, "dokcer")
    assert typed.known
    assert typed.weight == meant.weight
    assert typed.stems["dokcer"] == 1.0
    assert 0 < typed.stems["docker"] < 1


@pytest.mark.parametrize(
    ("meant", "found"),
    [
        ("amber", {"zz.md", "00.md"}),
        ("common amber", {"zz.md"}),  # two words must be adjacent, in that order
        ("common words", set(FILES)),
    ],
)
def test_terms_meant_find_candidates_as_typed_or_as_corrected(reader: IndexReader, meant: str, found: set[str]) -> None:
    match = match_expression(terms_meant(parse_query("docker").terms, {"x": {meant: 0.5}}))
    chunk_ids = [chunk_id for chunk_id, _ in reader.text_candidates(match, 99, Filters())]
    assert {chunk.document.path for chunk in reader.chunks(chunk_ids).values()} == found
