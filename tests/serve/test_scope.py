"""A caller with a token for a part of the index sees nothing else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import indexed
from vault_index import VaultIndex
from vault_index.api.json_api import dispatch
from vault_index.api.served import served_params
from vault_index.callers import Caller, Scope
from vault_index.errors import NotFoundError, UsageError, VaultIndexError

PEAR = """---
tags: [hush/hush]
project: other
aliases: [Zanzibar]
---
# Pear

A xylophone, configuring the kettle. The way is [[apple|quokka road]], and [[apple]].
"""
APPLE = "# Apple\n\nThe apple hangs in the hammock. See [[pear]].\n"
NOTES = {
    "work/apple.md": f"---\ntags: [fruit]\nproject: acme\n---\n{APPLE}",
    "work/lone.md": "---\nproject: acme\n---\n# Lone\n\nA configured kettle.\n",
    "private/pear.md": PEAR,
    "private/copy.md": f"---\nproject: other\n---\n{APPLE}",
}
SEEN = {path: text for path, text in NOTES.items() if path.startswith("work/")}
FOLDER = Scope(folders=("work",))
HIDDEN = ("xylophone", "quokka", "zanzibar", "pear.md", "hush", "private", "configuring", "copy.md")
CALLS: list[tuple[str, dict[str, Any]]] = [
    *(("search", {"query": query, "explain": True}) for query in ("xylofone", "quokka road", "confi*", "tag:hush")),
    ("get", {"ref": "[[Zanzibar]]"}), ("list", {"sort": "access"}), ("tags", {}), ("related", {"ref": "apple"}),
    ("timeline", {"query": "xylophone"}), ("why", {"query": "apple", "ref": "work/lone.md"}),
]  # fmt: skip
"""A few calls of each kind; test_leaks.py draws them at random."""
SCOPES = [FOLDER, Scope(folders=("/work/",)), Scope(projects=("ACME",)), Scope(("vault",), ("work", "none"), ("acme",))]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with indexed(tmp_path_factory.mktemp("whole"), NOTES) as opened:
        yield opened


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with indexed(tmp_path_factory.mktemp("alone"), SEEN) as opened:
        yield opened


def within(index: VaultIndex, scope: Scope) -> VaultIndex:
    return VaultIndex(index._runtime.within(scope))


def answer(index: VaultIndex, method: str, params: dict[str, Any]) -> Any:
    """Return the answer as JSON without scores and varying values."""
    try:
        return _plain(dispatch(index, method, params))
    except VaultIndexError as error:
        return error.code, error.message, error.hint


_VARYING = {
    "took_ms", "created", "updated", "score", "factors", "parts", "channels", "rarity", "indexed", "bytes", "mtime",
    "confidence", "text", "tokens", "weak",
}  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key not in _VARYING}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def test_scope_answers_like_an_index_of_its_part(index: VaultIndex, alone: VaultIndex) -> None:
    for scope in SCOPES:
        for method, params in CALLS:
            found = answer(within(index, scope), method, params)
            assert found == answer(alone, method, params), (scope, method, params)
            told = str(found).lower()
            assert [word for word in HIDDEN if word in told and word not in str(params).lower()] == []


def test_scope_matches_whole_names_only(index: VaultIndex) -> None:
    assert within(index, Scope(folders=("wor",))).list().total == 0
    assert within(index, Scope(folders=("",))).list().total == 0
    assert within(index, Scope(sources=("elsewhere",))).list().total == 0


def test_scope_errors_name_only_visible_sources(index: VaultIndex) -> None:
    for scope in (FOLDER, Scope(sources=("vault",))):
        code, _, hint = answer(within(index, scope), "search", {"query": "apple", "source": "codex"})
        assert (code, hint) == ("not_found", "the sources are: vault")


def test_scope_follows_the_index(tmp_path: Path) -> None:
    with indexed(tmp_path, SEEN) as index:
        part = within(index, FOLDER)
        assert part.list().total == 2
        (tmp_path / "vault" / "work" / "new.md").write_text("A marmot.\n", encoding="utf-8")
        (tmp_path / "vault" / "private").mkdir()
        (tmp_path / "vault" / "work" / "lone.md").rename(tmp_path / "vault" / "private" / "lone.md")
        index.sync()
        assert [one.path for one in part.list(sort="title").results] == ["work/apple.md", "work/new.md"]
        assert [hit.path for hit in part.search("marmot kettle").results] == ["work/new.md"]


def test_scope_callers_cannot_name_local_folders(index: VaultIndex) -> None:
    for method in ("recall", "sessions"):
        for project in ("/etc", "~/x", ".", ["acme", "../x"]):
            with pytest.raises(UsageError, match="cannot be a folder"):
                served_params(Caller("phone"), method, {"project": project})
        assert served_params(Caller("phone"), method, {"project": "acme"}) == {"project": "acme"}
    everything = within(index, Scope())
    assert answer(everything, "get", {"ref": str(index.home.config_file)})[0] == "not_found"
    assert answer(everything, "list", {})["total"] == 4
    with pytest.raises(NotFoundError):  # a file that is in no index
        everything.why("apple", "nothing/there.md")
