"""Arguments as callers write them: one value, several, several in one string; numbers and words that are allowed."""

from collections.abc import Sequence
from typing import Any

from vault_index.errors import UsageError

Names = str | Sequence[str] | None
"""One value, several, or several in one string with commas."""


def whole(value: Names) -> tuple[str, ...]:
    """The values as they are: paths and names of people may hold a comma."""
    return tuple(item for item in ([value] if isinstance(value, str) else value or ()) if item)


def names(value: Names) -> tuple[str, ...]:
    """The values, those in one string apart."""
    values = [value] if isinstance(value, str) else list(value or ())
    return tuple(name for item in values for part in str(item).split(",") if (name := part.strip()))


def at_least(low: int, name: str, value: int | None, default: int) -> int:
    number = default if value is None else value
    if number < low:
        raise UsageError(f"{name} must be at least {low}, not {number}", f"leave {name} out for the default")
    return number


def one_of(name: str, value: str | None, default: str, choices: tuple[str, ...]) -> Any:
    chosen = default if value is None else value
    if chosen not in choices:
        raise UsageError(f"{name} cannot be {chosen!r}", f"it is one of {', '.join(choices)}")
    return chosen
