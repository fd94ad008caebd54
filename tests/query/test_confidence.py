"""Queries to the fixture vault with the shipped model, and to small vaults without one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.vaults import indexed, write
from vault_index import VaultIndex
from vault_index.query.search import Mode


@pytest.fixture(scope="module")
def one_note(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    text = "---\naliases: [Whale notes]\n---\nWe run docker on the old server, without swap.\n"
    with indexed(tmp_path_factory.mktemp("one"), {"Containers.md": text}) as index:
        yield index


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("docker server", {"high"}),
        ("kind:note", {"high"}),
        ("docker hosting providers", {"low"}),
        ("dokcer", {"high", "low"}),
        ("Whale notes", {"high", "low"}),
        ("how do we run docker in the cloud", {"high", "low"}),
        ("giraffe", {"none"}),
        ("kind:memory", {"none"}),
    ],
)
def test_confidence_is_right_in_a_vault_of_one_note(one_note: VaultIndex, query: str, expected: set[str]) -> None:
    assert one_note.search(query).confidence in expected


def ask(index: VaultIndex, question: str) -> tuple[str, list[bool]]:
    """The confidence of an answer, and whether each of its hits is weak."""
    answer = index.search(question)
    return answer.confidence, [hit.weak for hit in answer.results]


RUSSIAN = {
    "Река.md": "Рейн берёт начало в Альпах и впадает в Северное море у Роттердама.\n",
    "Город.md": "Варшава стала столицей Польши, когда король переехал сюда из Кракова.\n",
    "Учёный.md": "Никола Тесла родился в деревне Смилян и переехал в Нью-Йорк.\n",
    "Болезнь.md": "Чума пришла в Европу на кораблях, которые шли из Крыма.\n",
}


def test_confidence_is_right_in_a_language_unknown_to_the_model(tmp_path: Path) -> None:
    with indexed(tmp_path, RUSSIAN, provider="local") as index:
        assert index.search("Сколько варить свёклу для борща").confidence == "none"
        assert index.search("где Рейн берёт начало").confidence == "high"


TOPICS = {
    "oven.md": "The oven of the bakery is heated to 240 degrees before the bread goes in.\n",
    "boat.md": "The boat was painted in spring, and its anchor lies in the cellar.\n",
    "choir.md": "The choir rehearses on Thursdays in the old fire station.\n",
    "garden.md": "Slugs ate the lettuce, so there are copper rings around the beds now.\n",
}


def test_confidence_is_high_if_one_document_leads(tmp_path: Path) -> None:
    question = "to how many degrees is the oven of the bakery heated"
    with indexed(tmp_path, TOPICS, provider="local") as index:
        assert index.search(question).confidence == "high"
        write(tmp_path / "vault", {"oven too.md": TOPICS["oven.md"].replace("240", "220")})
        index.sync()
        assert index.search(question).confidence == "low"
        # Words to find are not a question: both documents match.
        assert index.search("bakery oven heated").confidence == "high"


def test_hits_that_any_question_would_find_are_weak(tmp_path: Path) -> None:
    with indexed(tmp_path, TOPICS, provider="local") as index:
        level, hits = ask(index, "to how many degrees is the oven of the bakery heated")
        assert (level, hits) == ("high", [False, True, True, True])
        level, hits = ask(index, "how do I replace a broken spoke in a rear bicycle wheel")
        assert (level, set(hits)) == ("none", {True})


def test_hits_that_match_the_query_are_not_weak(tmp_path: Path) -> None:
    others = {
        f"other {number}.md": f"A note on the number {number}, and on nothing else at all.\n" for number in range(40)
    }
    zebras = {
        "zebra.md": "# Zebra\n\nA zebra is a zebra: every zebra has the stripes of a zebra.\n",
        "Zebra crossing.md": "White bars on a street.\n",
        "tagged.md": "---\ntags: [animals/zebra]\n---\nIt has stripes, and lives in herds on the plains.\n",
        "said.md": "In a long list of the animals that were seen there, far behind, one zebra.\n" * 5,
        "told.md": "---\nabout: the zebra of the zoo\n---\nIt is fed at noon.\n",
    }
    with indexed(tmp_path, {**others, **zebras}, provider="local") as index:
        modes: tuple[Mode, ...] = ("hybrid", "text")
        for question in ("zebra", "zebr*", "zebar", "zebra OR quagga", "how is the zebra", "zebra tag:animals"):
            for mode in modes[: 1 if question == "zebar" else 2]:
                hits = index.search(question, mode=mode, limit=20).results
                shown = {hit.path for hit in hits if not hit.weak}
                assert not {hit.path for hit in hits if hit.path in zebras} - shown, (question, mode)
        assert not any(hit.weak for hit in index.search("tag:animals/zebra").results)
        assert not any(hit.weak for hit in index.search("", kind="note", limit=50).results)
