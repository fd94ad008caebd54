import pytest
from hypothesis import given, strategies as st

from vault_index.markdown.normalize import normalize_tag


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("SQLite", "sqlite"),
        ("#ops/Storage", "ops/storage"),
        ("  # two words ", "two-words"),
        ("project:My-API", "project/my-api"),
        ("project: my api", "project/my-api"),
        ("a:b", "a:b"),
        ("/a//b/", "a/b"),
        ("a / b", "a/b"),
        ("Straße", "straße"),
        ("ÄRGER", "ärger"),
        ("cafe\u0301", "café"),
        ("读书/小说", "读书/小说"),
        ("🎉", "🎉"),
        ("2024", "2024"),
        ("c#", "c"),
        ("#", ""),
        ("", ""),
    ],
)
def test_one_spelling(written: str, stored: str) -> None:
    assert normalize_tag(written) == stored


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalize_tag(text)
    assert normalize_tag(once) == once
    assert once == once.strip("/ \n\t")
