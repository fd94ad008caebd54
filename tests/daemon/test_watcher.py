"""A real watcher on a real folder: whatever happens to the files, the index ends up with the same texts."""

import errno
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from watchdog.utils import BaseThread

from tests.daemon.fake_index import FakeIndex, read_folder
from tests.waiting import PATIENCE, until
from vault_index.config import SourceConfig
from vault_index.daemon import observers, watcher
from vault_index.daemon.debounce import Debounce
from vault_index.daemon.embedding_queue import Stepper
from vault_index.daemon.watcher import Watcher, is_noise
from vault_index.daemon.writer import Settings, Writer
from vault_index.sources import files
from vault_index.sources.vault import VaultSource


@dataclass
class Scene:
    """A watched vault and a folder outside it."""

    vault: Path
    outside: Path
    index: FakeIndex
    watcher: Watcher
    marks: list[tuple[str, bool, bool]] = field(default_factory=list)

    def write(self, path: str, text: str = "text") -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def settle(self) -> None:
        """Wait until the index equals the idle folder."""
        files = read_folder(self.vault)  # once: repeated reads would starve the other threads
        until(lambda: self.index.rows == files)


Start = Callable[..., Scene]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    parts: list[Writer | Watcher] = []

    def build(backend: str = "native", root: Path | None = None) -> Scene:
        monkeypatch.setattr(observers, "POLL_SECONDS", 0.05)
        vault, outside = tmp_path / "vault", tmp_path / "outside"
        (vault / "folder" / "deep").mkdir(parents=True)
        outside.mkdir()
        for name in ("a.md", "b.md", "folder/c.md", "folder/deep/d.md"):
            (vault / name).write_text(f"first text of {name}", "utf-8")
        index = FakeIndex(root or vault)
        writer = Writer(index, index.call, Settings(Debounce(0.02, 0.5), Stepper(lambda: index), 0))
        marks: list[tuple[str, bool, bool]] = []

        def mark(path: str, *, folder: bool = False, gone: bool = False) -> None:
            marks.append((path, folder, gone))
            writer.mark(path, folder=folder, gone=gone)

        watcher = Watcher([VaultSource(SourceConfig(name="notes", path=root or vault))], mark, backend)
        parts.extend((watcher, writer))
        watcher.start()
        writer.start()
        scene = Scene(vault, outside, index, watcher, marks)
        scene.settle()
        return scene

    yield build
    for part in parts:
        if isinstance(part, Watcher):
            part.stop()
        else:
            assert part.stop(PATIENCE)


OUT = "../outside"
ACTIONS: dict[str, list[tuple[str, ...]]] = {
    "append": [("append", "a.md", "one more line\n")],
    "atomic save": [("write", "folder/.c.md.swp", "new text"), ("move", "folder/.c.md.swp", "folder/c.md")],
    "atomic save from outside": [("write", f"{OUT}/tmp", "new text"), ("move", f"{OUT}/tmp", "a.md")],
    "save with backup": [("move", "a.md", "a.md~"), ("write", "a.md", "new text"), ("delete", "a.md~")],
    "new folders": [("write", path) for path in ("x/y/z/new.md", "x/y/other.md", "x/third.md")],
    "folder moved in": [
        *(("write", f"{OUT}/pack/{name}.md", name) for name in ("one", "two", "sub/three", "sub/four")),
        ("move", f"{OUT}/pack", "pack"),
    ],
    "folder copied in": [
        *(("write", f"{OUT}/big/{number % 7}/{number % 3}/{number}.md", str(number)) for number in range(40)),
        ("copy", f"{OUT}/big", "big"),
    ],
    "folder moved out": [("move", "folder", f"{OUT}/folder")],
    "rename file": [("move", "a.md", "renamed.md")],
    "rename to hidden and back": [
        ("move", "folder", ".folder"),
        ("write", ".folder/e.md"),
        ("move", ".folder", "folder"),
    ],
    "rename folder": [("move", "folder", "verzeichnis")],
    "rename folder and write": [
        ("move", "folder", "verzeichnis"),
        ("write", "verzeichnis/deep/d.md", "second text"),
        ("write", "folder/again.md", "a new folder of the old name"),
    ],
    "swap two files": [("move", "a.md", "t.md"), ("move", "b.md", "a.md"), ("move", "t.md", "b.md")],
    "delete file": [("delete", "a.md")],
    "delete folder": [("delete", "folder")],
    "delete and create": [("delete", "folder"), ("write", "folder/c.md", "second text")],
    "file becomes folder": [("delete", "a.md"), ("write", "a.md/inside.md")],
    "odd names": [
        *(("write", path) for path in ("Ümläut/Größe 漢字.md", "with space/a  b.md", "emoji 🧀/💡.md")),
        *(("write", path) for path in ("a'b\"c.md", "100%.md", "[x] {y}.md")),
    ],
    "storm": [
        *(("write", f"storm/{number % 11}/{number}.md", str(number)) for number in range(1500)),
        *(("delete", f"storm/{number % 11}/{number}.md") for number in range(0, 1500, 3)),
    ],
}


def do(scene: Scene, action: str) -> None:
    for step, path, *more in ACTIONS[action]:
        place = scene.vault / path
        match step:
            case "write":
                scene.write(path, *more)
            case "append":
                with place.open("a", encoding="utf-8") as file:
                    file.write(more[0])
            case "move":
                place.rename(scene.vault / more[0])
            case "copy":
                shutil.copytree(place, scene.vault / more[0])
            case _ if place.is_dir():
                shutil.rmtree(place)
            case _:
                place.unlink()


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("backend", ["native", "polling"])
def test_watcher_updates_the_index_after_every_action(start: Start, action: str, backend: str) -> None:
    scene = start(backend)
    assert scene.watcher.backend == backend
    scene.marks.clear()
    do(scene, action)
    scene.settle()
    until(lambda: scene.marks)  # from events, not from the timer


def test_watcher_sees_files_written_into_new_or_renamed_folders(start: Start) -> None:
    scene = start()
    for action, path in (
        ("new folders", "x/y/z/later.md"),
        ("folder moved in", "pack/sub/later.md"),
        ("rename folder", "verzeichnis/deep/later.md"),
    ):
        do(scene, action)
        scene.settle()
        scene.write(path)
        scene.settle()
        assert path in scene.index.rows


def test_watcher_follows_a_symlinked_root(start: Start, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "vault")
    scene = start(root=link)
    for action in ("append", "new folders", "rename folder", "delete file"):
        do(scene, action)
        scene.settle()
    assert all(path.startswith(str(link)) for path, *_ in scene.marks)


def test_watcher_ignores_noise(start: Start) -> None:
    scene = start()
    scene.marks.clear()
    for path in (".obsidian/workspace.json", ".git/index", ".trash/old.md", "folder/picture.png", "a.md.tmp"):
        scene.write(path)
    scene.write("z.md")
    scene.settle()
    assert {path for path, *_ in scene.marks} == {str(scene.vault / "z.md")}


@pytest.mark.parametrize(
    ("rule", "place"),
    [(".vaultignore", ""), ("folder/.vaultignore", "folder"), (".obsidian/app.json", "")],
)
def test_watcher_marks_the_folder_of_changed_rules(start: Start, rule: str, place: str) -> None:
    scene = start()
    scene.marks.clear()
    scene.write(rule, "{}")
    until(lambda: (str(scene.vault / place).rstrip("/"), True, False) in scene.marks)


@pytest.mark.parametrize("backend", ["native", "polling"])
def test_watcher_watches_the_target_of_a_followed_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    monkeypatch.setattr(observers, "POLL_SECONDS", 0.05)
    vault, outside, marks = tmp_path / "vault", tmp_path / "outside", list[str]()
    (outside / "deep").mkdir(parents=True)
    vault.mkdir()
    (vault / "door").symlink_to(outside)
    config = SourceConfig(name="notes", path=vault, follow_outside_links=True)
    watcher = Watcher([VaultSource(config)], lambda path, **_: marks.append(path), backend)
    watcher.start()
    try:
        until(lambda: watcher.backend == backend)
        until(lambda: (outside / "deep/a.md").write_text("a", "utf-8") and str(vault / "door/deep/a.md") in marks)
    finally:
        watcher.stop()


@pytest.mark.parametrize("backend", ["native", "polling"])
def test_watcher_resumes_when_its_root_returns(start: Start, backend: str) -> None:
    scene = start(backend)
    scene.vault.rename(scene.outside / "vault")
    scene.watcher.tend()
    until(lambda: scene.watcher.backend is None)
    scene.watcher.tend()
    (scene.outside / "vault").rename(scene.vault)
    scene.watcher.tend()
    until(lambda: scene.watcher.backend == backend)
    do(scene, "append")
    scene.settle()


def test_watcher_follows_a_replaced_root(start: Start) -> None:
    scene = start()
    scene.vault.rename(scene.outside / "old")
    scene.write("fresh.md")
    scene.watcher.tend()
    scene.settle()
    assert set(scene.index.rows) == {"fresh.md"}
    scene.write("folder/more.md")
    scene.settle()


def refuse(patch: pytest.MonkeyPatch, code: int) -> None:
    """Make the system refuse native watches."""

    def refused(_wanted: observers.Wanted) -> None:
        raise OSError(code, os.strerror(code))

    patch.setattr(observers, "native_observer", refused)


@pytest.mark.parametrize(("code", "limit"), [(errno.ENOSPC, "max_user_watches"), (errno.EMFILE, "max_user_instances")])
def test_watcher_polls_while_the_system_refuses_native_watches(
    start: Start, monkeypatch: pytest.MonkeyPatch, code: int, limit: str
) -> None:
    monkeypatch.setattr(watcher, "_NATIVE_AGAIN_SECONDS", 0)
    with monkeypatch.context() as small:
        refuse(small, code)
        scene = start("auto")
        scene.watcher.tend()
        assert scene.watcher.backend == "polling"
        (problem,) = scene.watcher.problems
        assert problem.code == "watch_polling"
        assert limit in problem.hint
        do(scene, "new folders")
        scene.settle()
    scene.watcher.tend()
    assert (scene.watcher.backend, scene.watcher.problems) == ("native", ())
    do(scene, "append")
    scene.settle()


def test_watcher_marks_every_root_after_dropped_events(start: Start) -> None:
    scene = start()
    scene.marks.clear()
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; filesystem events were lost")
    assert scene.marks == [(str(scene.vault), True, False)]


@pytest.mark.parametrize("thread", ["dispatcher", "emitter", "reader"])
def test_watcher_restarts_a_watch_that_died(start: Start, thread: str, caplog: pytest.LogCaptureFixture) -> None:
    scene = start()
    observer = scene.watcher._watches[0]._observer
    assert observer is not None
    if thread == "reader" and not hasattr(observer, "reader"):
        pytest.skip("of inotify")
    dying: dict[str, BaseThread] = {"dispatcher": observer, "emitter": next(iter(observer.emitters))}
    dying["reader"] = getattr(observer, "reader", observer)
    dying[thread].stop()
    dying[thread].join()
    scene.watcher.tend()
    assert "watch died" in caplog.text
    do(scene, "append")
    scene.settle()


def test_watcher_polls_a_file_system_without_events(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:50 / {tmp_path} rw - 9p C: rw\n")
    monkeypatch.setattr(files, "_TABLE", str(table))
    scene = start("auto")
    assert (scene.watcher.backend, scene.watcher.problems) == ("polling", ())
    do(scene, "new folders")
    scene.settle()


def watches() -> int:
    """Return the number of folders that this process watches."""
    infos = (Path("/proc/self/fdinfo") / number for number in os.listdir("/proc/self/fd"))
    return sum(info.read_text().count("inotify wd:") for info in infos if info.exists())


@pytest.mark.skipif(sys.platform != "linux", reason="counts inotify watches")
def test_watcher_takes_no_watch_for_folders_without_notes(start: Start) -> None:
    start_of_all = watches()
    scene = start()
    ours = watches() - start_of_all
    assert ours == 3  # the root and two folders
    for path in (".git/objects/1/x", "node_modules/1/readme.md", "kept/new.md"):
        scene.write(path)

    def taken() -> int:
        scene.watcher.tend()
        return watches() - start_of_all - ours

    until(lambda: "kept/new.md" in scene.index.rows and taken() == 1)


def test_is_noise_skips_paths_without_documents() -> None:
    noise = {
        ("b", False), ("a.png", False), (".git", True), (".git/a.md", False), ("b/.c/a.md", False),
        ("node_modules/x/a.md", False), (".a.md", False),
    }  # fmt: skip
    others = {("", True), ("a.md", False), ("a.md", True), ("b/a.canvas", False), ("b", True)}
    assert {(path, folder) for path, folder in noise | others if is_noise(path, folder=folder)} == noise
