"""A caller with a token for a part of the index writes in that part only."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from tests.world import World
from vault_index import VaultIndex
from vault_index.callers import Caller, Scope
from vault_index.errors import ForbiddenError, NotFoundError, UsageError

OWN, OTHER = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
ACME = Scope(projects=("acme",))
SHOP = Scope(folders=("80-memory/shop",))


def memory(uid: str, project: str, text: str) -> str:
    when = "2026-01-02T03:04:05+00:00"
    return f"---\nid: {uid}\ncreated: {when}\nupdated: {when}\nproject: {project}\n---\n{text}\n"


FILES = {
    "80-memory/shop/own.md": memory(OWN, "acme", "The kettle is blue."),
    "80-memory/note/other.md": memory(OTHER, "other", "The kettle is red."),
    "notes/a.md": "Nothing.\n",
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[VaultIndex]:
    write(tmp_path / "vault", FILES)
    with opened(tmp_path) as index:
        index.sync()
        yield index


def within(index: VaultIndex, scope: Scope, who: str = "") -> VaultIndex:
    return VaultIndex(index._runtime.within(scope, who))


def files(tmp_path: Path) -> dict[str, str]:
    return {
        path.relative_to(tmp_path / "vault").as_posix(): path.read_text(encoding="utf-8")
        for path in (tmp_path / "vault").rglob("*.md")
    }


def test_scope_sets_the_project_of_an_added_memory(index: VaultIndex, tmp_path: Path) -> None:
    part = within(index, ACME)
    added = part.add("The teapot is green.")
    assert "project: acme" in files(tmp_path)[added.path]
    assert [hit.path for hit in part.search("teapot").results] == [added.path]
    assert part.add("The teapot is green.").duplicate_of == added.id
    with pytest.raises(UsageError, match="needs a project"):
        within(index, Scope(projects=("acme", "other"))).add("The cup is green.")


def test_scope_writes_nothing_outside(index: VaultIndex, tmp_path: Path) -> None:
    acts: list[tuple[Scope, Callable[[VaultIndex], object]]] = [
        (ACME, lambda part: part.add("The cup is white.", project="other")),
        (ACME, lambda part: part.add("---\nproject: other\n---\nThe cup is white.\n")),
        (ACME, lambda part: part.update(OWN, project="other", add_tags="cup")),
        (ACME, lambda part: part.update(OWN, project="")),
        (ACME, lambda part: part.decide("edit", OWN, text=memory(OWN, "other", "The cup is white."))),
        (ACME, lambda part: part.delete(OWN, permanent=True)),
        (SHOP, lambda part: part.add("The cup is white.", path="note/cup")),
        (SHOP, lambda part: part.add("The cup is white.", path="../notes/cup")),
        (SHOP, lambda part: part.add("The cup is white.", path="note/other")),
        (Scope(folders=("notes",)), lambda part: part.add("The cup is white.")),
    ]
    for scope, act in acts:
        with pytest.raises((ForbiddenError, UsageError)) as raised:
            act(within(index, scope))
        assert "other.md" not in str(raised.value)
        assert files(tmp_path) == FILES
    assert index.history(OWN).total == 1


def test_scope_treats_an_outside_memory_as_missing(index: VaultIndex, tmp_path: Path) -> None:
    for scope in (ACME, SHOP):
        part = within(index, scope)
        for act in (
            lambda ref: part.update(ref, add_tags="x"),  # noqa: B023 - called at once
            lambda ref: part.delete(ref),  # noqa: B023
            lambda ref: part.archive(ref),  # noqa: B023
            lambda ref: part.revert(ref),  # noqa: B023
            lambda ref: part.history(ref),  # noqa: B023
            lambda ref: part.decide("merge", [OWN, ref]),  # noqa: B023
            lambda ref: part.add("The cup is white.", supersedes=ref),  # noqa: B023
        ):
            told = []
            for ref in (OTHER, "33333333-3333-4333-8333-333333333333"):
                with pytest.raises(NotFoundError) as raised:
                    act(ref)
                told.append((raised.value.message.replace(ref, ""), raised.value.hint.replace(ref, "")))
            assert told[0] == told[1]
    assert files(tmp_path) == FILES


def test_scope_folder_receives_new_memories(index: VaultIndex) -> None:
    part = within(index, SHOP)
    assert part.add("The cup is white.").path.startswith("80-memory/shop/note/")
    assert part.add("The cup is brown.", path="shop/brown").path == "80-memory/shop/brown.md"
    assert part.list(sort="title").total == 3


def test_scope_hides_taken_names_and_ids(index: VaultIndex, tmp_path: Path) -> None:
    part = within(index, ACME)
    added = part.add("The kettle is grey.", path="note/other")
    assert added.path.startswith("80-memory/note/other-")
    same = part.add(memory(OTHER, "acme", "The kettle is gold."))
    assert same.id != OTHER
    deleted = part.delete(added.id).results[0]
    assert deleted.details == {}
    assert files(tmp_path)["80-memory/note/other.md"] == FILES["80-memory/note/other.md"]


def test_scope_refuses_a_merge_that_moves_a_memory_outside(tmp_path: Path) -> None:
    waiting = {
        "80-memory/inbox/one.md": memory(OWN, "acme", "The kettle is blue."),
        "80-memory/inbox/two.md": memory(OTHER, "acme", "The kettle is red."),
    }
    write(tmp_path / "vault", waiting)
    with opened(tmp_path) as index:
        index.sync()
        part = within(index, Scope(folders=("80-memory/inbox",)))
        for action in ("merge", "supersede"):
            with pytest.raises(ForbiddenError):
                part.decide(action, [OWN, OTHER])
            assert files(tmp_path) == waiting
        with pytest.raises(ForbiddenError):
            part.decide("accept", OWN)
        assert files(tmp_path) == waiting


def test_scope_history_names_the_writing_token(index: VaultIndex) -> None:
    part = within(index, ACME, "laptop")
    added = part.add("The teapot is green.", entered_by="somebody")
    part.update(added.id, add_tags="pot")
    part.archive(added.id)
    part.delete(added.id)
    part.revert(added.id)
    assert [one.by for one in index.history(added.id).results] == ["laptop"] * 5


def test_scope_history_hides_versions_from_outside(index: VaultIndex, tmp_path: Path) -> None:
    index.update(OWN, content="The kettle is lilac.", project="other")
    index.update(OWN, content="The kettle is black.", project="acme")
    index.update(OWN, content="The kettle is white.")
    part = within(index, ACME)
    history = part.history(OWN)
    assert [(one.number, one.action) for one in history.results] == [(3, "update"), (2, "update"), (1, "added")]
    assert (history.total, history.forgotten) == (3, 0)
    assert "lilac" not in part.diff(OWN, before=1, after=2).text
    part.revert(OWN, to=1)
    assert "blue" in files(tmp_path)["80-memory/shop/own.md"]


def test_scope_history_of_a_deleted_memory_needs_its_former_scope(index: VaultIndex) -> None:
    index.delete([OWN, OTHER])
    for scope in (ACME, SHOP):
        part = within(index, scope)
        assert part.history(OWN).title == "The kettle is blue"
        for ref in (OTHER, OTHER[:8], "note/other", "80-memory/note/other.md"):
            with pytest.raises(NotFoundError):
                part.history(ref)


def test_scope_hides_a_file_that_left_it_before_the_index_follows(index: VaultIndex, tmp_path: Path) -> None:
    part = within(index, ACME)
    assert "blue" in part.get(OWN).results[0].content
    write(tmp_path / "vault", {"80-memory/shop/own.md": memory(OWN, "other", "The kettle is lilac.")})
    with pytest.raises(NotFoundError):
        part.get(OWN)
    assert "lilac" not in str(part.review(reason="unopened"))
    assert "lilac" not in str(part.review(reason="expired"))


def test_scope_daemon_serves_callers_and_logs_the_writer(new_world: World) -> None:
    new_world.write("b.md", "---\nproject: acme\n---\nThe buffalo.\n")
    new_world.daemon()
    caller = Caller("laptop", True, ACME)
    assert [one["path"] for one in new_world.ask_for(caller, "list")["results"]] == ["b.md"]
    added = new_world.ask_for(caller, "add", text="The teapot is green.")
    found = new_world.ask_for(caller, "search", query="teapot tamarisk")["results"]
    assert [hit["path"] for hit in found] == [added["path"]]
    with pytest.raises(ForbiddenError):
        new_world.ask_for(caller, "update", ref=added["id"], project="other")
    new_world.ask_for(caller, "archive", ref=added["id"])
    assert [one["by"] for one in new_world.ask("history", ref=added["id"])["results"]] == ["laptop"] * 2
    told = [line for line in new_world.log().splitlines() if "written by token" in line]
    assert ["laptop" in line for line in told] == [True, True]
