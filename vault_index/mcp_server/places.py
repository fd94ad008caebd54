"""References and globs that agents give: what cannot be inside a vault is refused with the reason."""

import re

from vault_index.errors import UsageError

_WIKILINK = re.compile(r"^!?\[\[.*\]\]$", re.DOTALL)
_ABSOLUTE = re.compile(r"^(?:~?[/\\]|[A-Za-z]:[/\\])")
_HINT = "name it by its id, or by its path inside the vault as memory_search gives it"


def refuse_outside(place: str) -> None:
    """Raise UsageError for a path that leads out of every vault, or to what no vault shows.

    Only the name is looked at: whatever else is asked for is looked up in the index, never on the disk.
    """
    if _WIKILINK.match(place.strip()):
        return
    parts = re.split(r"[/\\]", place.strip())
    if "\0" in place:
        raise UsageError(f"{place!r} is no path", _HINT)
    if _ABSOLUTE.match(place.strip()):
        raise UsageError(f"{place!r} is an absolute path, and only what is inside a vault can be asked for", _HINT)
    if ".." in parts:
        raise UsageError(f"{place!r} leads out of the vault", _HINT)
    if any(part.startswith(".") for part in parts[:-1]) or (len(parts) > 1 and parts[-1].startswith(".")):
        raise UsageError(f"{place!r} is hidden: files and folders that begin with a dot are not indexed", _HINT)


def is_path(reference: str) -> bool:
    """Whether it looks like the path of a file, rather than an id or the name of a note."""
    return "/" in reference or "." in reference
