"""Reads what Obsidian itself is told to leave out: excluded files and the folders of templates."""

import json
import re
from typing import Any

from vault_index.errors import VaultIndexError
from vault_index.models import Fault
from vault_index.sources.reading import read_regular
from vault_index.surrogates import mended

APP = ".obsidian/app.json"
TEMPLATES = ".obsidian/templates.json"
TEMPLATER = ".obsidian/plugins/templater-obsidian/data.json"
SETTINGS = (APP, TEMPLATES, TEMPLATER)

_MOST_BYTES = 10_000_000


class ObsidianFilters:
    """The excluded files of a vault, as prefixes of paths and as regular expressions."""

    def __init__(self, prefixes: tuple[str, ...] = (), patterns: tuple[re.Pattern[str], ...] = ()) -> None:
        self._prefixes = prefixes
        self._patterns = patterns

    def __bool__(self) -> bool:
        return bool(self._prefixes or self._patterns)

    def ignores(self, path: str) -> bool:
        """Whether a file, or a folder whose path ends with `/`, is left out; its folders were asked before."""
        if path.startswith(self._prefixes):
            parent = path[: path.rfind("/", 0, -1) + 1]
            # A prefix that is already true of the folder was decided there, where a `!rule` may have overruled it.
            return any(path.startswith(prefix) and not parent.startswith(prefix) for prefix in self._prefixes)
        return not path.endswith("/") and any(pattern.search(path) for pattern in self._patterns)


def read_filters(root: str) -> tuple[ObsidianFilters, tuple[Fault, ...]]:
    """The filters of the vault at `root`; a broken settings file counts as empty and is named."""
    faults: list[Fault] = []
    app, templates, templater = (_settings(root, name, faults) for name in SETTINGS)
    prefixes: list[str] = []
    patterns: list[re.Pattern[str]] = []
    excluded = app.get("userIgnoreFilters")
    for text in excluded if isinstance(excluded, list) else ():
        if not isinstance(text, str) or not text.strip("/"):
            continue
        if len(text) > 2 and text.startswith("/") and text.endswith("/"):
            try:
                patterns.append(re.compile(text[1:-1]))
            except re.error as error:
                faults.append(Fault("ignore_rule", f"Excluded files: {text!r} cannot be understood: {error}.", APP))
        else:
            prefixes.append(text)
    for folder in (templates.get("folder"), templater.get("templates_folder")):
        if isinstance(folder, str) and folder.strip("/. "):
            prefixes.append(f"{folder.strip('/')}/")
    return ObsidianFilters(tuple(prefixes), tuple(patterns)), tuple(faults)


def _settings(root: str, name: str, faults: list[Fault]) -> dict[str, Any]:
    try:
        data, _ = read_regular(f"{root}/{name}", _MOST_BYTES)
        settings = mended(json.loads(data))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError, VaultIndexError) as error:
        faults.append(Fault("ignore_rule", f"Obsidian's settings cannot be read: {error}.", name))
        return {}
    return settings if isinstance(settings, dict) else {}
