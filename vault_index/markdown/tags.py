"""Tags in the one spelling they are stored and asked for in."""

import re
import unicodedata

_PROJECT = re.compile(r"^project:\s*")
_SPACES = re.compile(r"\s+")


def normalize_tag(text: str) -> str:
    """Lower case (NFC), without `#`, spaces as `-`, `project:x` as `project/x`; empty where nothing is left.

    Normalising twice changes nothing: stored tags and asked ones meet whichever side they come from.
    """
    tag = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
    tag = _PROJECT.sub("project/", tag.strip().lstrip("# \t").strip())
    parts = (part.strip() for part in tag.split("/"))
    return _SPACES.sub("-", "/".join(part for part in parts if part).strip("/# \t\n"))
