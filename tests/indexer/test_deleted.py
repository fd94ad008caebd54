"""Sessions that quote a deleted memory: the quotes are not indexed until the memory returns."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.api.vaults import write
from tests.query.sessions import make_home, say
from tests.sources.opencode.stores import Client, tool
from tests.tables import tables
from vault_index import VaultIndex
from vault_index.config.edit import set_value
from vault_index.store.records import TEXT, add_functions

CASES = tables(__file__)

FACT = "Customers in Norway are billed through the reseller Fjordpay in Oslo."
QUOTES: dict[str, list[Any]] = {
    "prose": [f'The memory says: "{FACT}" I keep to it.'],
    "a part": ["I keep in mind that they are **billed through the reseller Fjordpay** in Oslo."],
    "wrapped": ["As is remembered,\nCustomers in Norway are billed through\nthe reseller Fjordpay\nin Oslo."],
    "reasoning": [{"type": "reasoning", "text": f"The memory says: {FACT}", "time": {"start": 1, "end": 2}}, "Fine."],
    "output": [tool("read", {"filePath": "memory.md"}, f"4: {FACT}\n5: ## User · 2026-11-02 10:30\n6: {FACT}\n")],
    "input": [tool("task", {"description": FACT, "prompt": "Ask."})],
}


@contextmanager
def quoted(folder: Path, fact: str = FACT, mirror: bool = False) -> Iterator[tuple[VaultIndex, Client, str]]:
    """Yield an index with a memory and sessions that quote it, and the path of its file."""
    home, client = make_home(folder, mirror=mirror)
    for name, quote in QUOTES.items():
        say(client, f"ses_{name.replace(' ', '')}", ["How is Norway billed?", [*quote, "Zebras graze."]], title=name)
    say(client, "ses_user", [f"Keep in mind: {FACT}", "Zebras graze."], title="user")
    say(client, "ses_title", ["How is Norway billed?", "Zebras graze."], title=FACT)
    set_value(home, "sessions.opencode.include", '["output", "reasoning"]')
    with closing(client), VaultIndex.open(home) as index:
        stored = index.add(fact)
        index.sync()
        yield index, client, stored.path


def quoting(index: VaultIndex) -> set[str]:
    """The titles of sessions whose quotes are indexed."""
    found = index.search("Fjordpay kind:session", limit=50).results
    with closing(apsw.Connection(str(index.home.index_db))) as db:
        add_functions(db)
        rows = db.execute(
            "SELECT title FROM document WHERE kind = 'session' AND (title LIKE '%fjordpay%' OR frontmatter LIKE"
            f" '%fjordpay%' OR id IN (SELECT document_id FROM chunk WHERE {TEXT} LIKE '%fjordpay%'))"
        )
        titles = {title for (title,) in rows}
    assert bool(found) == bool(titles)
    return titles


ALL = {*QUOTES, "user", FACT}


def by_command(index: VaultIndex, vault: Path, path: str) -> None:
    index.delete(path)


def for_good(index: VaultIndex, vault: Path, path: str) -> None:
    index.delete(path, permanent=True)


def by_hand(index: VaultIndex, vault: Path, path: str) -> None:
    (vault / path).unlink()
    index.sync([vault / path])  # as the daemon does


def by_age(index: VaultIndex, vault: Path, path: str) -> None:
    index.prune(before="tomorrow")


def count_zebras(index: VaultIndex) -> int:
    with closing(apsw.Connection(str(index.home.index_db))) as db:
        add_functions(db)
        return int(str(db.execute(f"SELECT count(*) FROM chunk WHERE {TEXT} LIKE '%Zebras graze.%'").get))


@pytest.mark.parametrize(
    ("delete", "mirror"),
    [(by_command, False), (by_command, True), (for_good, False), (by_hand, False), (by_age, False)],
)
def test_delete_removes_quotes_of_the_memory_from_the_index(
    tmp_path: Path, delete: Callable[[VaultIndex, Path, str], None], mirror: bool
) -> None:
    with quoted(tmp_path, mirror=mirror) as (index, client, path):
        assert quoting(index) == ALL
        delete(index, tmp_path / "vault", path)
        assert quoting(index) == {"user"}
        assert count_zebras(index) == len(ALL)  # other text of the sessions stays in its place
        hits = index.search("zebras kind:session", limit=50).results
        assert hits
        assert all("Zebras" in index.get(f"{hit.path}:{hit.focus[0]}").results[0].content for hit in hits)
        if delete is by_command:
            say(client, "ses_late", ["And Sweden?", f"Only that: {FACT}"], title="late")
            write(tmp_path / "vault", {"note.md": f"The memory says: {FACT}\n"})
            index.sync()
            index.rebuild()
            assert quoting(index) == {"user"}
            assert [hit.path for hit in index.search("Fjordpay kind:note").results] == ["note.md"]  # notes stay whole


def test_recall_does_not_quote_a_deleted_memory(tmp_path: Path) -> None:
    with quoted(tmp_path) as (index, _, path):
        assert FACT in index.recall("How is Norway billed?").text
        index.delete(path)
        told = index.recall("How is Norway billed?").text
        assert [line for line in told.split("\n") if "Fjordpay" in line] in ([], [f"> Keep in mind: {FACT}"])


def test_sync_restores_quotes_when_the_memory_returns(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    with quoted(tmp_path) as (index, _, path):
        (deleted,) = index.delete(path).results
        (vault / deleted.details["trash"]).rename(vault / path)
        index.sync()
        assert quoting(index) == ALL
        text = (vault / path).read_text("utf-8")
        index.delete(path)
        assert quoting(index) == {"user"}
        write(vault, {path: text.replace(FACT, "Norway is billed from here.")})  # with other words
        index.sync()
        assert quoting(index) == ALL
        index.delete(path)
        index.add(FACT)
        assert quoting(index) == ALL


def changed(index: VaultIndex, file: Path) -> None:
    index.update(file.name.removesuffix(".md"), content="Norway is billed from here.")


def moved(index: VaultIndex, file: Path) -> None:
    text = file.read_text("utf-8")
    file.unlink()
    file.with_name("elsewhere.md").write_text(text.replace(FACT, "Norway is billed from here."), "utf-8")


def said_in_a_note(index: VaultIndex, file: Path) -> None:
    (file.parents[2] / "norway.md").write_text(f"# Norway\n\n{FACT}\n", "utf-8")
    index.sync()
    file.unlink()


@pytest.mark.parametrize("change", [changed, moved, said_in_a_note])
def test_sync_keeps_quotes_of_a_changed_or_moved_memory(
    tmp_path: Path, change: Callable[[VaultIndex, Path], None]
) -> None:
    with quoted(tmp_path) as (index, _, path):
        change(index, tmp_path / "vault" / path)
        index.sync()
        assert quoting(index) == ALL


@pytest.mark.parametrize(("fact", "said", "stays"), CASES["sync_recognizes_quotes_by_their_words"])
def test_sync_recognizes_quotes_by_their_words(tmp_path: Path, fact: str, said: str, stays: bool) -> None:
    home, client = make_home(tmp_path)
    say(client, "ses_a", ["What now?", said], title="work")
    with closing(client), VaultIndex.open(home) as index:
        stored = index.add(fact, title="Kept in mind", force=True)
        index.sync()
        index.delete(stored.id)
        with closing(apsw.Connection(str(home.index_db))) as db:
            add_functions(db)
            texts = [text for (text,) in db.execute(f"SELECT {TEXT} FROM chunk")]
        assert any(said in text for text in texts) is stays


def test_delete_permanent_removes_a_memory_from_every_database(tmp_path: Path) -> None:
    with quoted(tmp_path) as (index, client, path):
        client.connection.execute("DELETE FROM session WHERE id IN ('ses_user')")
        index.sync()
        index.delete(path, permanent=True)
        data = index.home.data_dir
    kept = b"".join(file.read_bytes() for file in data.rglob("*") if file.is_file())
    assert b"jordpay" not in kept
