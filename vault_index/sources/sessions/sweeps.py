"""What clients delete by themselves, as their own settings say: what was younger than that went otherwise."""

import re
import time
from contextlib import closing, suppress
from pathlib import Path

from vault_index.sources.sessions.client import Verdict
from vault_index.sources.sessions.model import Listed
from vault_index.sources.sessions.values import Json, object_of, read_object, text_of

_DAY = 86_400
_USUAL_DAYS = 30
_AGE = re.compile(r"(\d{1,5})([hdwm])")
_SECONDS = {"h": 3600, "d": _DAY, "w": 7 * _DAY, "m": 30 * _DAY}


def who_deleted(client: str, folder: Path, listed: Listed) -> Verdict:
    """Of a client with a file a session, whose data lie in this folder."""
    rule = {"claude-code": _by_claude_code, "codex": _by_codex, "gemini": _by_gemini}.get(client)
    return rule(folder, listed) if rule else "unknown"


def _by_claude_code(folder: Path, listed: Listed) -> Verdict:
    """It sweeps by the time of the file, and nothing with settings that it cannot read; `claude purge` takes the
    project out of the list of all."""
    settings = _settings(folder)
    days = None if settings is None else settings.get("cleanupPeriodDays", _USUAL_DAYS)
    if isinstance(days, bool) or not isinstance(days, int | float):
        return "unknown"
    young = time.time() - listed.stamp.mtime_ns / 10**9 < days * _DAY
    return "user" if young or _is_purged(folder, listed.session.directory) else "sweep"


def _by_codex(folder: Path, listed: Listed) -> Verdict:
    """It sweeps nothing, and its own delete takes a thread out of its list as well. A file that went without that was
    removed by something else."""
    import apsw

    from vault_index.sources.sessions.client_database import ClientDatabase

    threads = 0
    for file in filter(Path.is_file, folder.glob("state_*.sqlite")):
        with suppress(apsw.Error, OSError), closing(ClientDatabase(file, busy_ms=0)) as database:
            ids = {id_ for (id_,) in database.rows("SELECT id FROM threads")}
            threads += len(ids)
            if listed.session.id in ids:
                return "unknown"
    return "user" if threads else "unknown"


def _by_gemini(folder: Path, listed: Listed) -> Verdict:
    """It sweeps by the last change. But what was resumed may go at once: a sweep (0.61.0) takes the empty file that a
    resume leaves for a broken session, and with it all that are called so. So a young one need not be its user's."""
    settings = _settings(folder)
    retention = object_of(settings or {}, "general", "sessionRetention")
    age = _AGE.fullmatch(text_of(retention, "maxAge") or f"{_USUAL_DAYS}d")
    if settings is None or age is None or retention.get("enabled") is False:
        return "unknown"
    old = time.time() - listed.session.updated / 1000 >= int(age[1]) * _SECONDS[age[2]]
    return "sweep" if old else "unknown"


def _settings(folder: Path) -> Json | None:
    """Those of a client; None where they cannot be read."""
    problems: list[str] = []
    try:
        told = read_object((folder / "settings.json").read_bytes(), "settings.json", problems)
    except FileNotFoundError:
        return {}
    except OSError:
        return None
    return None if problems else told


def _is_purged(folder: Path, directory: str) -> bool:
    """Whether the list of projects lacks this one, and has others."""
    for file in (folder / ".claude.json", folder.with_name(".claude.json")):
        with suppress(OSError):
            projects = object_of(read_object(file.read_bytes(), "the list of projects", []) or {}, "projects")
            return bool(projects) and directory not in projects
    return False
