"""The daemon's log: a line of key=value pairs an event, on stderr, never with the text of a note or a query."""

import json
import logging
import os
import sys
import time
from traceback import walk_tb
from typing import Any


def say(logger: logging.Logger, level: int, event: str, **fields: Any) -> None:
    """Log an event with its figures. Only counts, paths, codes and times may be passed."""
    if logger.isEnabledFor(level):
        logger.log(level, event, extra={"fields": fields})


def where(error: BaseException) -> str:
    """The kind of an unexpected error and where it happened. Its message is left out: it may quote a note."""
    frames = [f"{os.path.basename(frame.f_code.co_filename)}:{line}" for frame, line in walk_tb(error.__traceback__)]
    return f"{type(error).__name__} at {' > '.join(frames[-4:])}"


class KeyValueFormatter(logging.Formatter):
    """`time=… level=info event="…" key=value`; values with spaces or quotes are written as JSON strings."""

    def format(self, record: logging.LogRecord) -> str:
        pairs: dict[str, Any] = {} if "JOURNAL_STREAM" in os.environ else {"time": _time(record.created)}
        pairs |= {"level": record.levelname.lower(), "event": record.getMessage()}
        if not record.name.startswith("vault_index"):
            pairs["logger"] = record.name
        pairs |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            pairs["error"] = where(record.exc_info[1])
        return " ".join(f"{key}={_value(value)}" for key, value in pairs.items())


def set_up(level: str) -> logging.Handler:
    """Send the log of the whole process to stderr; returns the handler for `logging.Logger.removeHandler`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(KeyValueFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("vault_index").setLevel(level.upper())
    logging.captureWarnings(True)
    return handler


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds)) + f".{int(seconds % 1 * 1000):03d}"


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    text = str(value)
    plain = text and text.isprintable() and not any(mark in text for mark in ' "=')
    return text if plain else json.dumps(text, ensure_ascii=False)
