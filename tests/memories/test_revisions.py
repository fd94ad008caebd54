"""Random commands, hand edits and undos: undo restores a command's files or none, and no seen text is lost."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.api.vaults import opened
from tests.memories.waiting import files_of, new_home
from tests.seeds import TIMES
from vault_index.errors import ConflictError, VaultIndexError

Files = dict[str, bytes]
COMMANDS = ("add", "update", "append", "archive", "delete", "accept", "supersede", "merge", "revert")


class Memories(RuleBasedStateMachine):
    """A vault with a few memories; `done` has the files of each command before and after it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.vault = new_home(Path(self.folder.name))
        self.index = opened(Path(self.folder.name)).__enter__()
        self.done: list[tuple[Files, Files]] = []
        self.seen: set[bytes] = set()
        self.number = 0

    def teardown(self) -> None:
        self.index.close()
        self.folder.cleanup()

    def paths(self, choice: int) -> list[str]:
        """Return all memories, rotated, so that the choice is the first."""
        paths = sorted(files_of(self.vault))
        return paths[choice % len(paths) :] + paths[: choice % len(paths)] if paths else ["none"]

    @rule(command=st.sampled_from(COMMANDS), choice=st.integers(0, 9))
    def run(self, command: str, choice: int) -> None:
        before, index, self.number = files_of(self.vault), self.index, self.number + 1
        first, *others = self.paths(choice)
        acts: dict[str, Callable[[], object]] = {
            "add": lambda: index.add(f"Fact {self.number}.", path=f"inbox/{self.number}" if choice % 2 else None),
            "update": lambda: index.update(first, content=f"Changed {self.number}."),
            "append": lambda: index.update(first, content=f"More {self.number}.", append=True),
            "archive": lambda: index.archive([first, *others[:1]]),
            "delete": lambda: index.delete([first, *others[:1]]),
            "accept": lambda: index.decide("accept", first),
            "supersede": lambda: index.decide("supersede", [first, *others[:2]]),
            "merge": lambda: index.decide("merge", [first, *others[:2]]),
            "revert": lambda: index.revert(first),
        }
        try:
            acts[command]()
        except VaultIndexError:
            assert files_of(self.vault) == before
        if (after := files_of(self.vault)) != before:
            self.done.append((before, after))

    @rule(choice=st.integers(0, 9), way=st.sampled_from(("edit", "move", "remove")))
    def change_by_hand(self, choice: int, way: str) -> None:
        file = self.vault / self.paths(choice)[0]
        self.number += 1
        if way == "edit" and file.exists():
            file.write_bytes(file.read_bytes() + b"By hand %d.\n" % self.number)
        elif way == "move" and file.exists():
            file.rename(file.with_name(f"moved{self.number}.md"))
        elif file.exists():
            file.unlink()
        self.index.sync()

    @precondition(lambda self: self.done)
    @rule()
    def undo(self) -> None:
        now = files_of(self.vault)
        before, after = self.done[-1]
        touched = {path for path in {**before, **after} if before.get(path) != after.get(path)}
        try:
            self.index.undo()
        except ConflictError:
            assert any(now.get(path) != after.get(path) for path in touched)
            assert files_of(self.vault) == now
            self.done.clear()
            return
        self.done.pop()
        restored = {path: before.get(path) for path in touched}
        assert {path: files_of(self.vault).get(path) for path in touched} == restored
        assert {path: data for path, data in files_of(self.vault).items() if path not in touched} == {
            path: data for path, data in now.items() if path not in touched
        }

    @invariant()
    def no_text_is_lost(self) -> None:
        self.seen |= {*files_of(self.vault).values()}
        revisions = self.index._runtime.write.revisions
        log = {row.data() for uid in revisions.uids("", self.all_paths()) for row in revisions.of(uid)}
        assert self.seen <= log

    def all_paths(self) -> list[str]:
        state = self.index._runtime.write.revisions._state.database()
        return [path for (path,) in state.execute("SELECT DISTINCT path FROM revision")]


TestRevisions = Memories.TestCase
TestRevisions.settings = settings(max_examples=6 * TIMES, stateful_step_count=14)
