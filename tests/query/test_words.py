"""Words of a query: forms, typing errors, languages, and queries of many words or only stopwords."""

import pytest
from hypothesis import given, settings, strategies as st

from tests.api.vaults import paths_found as found
from vault_index import VaultIndex
from vault_index.errors import UsageError
from vault_index.query.search import Mode

NOTES = {
    "docker.md": "# Containers\n\nWe run docker on every host.\n",
    "dock.md": "# Harbour\n\nThe docks are closed in winter.\n",
    "kube.md": "# Cluster\n\nA kubernetes cluster with three nodes.\n",
    "react.md": "# Hooks\n\nFetch the data in useEffect.\n",
    "run.md": "He was running late to the café at the corner.\n",
    "zh.md": "# 运维\n\n数据库迁移失败了。\n\n每天晚上两点备份数据库。\n\n我家有一只猫\n",
    "ja.md": "東京タワーに行きました。\n",
    "ko.md": "김치볶음밥 만드는 법\n",
    "ru.md": "Новый край света.\n",
    "bread.md": "# Bread\n\nThe dough rests overnight at eighteen degrees, with a pinch of cardamom.\n",
}


PROVIDER = "local"


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_search_finds_a_word_in_any_script(index: VaultIndex, mode: Mode) -> None:
    typed = {
        "run.md": ("run", "cafe", "CAFÉ"), "react.md": ("useeffect", "effect"), "kube.md": ("kuber*",),
        "zh.md": ("数据库", "迁移", "猫", "了"), "ja.md": ("タワー", "東京", "塔 東"), "ko.md": ("볶음밥", "법"),
        "ru.md": ("край",),
    }  # fmt: skip
    answers = [(path, query, index.search(query, mode=mode)) for path, queries in typed.items() for query in queries]
    assert [query for path, query, one in answers if path not in [hit.path for hit in one.results][:2]] == []
    assert [query for _, query, one in answers if one.corrections] == []
    lines = {
        query: index.search(query, mode=mode).results[0].focus for query in ("猫", "迁移失败", "数据库什么时候备份？")
    }
    assert lines == {"猫": (7, 7), "迁移失败": (3, 3), "数据库什么时候备份？": (5, 5)}


@pytest.mark.parametrize("query", ["dokcer host", "dokcer AND host", "(dokcer OR tea) AND host"])
def test_search_match_all_requires_the_corrected_word(index: VaultIndex, query: str) -> None:
    assert found(index, query, mode="text", match="all") == ["docker.md"]


ASKED = st.text(max_size=40) | st.lists(
    st.sampled_from(
        ["dokcer", "docker", '"', "(", ")", "-", "OR", "AND", "NOT", "tag:x", "is:expired", "数", "猫", "run*", "[a:b]"]
    ),
    max_size=7,
).map(" ".join)


@settings(max_examples=60)
@given(ASKED, st.sampled_from(["hybrid", "text", "vector"]), st.sampled_from(["any", "all"]), st.booleans())
def test_search_orders_its_hits_for_any_query(
    index: VaultIndex, query: str, mode: str, match: str, fuzzy: bool
) -> None:
    try:
        hits = index.search(query, mode=mode, match=match, fuzzy=fuzzy, per_document=2).results  # type: ignore[arg-type]
    except UsageError as error:
        assert error.hint  # noqa: PT017 - a filter that cannot be read may be refused, with a reason
        return
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert len({(hit.path, hit.focus) for hit in hits}) == len(hits)
    assert all(hit.lines[0] <= hit.focus[0] <= hit.focus[1] <= hit.lines[1] for hit in hits)


def test_search_prefers_a_phrase_in_a_sentence_without_requiring_it(index: VaultIndex) -> None:
    answer = index.search('what do I need for the "overnight cardamom dough" to rise?')
    assert (answer.results[0].path, answer.degraded) == ("bread.md", ())
    assert found(index, '"overnight cardamom dough"') == found(index, 'bread "overnight cardamom dough"') == []
    assert found(index, 'what rests overnight at "eighteen degrees" in the kitchen')[0] == "bread.md"
