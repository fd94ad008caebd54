"""Decides when a changed path has been quiet long enough to be looked at: times and paths in, due paths out."""

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from posixpath import dirname


@dataclass(slots=True)
class _Mark:
    first: float
    last: float
    folder: bool
    gone: bool


@dataclass(slots=True)
class Debounce:
    """Marks of changed paths; every mark becomes due, `quiet` seconds after the path's last and at most
    `longest` seconds after its first. More than `collapse` marks in one folder become one mark of the folder. What is
    due within another quarter of `quiet` is taken along: what happened together is looked at together.

    It has no clock: `now` is whatever monotonic number of seconds the caller passes. Paths are absolute, with `/`.
    """

    quiet: float
    longest: float
    collapse: int = 500
    _marks: dict[str, _Mark] = field(default_factory=dict, init=False)
    _inside: dict[str, set[str]] = field(default_factory=dict, init=False)
    """The marked paths by the folder they stand in."""
    _later: dict[str, float] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self._marks) + len(self._later)

    def mark(self, path: str, now: float, *, folder: bool = False, gone: bool = False) -> float:
        """Note that something happened to `path`; returns when it will be due, as things are now.

        A marked folder stands for everything in it. `gone` paths come last among those due together, so that
        the other end of a move is seen first.
        """
        return self._due_at(self._put(path, _Mark(now, now, folder, gone)))

    def mark_later(self, path: str, at: float) -> None:
        """Have the folder `path` marked once more at the time `at` (the latest of several wins)."""
        self._later[path] = max(at, self._later.get(path, at))

    def next_due(self) -> float | None:
        """When `due` will have something, None when nothing is marked."""
        marks = (self._due_at(mark) for mark in self._marks.values())
        return min((*marks, *self._later.values()), default=None)

    def due(self, now: float) -> tuple[str, ...]:
        """Takes out what is due: each path once, none below a folder that is due as well, gone ones last."""
        self._wake_later(now)
        soon = now + self.quiet / 4
        along = [(path, at) for path, mark in self._marks.items() if (at := self._due_at(mark)) <= soon]
        return self._take([path for path, _ in along] if any(at <= now for _, at in along) else [])

    def take_all(self) -> tuple[str, ...]:
        """Takes out everything that is marked, due or not, but for marks of `mark_later`."""
        return self._take(list(self._marks))

    def _wake_later(self, now: float) -> None:
        for path in [path for path, at in self._later.items() if at <= now]:
            at = self._later.pop(path)
            self.mark(path, at - self.quiet, folder=True)

    def _due_at(self, mark: _Mark) -> float:
        return min(mark.last + self.quiet, mark.first + self.longest)

    def _put(self, path: str, new: _Mark) -> _Mark:
        """The mark that stands for it."""
        known = self._marks.get(path)
        if known is not None:
            known.folder |= new.folder
            known.gone = new.gone
        else:
            marks = (self._marks.get(above) for above in _above(path))
            known = next((mark for mark in marks if mark is not None and mark.folder), None)
        if known is None:
            self._marks[path] = new
            siblings = self._inside.setdefault(dirname(path), set())
            siblings.add(path)
            return new if len(siblings) <= self.collapse else self._collapse(dirname(path), new)
        known.first = min(known.first, new.first)
        known.last = max(known.last, new.last)
        return known

    def _collapse(self, folder: str, newest: _Mark) -> _Mark:
        first = min(self._marks.pop(path).first for path in self._inside.pop(folder))
        return self._put(folder, _Mark(first, newest.last, folder=True, gone=False))

    def _take(self, paths: list[str]) -> tuple[str, ...]:
        taken = {path: self._marks.pop(path) for path in paths}
        for path in paths:
            siblings = self._inside[dirname(path)]
            siblings.remove(path)
            if not siblings:
                del self._inside[dirname(path)]
        folders = {path for path, mark in taken.items() if mark.folder}
        outer = [path for path in paths if not any(above in folders for above in _above(path))]
        return tuple(sorted(outer, key=lambda path: taken[path].gone))


def _above(path: str) -> list[str]:
    """The folders `path` lies in."""
    return [str(folder) for folder in PurePosixPath(path).parents]
