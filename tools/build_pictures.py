"""Take the pictures of docs/page.md: `python tools/build_pictures.py`.

Run `make test-page` first, which installs Playwright. The pictures show the real page on
fixtures/vault, with generated sessions of a year and memories that wait for review.
"""

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.month import Month, write_sessions  # noqa: E402
from tests.page_real.browser import DESKTOP, PHONE, Reader, started  # noqa: E402
from tests.world import World, opened_world  # noqa: E402
from vault_index import VaultIndex  # noqa: E402
from vault_index.cli import main  # noqa: E402

OUT = ROOT / "docs" / "page"
MONTHS = 11
_MONTH_MS = 30 * 86_400_000

MEMORIES = (
    ("The staging VPN needs the old client: version 4.2, from the shared drive.", "learning", ""),
    ("Staging VPN: only the old client (4.2) works, it lies on the shared drive.", "learning", ""),
    (
        "Releases of harbour-ingest go out on Tuesdays, after the standup.",
        "decision",
        "harbour-ingest",
    ),
    (
        "Releases of harbour-ingest go out on Thursdays, after the standup.",
        "decision",
        "harbour-ingest",
    ),
    ("Staging has one database, shared by all branches.", "decision", "harbour-ingest"),
)
INBOX = """*Remember*: tests of the sorter run on the slow machine only at night
*Remember*: the electrician needs the plan of the cellar before Thursday
*Remember*: carriers without webhooks are asked every five minutes
"""


def year(end: int) -> Month:
    """The sessions of some months as those of one, fewer on some days than on others."""
    all_of_it = Month(0, end)
    for number in range(1, MONTHS):
        for at, session in enumerate(Month(number, end - number * _MONTH_MS).sessions):
            if (at * 7 + number * 3) % 5 < 2 and not session.parent:
                session.id = f"{session.id}m{number}"
                for message, _ in session.messages:
                    message["id"] = f"{message['id']}m{number}"
                all_of_it.sessions.append(session)
    all_of_it.sessions.sort(key=lambda session: session.created)
    return all_of_it


def furnish(here: World) -> None:
    """What a year leaves in a vault."""
    shutil.copytree(ROOT / "fixtures" / "vault", here.vault, dirs_exist_ok=True)
    here.home.config_file.write_text(f'[sources.vault]\npath = "{here.vault}"\n', "utf-8")
    run = ["--home", str(here.home.data_dir), "--quiet"]
    main([*run, "sync"])
    for text, kind, project in MEMORIES:
        main(
            [
                *run,
                "add",
                text,
                "--type",
                kind,
                "--by",
                "build-agent",
                *(["--project", project] if project else []),
            ]
        )
    main([*run, "capture", INBOX, "--inbox"])
    with VaultIndex.open(here.home) as index:
        changed = index.list(kind="memory", limit=1, title="Staging has one database").results[0]
        for text in (
            "Staging has two databases: one for main, one for all other branches.",
            "Staging has two databases: one for main, one for all other branches.\n\nBoth "
            "are emptied on Sundays.",
        ):
            index.update(changed.path, content=text, by="build-agent")
    main([*run, "token", "add", "laptop", "--read", "--expires", "in 3 months"])
    main([*run, "token", "add", "ci", "--write", "--project", "harbour-ingest"])


def places_of(here: World) -> dict[str, tuple[str, str]]:
    """Each view: what leads there, and what is there once it is drawn."""
    with VaultIndex.open(here.home) as index:
        memory = next(
            one
            for one in index.list(kind="memory", limit=50).results
            if "staging" in one.title.lower()
        )
        session = max(index.sessions(limit=60).results, key=lambda one: one.turns or 0)
        read = index.list(session=session.session, limit=1).results[0]
    return {
        "search": ("#/search?q=feed%20the%20starter%20in%20winter", "html[data-refined]"),
        "browse": ("#/browse?source=vault&path=projects", ".browse-list li"),
        "document": ("#/doc/vault/projects/Home%20server%20move.md", ".prose p"),
        "timeline": ("#/timeline?ref=projects/Home%20server%20move.md", "main h1"),
        "history": (f"#/history/{memory.source}/{quote(memory.path)}", "main h1"),
        "sessions": ("#/sessions", "main h1"),
        "session": (f"#/doc/{read.source}/{quote(read.path)}", "main h1"),
        "review": ("#/review", "main h1"),
        "recall": ("#/recall?q=how%20do%20we%20release&project=harbour-ingest", "main h1"),
        "health": ("#/health", "main h1"),
        "tokens": ("#/tokens", "main h1"),
    }


def pictures(reader: Reader, places: dict[str, tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
    """Take all pictures."""
    for size_name, size in (("desktop", DESKTOP), ("phone", PHONE)):
        for scheme in ("light", "dark"):
            page = reader.open(size=size, scheme=scheme)
            for name, (address, drawn) in places.items():
                page.goto(f"{reader.origin}/{address}")
                page.wait_for_selector(drawn, state="attached")
                if name == "search" and size_name == "desktop":
                    page.keyboard.press("ArrowDown")
                page.wait_for_timeout(1500)  # pictures of notes, and what comes in later
                page.evaluate("document.activeElement.blur()")
                page.mouse.move(0, 0)
                yield f"{name}-{size_name}-{scheme}.png", page.screenshot()
            reader.close()


def build(out: Path) -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as folder, opened_world(Path(folder)) as here:
        os.environ |= {"XDG_DATA_HOME": f"{folder}/share", "CLAUDE_CONFIG_DIR": "/nonexistent"}
        os.environ |= {"CODEX_HOME": "/nonexistent", "GEMINI_CLI_HOME": "/nonexistent"}
        write_sessions(Path(folder) / "share" / "opencode", year(int(time.time() * 1000)))
        furnish(here)
        here.daemon()
        served = here.serve()
        out.mkdir(exist_ok=True)
        with started() as browser:
            wanted = set(
                re.findall(r"page/([\w-]+\.png)", (ROOT / "docs" / "page.md").read_text("utf-8"))
            )
            for name, picture in pictures(Reader(browser, here, served), places_of(here)):
                if name in wanted or out != OUT:
                    (out / name).write_bytes(picture)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
