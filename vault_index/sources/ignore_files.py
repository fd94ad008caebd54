"""Apply the ignore rules of a vault: `.vaultignore`, Obsidian's settings, configured patterns."""

import json
import os
import re
import stat
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from vault_index.config import SourceConfig
from vault_index.errors import ConfigError, VaultIndexError
from vault_index.models import Fault
from vault_index.sources.files import read_regular
from vault_index.sources.gitignore import Rules
from vault_index.unicode import mended

APP = ".obsidian/app.json"
TEMPLATES = ".obsidian/templates.json"
TEMPLATER = ".obsidian/plugins/templater-obsidian/data.json"
SETTINGS = (APP, TEMPLATES, TEMPLATER)
IGNORE_FILE = ".vaultignore"
_MOST_BYTES = 10_000_000
_TICK_NS = 2_000_000_000


LOGSEQ = "logseq/"
_BACKUPS = Rules(("bak/", "version-files/"))
"""Backups of Logseq in its folder."""


class FolderRules(NamedTuple):
    """The rules of one `.vaultignore`, and the length of the path of its folder."""

    skip: int
    rules: Rules


Chain = tuple[FolderRules, ...]
"""The `.vaultignore` files that apply to a folder, outermost first."""

_State = tuple[int, int, int] | None


class RuleBook:
    """Judges one path at a time, while the caller descends from the root and skips ignored paths.

    As in git, the last matching line of the innermost file decides, and nothing in an ignored
    folder can be re-included. The order of precedence is: the source's `exclude` and
    `include`, `.vaultignore`, Obsidian's settings.
    """

    def __init__(self, source: SourceConfig, root: str) -> None:
        self._root = root
        self._exclude = configured_rules(source.exclude, f"sources.{source.name}.exclude")
        self._include = configured_rules(source.include, f"sources.{source.name}.include")
        self._obsidian = ObsidianFilters()
        self._obsidian_state: tuple[_State, ...] = ()
        self._obsidian_faults: tuple[Fault, ...] = ()
        self._files: dict[str, tuple[_State, Rules, tuple[Fault, ...]]] = {}

    def refresh(self) -> tuple[Fault, ...]:
        """Re-read Obsidian's settings if they changed, and return their faults."""
        state = tuple(_state(f"{self._root}/{name}") for name in SETTINGS)
        if state != self._obsidian_state:
            self._obsidian, self._obsidian_faults = read_filters(self._root)
            self._obsidian_state = state if all(_settled(one) for one in state) else ()
        return self._obsidian_faults

    @property
    def silent(self) -> bool:
        """Whether only `.vaultignore` files have rules."""
        return not (self._exclude or self._include or any(self._obsidian))

    def enter(self, chain: Chain, prefix: str) -> tuple[Chain, tuple[Fault, ...]]:
        """Return the rules inside a folder, given those around it, and their faults.

        `prefix` ends with `/`, and is empty for the root. Raises OSError if `.vaultignore` cannot
        be read.
        """
        if prefix == LOGSEQ:
            chain = (*chain, FolderRules(len(prefix), _BACKUPS))
        path = f"{self._root}/{prefix}{IGNORE_FILE}"
        state = _state(path)
        known = self._files.pop(prefix, None)
        if state is None:
            return chain, ()
        if known is None or known[0] != state:
            known = (state, *_read_rules(path, f"{prefix}{IGNORE_FILE}"))
        if _settled(state):
            self._files[prefix] = known
        return (*chain, FolderRules(len(prefix), known[1])), known[2]

    def ignores(self, chain: Chain, path: str) -> bool:
        """Return whether a path is ignored; folders end with `/`."""
        excluded = self._exclude is not None and self._exclude.verdict(path)
        if excluded or (
            self._include is not None and not path.endswith("/") and not self._include.covers(path)
        ):
            return True
        for skip, rules in reversed(chain):
            if (verdict := rules.verdict(path[skip:])) is not None:
                return verdict
        return self._obsidian.ignores(path)

    def around(self, parts: list[str], *, file: bool) -> Chain | None:
        """Return the rules for a path itself; None if it or one of its parents is ignored."""
        chain: Chain = ()
        prefix = ""
        for position, part in enumerate(parts):
            chain, _ = self.enter(chain, prefix)
            prefix += part
            if not file or position < len(parts) - 1:
                prefix += "/"
            if self.ignores(chain, prefix):
                return None
        return chain


def configured_rules(patterns: tuple[str, ...], key: str) -> Rules | None:
    """Compile a configured list of patterns. Raises ConfigError for an invalid one."""
    if not patterns:
        return None
    rules = Rules(patterns)
    if rules.bad_lines:
        bad = patterns[rules.bad_lines[0] - 1]
        raise ConfigError(
            f"{key}: {bad!r} is not a valid pattern",
            "use .gitignore syntax, such as Archive/ or *.draft.md",
        )
    return rules


def _read_rules(path: str, shown: str) -> tuple[Rules, tuple[Fault, ...]]:
    try:
        data, _ = read_regular(path, _MOST_BYTES)
    except VaultIndexError as error:
        raise OSError(error.message) from error
    rules = Rules(data.decode("utf-8-sig", "replace").splitlines())
    invalid = "the line is not a valid pattern"
    return rules, tuple(Fault("ignore_rule", invalid, shown, line) for line in rules.bad_lines)


def _state(path: str) -> _State:
    """Return a key that changes when the file changes; None if there is no file."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return (0, 0, 0)
    return (
        (status.st_size, status.st_mtime_ns, status.st_ino)
        if stat.S_ISREG(status.st_mode)
        else None
    )


def _settled(state: _State) -> bool:
    """Return whether the mtime is so old that any further change of the file changes it, too."""
    return state is None or time.time_ns() - state[1] > _TICK_NS


class ObsidianFilters(NamedTuple):
    """Obsidian's excluded files: path prefixes and regular expressions."""

    prefixes: tuple[str, ...] = ()
    expressions: tuple[Callable[[bytes], object], ...] = ()

    def ignores(self, path: str) -> bool:
        """Return whether a path is excluded; the caller checks its parent folders first."""
        if path.startswith(self.prefixes):
            parent = path[: path.rfind("/", 0, -1) + 1]
            # A `!rule` may have re-included the parent folder despite the prefix.
            return any(
                path.startswith(prefix) and not parent.startswith(prefix)
                for prefix in self.prefixes
            )
        # RE2 needs valid UTF-8.
        name = path.encode("utf-8", "replace")
        return not path.endswith("/") and any(matches(name) for matches in self.expressions)


def read_filters(root: str) -> tuple[ObsidianFilters, tuple[Fault, ...]]:
    """Read the filters of a vault, and their faults; an invalid settings file counts as empty."""
    faults: list[Fault] = []
    app, templates, templater = (_settings(root, name, faults) for name in SETTINGS)
    prefixes: list[str] = []
    expressions: list[Callable[[bytes], object]] = []
    excluded = app.get("userIgnoreFilters")
    for text in excluded if isinstance(excluded, list) else ():
        if not isinstance(text, str) or not text.strip("/"):
            continue
        if len(text) > 2 and text.startswith("/") and text.endswith("/"):
            expression, reason = _expression(text[1:-1])
            if expression:
                expressions.append(expression)
            if reason:
                faults.append(Fault("ignore_rule", f"Excluded files: {text!r} {reason}", APP))
        else:
            prefixes.append(text)
    for folder in (templates.get("folder"), templater.get("templates_folder")):
        if isinstance(folder, str) and folder.strip("/. "):
            prefixes.append(f"{folder.strip('/')}/")
    return ObsidianFilters(tuple(prefixes), tuple(expressions)), tuple(faults)


def _expression(text: str) -> tuple[Callable[[bytes], object] | None, str]:
    """Compile an expression to a search function; also return the fault, or "".

    RE2 takes linear time, and has no backreferences and lookaround. An expression that needs them
    excludes every file, because any file may be private.
    """
    import re2  # 6 ms, and few vaults have an expression

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(re.sub(r"\\u([0-9A-Fa-f]{4})", r"\\x{\1}", text), options).search, ""
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error
    try:
        re.compile(text)
    except re.error:
        return None, f"is not a valid regular expression: {reason}"
    return bool, f"is not supported ({reason}): excludes every file not re-included by .vaultignore"


def _settings(root: str, name: str, faults: list[Fault]) -> dict[str, Any]:
    try:
        data, _ = read_regular(f"{root}/{name}", _MOST_BYTES)
        settings = mended(json.loads(data))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError, VaultIndexError) as error:
        faults.append(Fault("ignore_rule", f"cannot read Obsidian's settings: {error}", name))
        return {}
    return settings if isinstance(settings, dict) else {}
