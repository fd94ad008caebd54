"""A small index for the daemon's tests: the texts of the markdown files of one folder, by relative path."""

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from vault_index.errors import NotFoundError, VaultIndexError
from vault_index.progress import CancelToken, Progress, no_progress
from vault_index.results.changes import EmbedReport, SyncReport


class FakeIndex:
    """Does what the daemon needs of VaultIndex, and records the calls."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.rows: dict[str, str] = {}
        self.syncs: list[tuple[str, ...] | None] = []
        self.threads: set[str] = set()
        self.vectors: set[str] = set()
        self.embed_reports: list[EmbedReport | VaultIndexError] = []
        self.steps = 0
        self.closed = 0
        self.fail: list[VaultIndexError | Exception] = []
        self.gate: threading.Event | None = None
        """If set, every document waits for this event; `let_go` sets it at the end of a test."""

    def sync(
        self,
        paths: Sequence[str] | None = None,
        *,
        embed: bool = True,
        progress: Progress = no_progress,
        cancel: CancelToken | None = None,
    ) -> SyncReport:
        self.threads.add(threading.current_thread().name)
        self.syncs.append(None if paths is None else tuple(paths))
        if self.fail:
            raise self.fail.pop(0)
        places = [""] if paths is None else [self._place(path) for path in paths]
        before = {path: text for path, text in self.rows.items() if any(_under(path, at) for at in places)}
        now = {path: text for place in places for path, text in self._read(place).items()}
        changed = 0
        for done, (path, text) in enumerate(sorted(now.items()), start=1):
            if changed and cancel is not None and cancel.cancelled:
                return SyncReport(added=changed, finished=False)
            if self.gate is not None:
                self.gate.wait()
            if self.rows.get(path) != text:
                self.rows[path] = text
                self.vectors.discard(path)
                changed += 1
                progress("text", done, len(now))
        for path in before.keys() - now.keys():
            del self.rows[path]
            self.vectors.discard(path)
        return SyncReport(
            scanned=len(now),
            added=len(now.keys() - before.keys()),
            changed=sum(before[path] != now[path] for path in now.keys() & before.keys()),
            removed=len(before.keys() - now.keys()),
            pending=len(self.rows) - len(self.vectors),
        )

    def embed_step(self, renew: bool) -> EmbedReport:
        if renew:
            self.vectors.clear()
        self.threads.add(threading.current_thread().name)
        self.steps += 1
        if self.embed_reports:
            report = self.embed_reports.pop(0)
            if isinstance(report, VaultIndexError):
                raise report
            return report
        missing = sorted(self.rows.keys() - self.vectors)[:2]
        self.vectors.update(missing)
        pending = len(self.rows) - len(self.vectors)
        return EmbedReport(len(missing), 0, pending, 0.0, finished=not missing)

    def let_go(self) -> None:
        """Let the writer end, whatever a failed test left closed."""
        if self.gate is not None:
            self.gate.set()

    def shrink(self) -> None: ...

    def close(self) -> None:
        self.closed += 1

    def call(
        self,
        method: str,
        params: dict[str, Any],
        progress: Progress = no_progress,
        cancel: CancelToken | None = None,
    ) -> Any:
        if method == "sync":
            report = self.sync(params.get("paths"), embed=params.get("embed", True), progress=progress, cancel=cancel)
            return replace(report, pending=0)
        if method == "add":
            return {"rows": len(self.rows)}
        if method == "broken":
            raise RuntimeError("the text of a note")
        raise NotFoundError(f"no method {method}", "see --help")

    def _place(self, path: str) -> str:
        relative = os.path.relpath(path, self.root)
        return "" if relative == "." else relative

    def _read(self, place: str) -> dict[str, str]:
        return read_folder(self.root, place)


def read_folder(root: Path, place: str = "") -> dict[str, str]:
    """The texts of all markdown files at or below a place, except hidden ones and those in hidden folders."""
    top = root / place
    found = [(str(top.parent), [], [top.name])] if top.is_file() else os.walk(top)
    texts = {}
    for folder, folders, names in found:
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.endswith(".md") and not name.startswith("."):
                file = Path(folder, name)
                with suppress(FileNotFoundError):  # moved since it was listed
                    texts[file.relative_to(root).as_posix()] = file.read_text("utf-8")
    return {path: text for path, text in texts.items() if not is_hidden(path)}


def is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def _under(path: str, place: str) -> bool:
    return not place or path == place or path.startswith(place + "/")
