"""Tags in the one spelling they are stored and asked for in."""

import re

_PROJECT = re.compile(r"^project:\s*", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_SLASHES = re.compile(r"/{2,}")


def normalize_tag(text: str) -> str:
    """Lower case, without `#`, spaces as `-`, `project:x` as `project/x`; empty where nothing is left."""
    tag = _PROJECT.sub("project/", text.strip().lstrip("#").strip())
    return _SLASHES.sub("/", _SPACES.sub("-", tag.casefold())).strip("/")
