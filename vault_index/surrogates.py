"""Replace lone surrogates, such as `\\ud83d` in JSON, which databases and files reject."""

import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def has_surrogates(text: str) -> bool:
    return not text.isascii() and _SURROGATE.search(text) is not None


def mended(value: Any) -> Any:
    """Return a JSON value with each lone surrogate replaced by U+FFFD, and each pair joined."""
    if isinstance(value, str):
        whole = not has_surrogates(value)
        return value if whole else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return [mended(item) for item in value] if isinstance(value, list) else value
