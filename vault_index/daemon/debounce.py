"""Decides when a changed path has been quiet long enough to be looked at: times and paths in, due paths out."""

from dataclasses import dataclass, field
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
    `longest` seconds after its first. More than `collapse` marks in one folder become one mark of the folder.

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
        known = self._marks.get(path)
        if known is None and (above := self._folder_above(path)) is not None:
            above.last = max(above.last, now)
            return self._due_at(above)
        if known is None:
            known = self._marks[path] = _Mark(now, now, folder, gone)
            self._inside.setdefault(dirname(path), set()).add(path)
        known.last = max(known.last, now)
        known.folder = known.folder or folder
        known.gone = gone
        if len(self._inside[dirname(path)]) > self.collapse:
            return self._collapse(dirname(path), now)
        return self._due_at(known)

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
        return self._take([path for path, mark in self._marks.items() if self._due_at(mark) <= now])

    def take_all(self) -> tuple[str, ...]:
        """Takes out everything that is marked, due or not, but for marks of `mark_later`."""
        return self._take(list(self._marks))

    def _wake_later(self, now: float) -> None:
        for path in [path for path, at in self._later.items() if at <= now]:
            at = self._later.pop(path)
            self.mark(path, at - self.quiet, folder=True)

    def _due_at(self, mark: _Mark) -> float:
        return min(mark.last + self.quiet, mark.first + self.longest)

    def _take(self, paths: list[str]) -> tuple[str, ...]:
        taken = {path: self._marks.pop(path) for path in paths}
        for path in paths:
            self._forget_inside(path)
        folders = {path for path, mark in taken.items() if mark.folder}
        outer = [path for path in paths if not any(above in folders for above in _above(path))]
        return tuple(sorted(outer, key=lambda path: taken[path].gone))

    def _forget_inside(self, path: str) -> None:
        siblings = self._inside[dirname(path)]
        siblings.remove(path)
        if not siblings:
            del self._inside[dirname(path)]

    def _folder_above(self, path: str) -> _Mark | None:
        marks = (self._marks.get(above) for above in _above(path))
        return next((mark for mark in marks if mark is not None and mark.folder), None)

    def _collapse(self, folder: str, now: float) -> float:
        inside = self._inside.pop(folder)
        first = min(self._marks.pop(path).first for path in inside)
        due = self.mark(folder, now, folder=True)
        mark = self._marks.get(folder) or self._folder_above(folder)
        assert mark is not None
        mark.first = min(mark.first, first)
        return min(due, self._due_at(mark))


def _above(path: str) -> list[str]:
    """The folders `path` lies in, innermost first."""
    folders = []
    while (parent := dirname(path)) != path:
        folders.append(parent)
        path = parent
    return folders
