"""Fusion of the channels: names, phrases in sentences, vectors of unknown languages."""

import pytest

from tests.api.vaults import paths_found as found
from vault_index import VaultIndex

NOTES = {
    "birds.md": "---\naliases: [wader register, heron]\n---\nWhat was seen on the lake in May.\n",
    "garden.md": "The wader register is kept in the shed. Who wants the wader register asks for the wader register.\n",
    "effects of light and water on the growth of moss in old northern gardens.md": "Nothing was measured yet.\n",
    "trial.md": "Light doubles the growth of tomato seedlings under glass.\n",
    "monday.md": "---\naliases: [standup]\n---\nAbout the budget.\n",
    "tuesday.md": "---\naliases: [standup]\n---\nAbout the roof.\n",
    "wednesday.md": "---\naliases: [standup]\n---\nAbout the cellar.\n",
    "thursday.md": "---\naliases: [standup]\n---\nAbout the stairs.\n",
    "office.md": "The standup is at nine. Every standup has minutes, and a standup takes ten minutes at most.\n",
    "el/1.md": "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας και η μεγαλύτερη πόλη της χώρας.\n",
    "el/2.md": "Η Θεσσαλονίκη είναι η δεύτερη μεγαλύτερη πόλη και έχει το μεγάλο λιμάνι του βορρά.\n",
    "el/3.md": "Ο Όλυμπος είναι το ψηλότερο βουνό της χώρας.\n",
    "th/1.md": "กรุงเทพ เป็น เมืองหลวง ของ ประเทศไทย\n",
    "th/2.md": "เชียงใหม่ เป็น เมือง ใน ภาคเหนือ ของ ประเทศไทย\n",
}


PROVIDER = "local"


@pytest.mark.parametrize("mode", ["text", "hybrid"])
@pytest.mark.parametrize("query", ["Wader  Register", "heron"])
def test_search_ranks_a_name_of_few_documents_first(index: VaultIndex, query: str, mode: str) -> None:
    assert found(index, query, mode=mode)[0] == "birds.md"
    scores = [hit.score for hit in index.search(query, mode=mode).results]  # type: ignore[arg-type]
    assert scores == sorted(scores, reverse=True)


def test_search_ranks_by_text_for_a_name_of_many_documents(index: VaultIndex) -> None:
    assert found(index, "standup minutes")[0] == "office.md"
    first, second = index.search("standup", mode="text").results[:2]
    assert first.path == "office.md" or first.score > second.score


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_search_ranks_a_matching_text_above_a_long_similar_title(index: VaultIndex, mode: str) -> None:
    assert found(index, "light doubles the growth of tomato seedlings", mode=mode)[0] == "trial.md"
