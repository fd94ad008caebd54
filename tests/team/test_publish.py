"""Publication: what leaves, what stays, who owns a source, and that a repetition changes nothing."""

from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.team.machines import Laptop, contents, paths
from vault_index.errors import BusyError, UsageError
from vault_index.runtime import Runtime
from vault_index.store.state import State
from vault_index.team.database import connect
from vault_index.team.publish import Publisher


@pytest.fixture
def anna(pool_dsn: str, tmp_path: Path) -> Laptop:
    return Laptop(tmp_path / "anna", pool_dsn)


def test_publish_sends_changes_only(anna: Laptop) -> None:
    anna.write("one.md", "# One\n\nfirst text")
    anna.write("work/two.md", "---\nproject: acme\naliases: [Zwei]\n---\n# Two\n\n[[one|the first]] #tag")
    assert anna.publish().published == 2
    anna.write("one.md", "# One\n\nother text")
    (anna.vault / "work/two.md").unlink()
    done = anna.publish()
    assert (done.published, done.removed, done.unchanged) == (1, 1, 0)
    assert anna.publish().published == 0
    found = contents(anna.dsn)
    assert [row[:2] for row in found["zone"]] == [("notes", "")]
    assert "other text" in str(found["chunk"])
    assert "'the first'" not in str(found)


def test_publish_dry_run_changes_nothing(anna: Laptop) -> None:
    anna.write("one.md", "text")
    assert anna.publish(dry_run=True).published == 1
    assert paths(anna.dsn) == set()


def test_publish_leaves_private_documents_out(anna: Laptop) -> None:
    anna.write("open.md", "open")
    anna.write("secret/plan.md", "secret")
    anna.write("80-memory/inbox/new.md", "a captured memory")
    anna.write("80-memory/decision/old.md", "a reviewed memory")
    anna.write("80-memory/team/shared.md", "a memory of the pool")
    anna.configure('mirror = "80-memory/team"', vault='local_only = ["secret/"]')
    assert anna.publish().published == 2
    assert paths(anna.dsn) == {"open.md", "80-memory/decision/old.md"}


def test_publish_withdraws_what_became_private(anna: Laptop) -> None:
    anna.write("open.md", "open")
    anna.write("secret/plan.md", "secret")
    anna.write("draft.md", "a draft")
    anna.write("acme.md", "a note")
    anna.sync()
    with closing(Runtime.open(anna.home)) as runtime, connect(anna.dsn) as pool:  # as in the daemon
        publisher = Publisher(runtime.machine(), pool)
        assert publisher.publish("notes").published == 4
        anna.configure('[sessions.codex]\nlocal_only = ["acme"]', vault='local_only = ["secret/"]')
        assert publisher.publish("notes").removed == 1
        anna.write(".vaultignore", "draft.md")
        anna.write("acme.md", "---\nproject: acme\n---\na note")
        anna.sync()
        assert publisher.publish("notes").removed == 2
        pool.execute("UPDATE document SET version = ''")  # as after a restore
        assert publisher.publish("notes").published == 1
    assert paths(anna.dsn) == {"open.md"}
    assert "secret" not in str(contents(anna.dsn))


def test_publish_leaves_sessions_out_unless_they_are_chosen(anna: Laptop) -> None:
    anna.configure('[sessions]\nmirror = "sessions"\n[sessions.codex]\nenabled = true')
    anna.write("sessions/a.md", "---\nsession: ses_1\n---\nof an agent")
    anna.write("note.md", "a note")
    anna.publish()
    assert paths(anna.dsn) == {"note.md"}


def test_publish_writes_the_ledger_first(anna: Laptop) -> None:
    anna.write("one.md", "text")
    anna.publish()
    [record] = State(anna.home.state_db).sent()
    assert (record.source, record.path, record.model, record.texts, record.tokens) == ("notes", "one.md", "pool", 1, 0)
    assert "password" not in record.endpoint


def test_publish_keeps_a_source_that_disappeared(anna: Laptop) -> None:
    anna.write("one.md", "text")
    anna.publish()
    (anna.vault / "one.md").unlink()
    anna.vault.rename(anna.vault.with_name("unmounted"))
    done = anna.publish()
    assert done.problem is not None
    assert done.problem.code == "source_vanished"
    assert paths(anna.dsn) == {"one.md"}


def test_publish_refuses_the_source_of_another_machine(anna: Laptop, pool_dsn: str, tmp_path: Path) -> None:
    anna.write("one.md", "of anna")
    anna.publish()
    ben = Laptop(tmp_path / "ben", pool_dsn)
    ben.write("two.md", "of ben")
    with pytest.raises(UsageError, match="'anna' publishes the source 'notes'") as error:
        ben.publish()
    assert "--take" in error.value.hint
    assert paths(pool_dsn) == {"one.md"}
    assert ben.publish(take=True).published == 1
    assert paths(pool_dsn) == {"two.md"}
    with pytest.raises(UsageError, match="'ben' publishes"):
        anna.publish()


def test_publish_waits_for_no_other_process(anna: Laptop) -> None:
    anna.write("one.md", "text")
    with psycopg.connect(anna.dsn) as other:
        other.execute("SELECT pg_advisory_lock(hashtext('vault-index source'), hashtext('notes'))")
        with pytest.raises(BusyError):
            anna.publish()
    assert anna.publish().published == 1


def test_publish_sends_vectors(anna: Laptop) -> None:
    anna.embedder = "local"
    anna.configure()
    anna.write("one.md", "# One\n\nfirst text")
    anna.write("work/one.md", "# One\n\nfirst text")
    assert anna.publish().vectors == 1
    assert len(contents(anna.dsn)["embedding"]) == 2
    anna.write("one.md", "# One\n\nother text")
    anna.publish()
    (anna.vault / "work/one.md").unlink()
    anna.publish()
    assert len(contents(anna.dsn)["embedding"]) == 1
    with psycopg.connect(anna.dsn) as pool:
        assert pool.execute("SELECT pending FROM pool.source WHERE name = 'notes'").fetchone() == (0,)
