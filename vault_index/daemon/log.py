"""The daemon's log: one event per line, without texts of notes or queries, and without keys."""

import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from traceback import walk_tb
from typing import Any

from vault_index.disk import open_own

_FILE_BYTES = 1_000_000


def log_event(logger: logging.Logger, level: int, event: str, **fields: Any) -> None:
    """Log an event. Pass only counts, paths, codes and times as fields."""
    if logger.isEnabledFor(level):
        logger.log(level, event, extra={"fields": fields})


def error_location(error: BaseException) -> str:
    """Return type and location of an error, without its message, which may quote a note."""
    frames = [
        f"{os.path.basename(frame.f_code.co_filename)}:{line}"
        for frame, line in walk_tb(error.__traceback__)
    ]
    return f"{type(error).__name__} at {' > '.join(frames[-4:])}"


class KeyValueFormatter(logging.Formatter):
    """`time=… level=info event="…" key=value`; values with spaces or quotes are JSON strings."""

    def __init__(self, *, timed: bool = True) -> None:
        super().__init__()
        self._timed = timed

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        fields = {"time": _time(record.created)} if self._timed else {}
        return " ".join(f"{key}={_value(item)}" for key, item in (fields | _fields(record)).items())


class RotatingFile(RotatingFileHandler):
    """A log file of limited size with three older ones, readable only by its owner.

    A full disk does not stop the logging process.
    """

    def __init__(self, path: Path, most_bytes: int = _FILE_BYTES) -> None:
        super().__init__(path, maxBytes=most_bytes, backupCount=3, encoding="utf-8", delay=True)

    def _open(self) -> TextIOWrapper:
        descriptor = open_own(self.baseFilename, os.O_WRONLY | os.O_APPEND)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name of the base class
        """Ignore errors, because there is no other place to report them."""


@contextmanager
def logging_to(file: Path, level: str) -> Iterator[None]:
    """Send the log to stderr, and also to a rotating file unless journald reads stderr."""
    journal = _is_journal(os.environ.get("JOURNAL_STREAM", ""))
    formatter = KeyValueFormatter(timed=not journal)
    handlers: list[logging.Handler] = [
        logging.StreamHandler(sys.stderr),
        *([] if journal else [RotatingFile(file)]),
    ]
    root, own = logging.getLogger(), logging.getLogger("vault_index")
    levels = root.level, own.level
    for handler in handlers:
        handler.setFormatter(formatter)
        root.addHandler(handler)
    root.setLevel(logging.WARNING)
    own.setLevel(level.upper())
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.setLevel(levels[0])
        own.setLevel(levels[1])
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {"level": record.levelname.lower(), "event": record.getMessage()}
    if not record.name.startswith("vault_index"):
        fields["logger"] = record.name
    fields |= getattr(record, "fields", {})
    if record.exc_info and record.exc_info[1] is not None:
        fields["error"] = error_location(record.exc_info[1])
    return fields


def _is_journal(stream: str) -> bool:
    """Return whether stderr is the journal that systemd names; children inherit the variable."""
    found = os.fstat(sys.stderr.fileno()) if stream else None
    return found is not None and stream == f"{found.st_dev}:{found.st_ino}"


def _time(seconds: float) -> str:
    return (
        time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds))
        + f".{int(seconds % 1 * 1000):03d}"
    )


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    text = str(value)
    plain = text and text.isprintable() and not any(mark in text for mark in ' "=')
    return text if plain else json.dumps(text, ensure_ascii=False)
