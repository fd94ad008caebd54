"""Decide when a changed path has been quiet long enough to be read, without a clock of its own."""

from dataclasses import dataclass, field
from pathlib import PurePosixPath


@dataclass(slots=True)
class _Mark:
    first: float
    last: float
    folder: bool
    gone: bool


@dataclass(slots=True)
class Debounce:
    """Marks of changed paths.

    A mark is due `quiet` seconds after the path's last change, and at most `longest` seconds after
    its first. Marks due within another quarter of `quiet` are taken along, because simultaneous
    changes belong together. `now` is any monotonic time in seconds. Paths are absolute, with `/`.
    """

    quiet: float
    longest: float
    _marks: dict[str, _Mark] = field(default_factory=dict, init=False)
    _later: dict[str, float] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self._marks) + len(self._later)

    def mark(self, path: str, now: float, *, folder: bool = False, gone: bool = False) -> float:
        """Mark a change of `path`; return when it is due.

        A marked folder includes everything in it. `gone` paths come last among those due together,
        so that the target of a move is read before its source.
        """
        return self._due_at(self._put(path, _Mark(now, now, folder, gone)))

    def mark_later(self, path: str, at: float) -> None:
        """Mark the folder `path` again at the time `at`, or at the latest time of several calls."""
        self._later[path] = max(at, self._later.get(path, at))

    def next_due(self) -> float | None:
        """Return when `due` will return something; None if nothing is marked."""
        marks = (self._due_at(mark) for mark in self._marks.values())
        return min((*marks, *self._later.values()), default=None)

    def due(self, now: float) -> tuple[str, ...]:
        """Remove and return the due paths, gone ones last, without those inside a due folder."""
        self._wake_later(now)
        soon = now + self.quiet / 4
        along = [
            (path, at) for path, mark in self._marks.items() if (at := self._due_at(mark)) <= soon
        ]
        return self._take([path for path, _ in along] if any(at <= now for _, at in along) else [])

    def take_all(self) -> tuple[str, ...]:
        """Remove and return all marked paths, due or not, except those of `mark_later`."""
        return self._take(list(self._marks))

    def _wake_later(self, now: float) -> None:
        for path in [path for path, at in self._later.items() if at <= now]:
            at = self._later.pop(path)
            self.mark(path, at - self.quiet, folder=True)

    def _due_at(self, mark: _Mark) -> float:
        return min(mark.last + self.quiet, mark.first + self.longest)

    def _put(self, path: str, new: _Mark) -> _Mark:
        """Store a mark; return the mark that covers it."""
        if (known := self._marks.get(path)) is not None:
            known.folder |= new.folder
            known.gone = new.gone
        else:
            marks = (self._marks.get(above) for above in _above(path))
            known = next((mark for mark in marks if mark is not None and mark.folder), None)
        if known is None:
            self._marks[path] = new
            return new
        known.first = min(known.first, new.first)
        known.last = max(known.last, new.last)
        return known

    def _take(self, paths: list[str]) -> tuple[str, ...]:
        taken = {path: self._marks.pop(path) for path in paths}
        folders = {path for path, mark in taken.items() if mark.folder}
        outer = [path for path in paths if not any(above in folders for above in _above(path))]
        return tuple(sorted(outer, key=lambda path: taken[path].gone))


def _above(path: str) -> list[str]:
    """Return the folders that contain `path`."""
    return [str(folder) for folder in PurePosixPath(path).parents]
