"""`doctor`: the known problems, and recall of notes by their own names."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from tests.embeddings.server import EmbeddingServer
from vault_index import VaultIndex
from vault_index.config.edit import set_value
from vault_index.errors import NotSetUpError

NOTES = {
    "garden/Compost.md": "---\naliases: [the heap]\n---\n# Compost\n\n## What goes in\n\nLeaves.\n",
    "reading/Compost.md": "# A history of leftovers\n\nSee [[garden/Compost|our own rot]] and [[Heat]].\n",
    "Heat.md": "# Heat (NOT: cold)\n\nBelow [[reading/Compost|a book on soil]], ![[x.png|240]].\n",
    "blank.md": "",
    "80-memory/old.md": "---\ntitle: Superseded advice\nsuperseded_by: x\n---\nOld.\n",
    "80-memory/over.md": "---\ntitle: Expired advice\nexpires: 2020-01-01\n---\nOver.\n",
    "broken.md": "---\ntitle: @home\n---\n# Broken\n",
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[VaultIndex]:
    write(tmp_path / "vault", NOTES)
    with opened(tmp_path) as opened_index:
        opened_index.sync()
        yield opened_index


def test_doctor_recall_finds_notes_by_their_names(index: VaultIndex) -> None:
    recall = index.doctor(recall=True).recall
    assert recall is not None
    assert (recall.recall_5, recall.hard) == (1.0, ())
    assert {one.named_by: one.queries for one in recall.classes} == {"title": 4, "alias": 1, "link": 2, "heading": 2}
    assert {document.accesses for document in index.list().results} == {0}


def test_doctor_recall_names_notes_that_are_hard_to_find(index: VaultIndex, tmp_path: Path) -> None:
    write(tmp_path / "vault", {f"crowd/{n}.md": f"# Log {n}\n\nnotes notes notes\n" for n in range(12)})
    # A name shared by more than three documents cannot rank one first.
    write(tmp_path / "vault", {f"z{n}.md": "# Zebra\n\nOf stripes.\n" for n in range(4)})
    write(tmp_path / "vault", {"by.md": "".join(f"Read [[z{n}|notes]].\n" for n in range(4))})
    index.sync()
    recall = index.doctor(recall=True).recall
    assert recall is not None
    assert ("notes", "link") in {(one.query, one.named_by) for one in recall.hard}
    assert recall.recall_5 < 1.0


def test_doctor_recall_sends_no_names_of_local_only_notes(
    index: VaultIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    write(tmp_path / "vault", {"private/diary.md": "# Purple secret\n\n[[Heat|the hidden link]]\n"})
    with EmbeddingServer(dimensions=64) as server:
        for key, value in {"base_url": server.base_url, "model": "toy", "dimensions": "64"}.items():
            set_value(index.home, f"embedding.{key}", value)
        set_value(index.home, "embedding.provider", "openai")
        set_value(index.home, "local_only", '["private/"]', source=index._runtime.config.sources[0].name)
        index._runtime.reload()
        index.sync()
        recall = index.doctor(recall=True).recall
        sent = "\n".join(server.texts)
    assert recall is not None
    assert "our own rot" in sent
    assert "Purple" not in sent
    assert "hidden link" not in sent


def test_doctor_without_an_index_names_the_problem_and_refuses_recall(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        report = index.doctor()
        assert not report.healthy
        assert report.problems[0].code == "not_set_up"
        with pytest.raises(NotSetUpError):
            index.doctor(recall=True)
