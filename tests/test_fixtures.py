"""The fixture vault, indexed completely, compared with fixtures/README.md."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.vaults import rows
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    home = find_home(tmp_path_factory.mktemp("fixtures"))
    create_config(home, FIXTURES / "vault", provider="none", memory_dir=None)
    with VaultIndex.open(home) as opened:
        opened.sync()
        yield opened


def test_fixture_vault_has_the_documented_counts(index: VaultIndex) -> None:
    documents = index.list(limit=500).results
    assert Counter(document.kind for document in documents) == {"note": 71, "memory": 6}
    assert Counter(document.path.partition("/")[0] for document in documents)["recipes"] == 10
    assert len([document for document in documents if document.path.endswith(".canvas")]) == 1
    held = rows(index.home.index_db)
    assert {row[1] for row in held["document"]} - {row[0] for row in held["chunk"]} == {"inbox/Untitled.md"}


def test_fixture_vault_hides_words_in_code_and_hidden_folders(index: VaultIndex) -> None:
    found = {word: index.search(word, mode="text").results for word in ("quagga", "axolotl", "pangolin")}
    places = {word: [(hit.path, hit.focus[0]) for hit in hits] for word, hits in found.items()}
    assert places == {"quagga": [], "axolotl": [], "pangolin": [("Inbox.md", 14)]}


def test_fixture_vault_counts_lines_like_editors(index: VaultIndex) -> None:
    lines = {
        "code/Python packaging.md": 44, "recipes/Kartoffelsalat.md": 28, "recipes/Pancakes.md": 4,
        "house/Leaking tap.md": 28, "garden/Garden log.md": 166,
    }  # fmt: skip
    assert {path: index.get(path, full=True).results[0].lines[1] for path in lines} == lines


def test_fixture_vault_names_broken_frontmatter_with_its_line(index: VaultIndex) -> None:
    problems = [problem.message.partition(": ")[0] for problem in index.status().problems]
    assert problems == ["daily/2026-03-13.md:2", "projects/Kitchen shelf.md:2", "reading/Compost.md:4"]


def test_fixture_vault_words_find_their_note(index: VaultIndex) -> None:
    paths = {
        "Bärlauch Kartoffelsalat Brühe": "recipes/Kartoffelsalat.md", "parse_config": "code/parse_config.md",
        "kube-proxy": "code/kube-proxy.md", "starter winter feeding": "recipes/Sourdough starter.md",
        "use effect": "code/useEffect.md", "网络": "code/Docker 网络笔记.md",
        "全文検索": "code/SQLite 全文検索メモ.md", "참기름 달걀": "recipes/김치볶음밥.md", "醤": "recipes/味噌汁.md",
    }  # fmt: skip
    assert {query: index.search(query, mode="text").results[0].path for query in paths} == paths


def test_fixture_vault_is_unchanged_by_indexing(index: VaultIndex) -> None:
    files = [path for path in (FIXTURES / "vault").rglob("*") if path.is_file()]
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in files]
    index.rebuild()
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in files] == before
