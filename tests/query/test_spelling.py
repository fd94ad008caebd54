from collections.abc import Iterator

import pytest

from tests.query.readers import reader_of
from vault_index.query.language.parse import parse_query
from vault_index.query.ranking.spelling import Spelling, correct
from vault_index.store import vocabulary
from vault_index.store.reader import IndexReader

FILES = {
    "a.md": "We run docker and a kubernetes cluster.\n",
    "b.md": "React knows useEffect, and the café has a data center of that kind.\n",
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    with reader_of(tmp_path_factory.mktemp("spelling"), FILES) as opened:
        yield opened


def mended(reader: IndexReader, question: str) -> Spelling:
    return correct(reader, parse_query(question).terms, 0.7)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("dokcer", "docker"),
        ("a Kuberntes-cluster", "a kubernetes-cluster"),
        ("doc ker and DOKCER", "docker and docker"),
        ("where is the datacenter", "where is the data center"),
        ("dokcer tag:dokcers", "docker tag:dokcers"),
        ("(dokcer OR useEfect) -tea", "(docker OR useeffect) -tea"),
    ],
)
def test_a_question_is_read_as_it_was_meant(reader: IndexReader, typed: str, meant: str) -> None:
    assert mended(reader, typed).corrected(typed) == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("dokcer", "docker"), ("odcker", "docker"), ("xdocker", "docker"), ("kuberntes", "kubernetes"), ("qocker", "")],
)
def test_of_very_many_words_those_that_begin_alike_are_looked_at(
    reader: IndexReader, monkeypatch: pytest.MonkeyPatch, typed: str, meant: str
) -> None:
    monkeypatch.setattr(vocabulary, "_MANY_TEXTS", 0)
    monkeypatch.setattr(reader, "_vocabulary", None)  # it remembers how large it is
    assert mended(reader, typed).corrected(typed) == (meant or typed)


@pytest.mark.parametrize(
    "typed", ["docker cluster", "running", "cafe", '"dokcer"', "dokc*", "the who", "", "dokc3r", "熊猫"]
)
def test_what_is_right_or_taken_at_its_word_stays(reader: IndexReader, typed: str) -> None:
    spelling = mended(reader, typed)
    assert not spelling.corrections
    assert spelling.corrected(typed) == typed


@pytest.mark.parametrize("phrase", ['"dokcer cluster"', "“dokcer cluster”", "„dokcer“"])
def test_a_phrase_stays_though_its_word_is_corrected_elsewhere(reader: IndexReader, phrase: str) -> None:
    assert mended(reader, f"dokcer {phrase}").corrected(f"dokcer {phrase} dokcer") == f"docker {phrase} docker"


def test_a_correction_makes_no_filter(reader: IndexReader) -> None:
    spelling = mended(reader, "knid:xyz knid")
    assert spelling.corrections == {"knid": "kind"}
    assert spelling.corrected("knid:xyz knid: knid") == "knid:xyz kind: kind"


def test_forms_count_less_than_what_was_typed(reader: IndexReader) -> None:
    forms = mended(reader, "dokcer").forms["dokcer"]
    assert forms.keys() == {"docker"}
    assert 0 < forms["docker"] < 1
