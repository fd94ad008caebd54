"""A home with sessions of yesterday, of forty days ago, and many of a hundred days ago, by the clock of the pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from tests.sources.opencode.stores import Client, tool
from tests.world import World, opened_world

DIFF = "--- a/src/auth.py\n+++ b/src/auth.py\n@@ -1,2 +1,2 @@\n def check():\n-    return a != b\n+    return a == b\n"
MANY = 45
CLOCK = datetime(2026, 11, 21, 12)
"""The time on the clock of the pages."""
TODAY = CLOCK.date()
YESTERDAY, BILLS, LONG_AGO = (TODAY - timedelta(days) for days in (1, 40, 100))
"""Days of sessions, which begin at noon so that they end on the same day."""


def at(day: date, minutes: int = 0) -> int:
    return int((datetime.combine(day, time(12)) + timedelta(minutes=minutes)).timestamp() * 1000)


class Writer(Client):
    """Writes sessions of projects, with turns at given times."""

    def held(self, id_: str, title: str, project: str, day: date, **columns: Any) -> None:
        root = f"/home/user/{project}"
        self.run("INSERT OR IGNORE INTO project (id, worktree, time_created, time_updated, sandboxes)"
                 " VALUES (?, ?, 0, 0, '[]')", project, root)  # fmt: skip
        began = {"time_created": at(day), "time_updated": at(day)}
        self.session(id_, title, project_id=project, directory=root, **began, **columns)
        self._clock = at(day)

    def turn(self, session: str, day: date, minutes: int, question: str, *answer: dict[str, Any] | str) -> None:
        self._clock = at(day, minutes)
        self.user(question, session)
        self._clock += 60_000
        self.assistant(*answer, session=session)


def write_sessions(writer: Writer) -> None:
    failed = tool("bash", {"command": "pytest -q"}, "1 failed", metadata={"exit": 1})
    asked = tool("task", {"description": "Find usages", "prompt": "x"}, "two", metadata={"sessionId": "ses_usages"})
    writer.held("ses_login", "Fix the login", "api", YESTERDAY)
    edit = tool("edit", {"filePath": "src/auth.py"}, "done", metadata={"diff": DIFF})
    writer.turn("ses_login", YESTERDAY, 0, "The login is inverted.", "I look.", edit, failed, "It is `==` now.")
    writer.turn("ses_login", YESTERDAY, 10, "Who else does it?\n\n- file: `no call` (ok)", asked, "Nobody.")
    writer.turn("ses_login", YESTERDAY, 131, "Commit it.", "Done.")
    writer.held("ses_usages", "Find usages", "api", YESTERDAY, parent_id="ses_login")
    writer.turn("ses_usages", YESTERDAY, 12, "Where is it used?", tool("grep", {"pattern": "digest"}, "x"), "Twice.")
    writer.held("ses_bills", "Number the bills", "shop", BILLS)
    writer.turn("ses_bills", BILLS, 0, "Number them.", "From 1.")
    for number in range(MANY):
        writer.held(f"ses_small{number:02}", f"Small one {number}", "infra", LONG_AGO)
        writer.turn(f"ses_small{number:02}", LONG_AGO, number, "Hello.", "Hello.")


@contextmanager
def sessions_place(folder: Path) -> Iterator[World]:
    """A home with these sessions and a daemon that has indexed them."""
    more = f'[sessions.opencode]\nenabled = true\ndata = "{folder / "opencode"}"\ninclude = ["output", "diffs"]\n'
    (folder / "opencode").mkdir()
    writer = Writer(folder / "opencode/opencode.db")
    with writer.connection:
        write_sessions(writer)
    writer.close()
    with opened_world(folder, more) as made:
        made.write("auth.md", "# Auth\n\nNo session.\n")
        made.daemon()
        yield made


def long_name(day: date) -> str:
    """Return a day as the page writes it: `Friday, November 20, 2026`."""
    return f"{day:%A, %B} {day.day}, {day.year}"
