"""Read and validate the configuration: the TOML file, overridden by the environment."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vault_index.config.home import Home
from vault_index.config.schema import (
    CLIENTS,
    SECTIONS,
    ClientConfig,
    Config,
    SourceConfig,
)
from vault_index.config.validate import BadValueError, check, check_together, from_text, keys
from vault_index.disk import must_be_own
from vault_index.errors import ConfigError, NotSetUpError, did_you_mean, nearest

PREFIX = "VAULT_INDEX_"
_SOURCE_NAME = re.compile(r"[A-Za-z0-9_-]+")
_REFERENCE = "see the configuration reference: docs/configuration.md, or: vault-index config list"
_HEADER = re.compile(r"\s*\[([^\[\]]+)\]")


def load_config(home: Home, environ: Mapping[str, str] = os.environ) -> Config:
    """Return the configuration of a home. NotSetUpError without a file, ConfigError if invalid."""
    return parse_config(read_text(home), home, environ)


def read_text(home: Home) -> str:
    """Return the text of the configuration file."""
    must_be_own(home.config_file)  # it names commands to run and servers to send to
    try:
        return home.config_file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise NotSetUpError(
            f"vault-index is not set up: there is no {home.config_file}",
            "start with: vault-index init ~/Vault",
        ) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(
            f"{home.config_file}:{line}: not valid UTF-8", "save the file as UTF-8"
        ) from error
    except OSError as error:
        raise ConfigError(
            f"cannot read {home.config_file}: {error.strerror}", "make it readable for this user"
        ) from error


def parse_config(text: str, home: Home, environ: Mapping[str, str]) -> Config:
    """Parse the text of a configuration file; an empty `environ` checks the file alone."""
    file = _File(home.config_file, text)
    tables = _tables(file, text)
    found = tuple(_sources(file, tables.get("sources", {}), home))
    sources = tuple(one for one in found if not one.live)
    sections = {
        name: _section(file, keys(kind), tables.get(name, {}), tuple(name.split(".")))
        for name, kind in SECTIONS
    }
    configured = {name for name in CLIENTS if f"sessions.{name}" in tables}
    for name, values in from_environment(environ).items():
        sections[name].update(values)
        configured |= {name.removeprefix("sessions.")} & CLIENTS.keys() if values else set()
    clients = {name: ClientConfig(**sections[f"sessions.{name}"]) for name in CLIENTS}
    for source in sources:
        if source.name in clients.keys() - configured:  # an older vault with the name of a client
            clients[source.name] = replace(clients[source.name], enabled=False)
    config = Config(
        sources=sources,
        servers=tuple(one for one in found if one.live),
        clients=clients,
        configured=frozenset(configured),
        sessions_dir=home.sessions_dir,
        **{name: kind(**sections[name]) for name, kind in SECTIONS if "." not in name},
    )
    check_together(config, home)
    return config


def from_environment(environ: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the settings of VAULT_INDEX_<SECTION>_<KEY> by section and key.

    Empty variables count as unset.
    """
    found: dict[str, dict[str, Any]] = {name: {} for name, _ in SECTIONS}
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or not environ[variable]:
            continue
        word, key = _named(variable)
        section = next((kind for name, kind in SECTIONS if name == word), None)
        if section is None:
            _refuse_misspelt(variable, word, key)
            continue
        if (field := keys(section).get(key)) is None:
            near = nearest(key, keys(section))
            begin = variable.removesuffix(f"_{key.upper()}")
            meant = f"did you mean {begin}_{near.upper()}?" if near else f"unset {variable}"
            raise ConfigError(f"the environment variable {variable} is not a setting", meant)
        try:
            found[word][key] = check(field, from_text(field, environ[variable]), Path())
        except BadValueError as error:
            shown = str(error) if not field.metadata["secret"] else "is not valid"
            raise ConfigError(
                f"the environment variable {variable} {shown}", "correct it or unset it"
            ) from error
    return found


def _named(variable: str) -> tuple[str, str]:
    """Return section and key of a variable such as VAULT_INDEX_SESSIONS_CLAUDE_CODE_DATA."""
    word, _, key = variable.removeprefix(PREFIX).lower().partition("_")
    for client in CLIENTS if word == "sessions" else ():
        if key.startswith(begin := f"{client.replace('-', '_')}_"):
            return f"sessions.{client}", key.removeprefix(begin)
    return word, key


class _File:
    """The configuration file, for errors that name the line."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()

    def error(self, problem: str, where: tuple[str, ...], hint: str = _REFERENCE) -> ConfigError:
        line = self._line(where)
        place = f"{self.path}:{line}" if line else str(self.path)
        return ConfigError(f"{place}: {problem}", hint)

    def _line(self, where: tuple[str, ...]) -> int | None:
        """Return the line of a header or key; None if it is written in an unusual way."""
        header = ""
        for number, line in enumerate(self.lines, start=1):
            if match := _HEADER.match(line):
                header = match[1].strip().replace('"', "")
                if header == ".".join(where):
                    return number
            elif header == ".".join(where[:-1]) and re.match(
                rf'\s*"?{re.escape(where[-1])}"?\s*[=.]', line
            ):
                return number
        return None


def _tables(file: _File, text: str) -> dict[str, Any]:
    """Return the tables of the file by section; those of clients move out of `sessions`."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, place = str(error).partition(" (at ")
        match = re.match(r"line (\d+)", place)
        line = int(match[1]) if match else text.count("\n") + 1
        raise ConfigError(
            f"{file.path}:{line}: not valid TOML: {reason}", "correct that line of the file"
        ) from error
    known = ["sources", *(name for name, _ in SECTIONS)]
    for name in tables:
        if name not in known or "." in name:
            raise file.error(
                f"unknown section [{name}]", (name,), did_you_mean(name, known, _REFERENCE)
            )
    if isinstance(sessions := tables.get("sessions"), dict):
        tables |= {f"sessions.{name}": sessions.pop(name) for name in CLIENTS if name in sessions}
    return tables


def _section(
    file: _File, fields: Mapping[str, Any], table: object, where: tuple[str, ...]
) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise file.error(f"{'.'.join(where)} must be a section, not a value", where)
    values = {}
    for key, value in table.items():
        if key not in fields:
            raise file.error(
                f"unknown key {key!r} in [{'.'.join(where)}]",
                (*where, key),
                did_you_mean(key, fields, _REFERENCE),
            )
        try:
            values[key] = check(fields[key], value, file.path.parent)
        except BadValueError as error:
            reason = "must be a text" if fields[key].metadata["secret"] else str(error)
            problem = f"{'.'.join((*where, key))} {reason}"
            raise file.error(problem, (*where, key), "correct the value in the file") from error
    return values


def _sources(file: _File, tables: object, home: Home) -> Iterator[SourceConfig]:
    if not isinstance(tables, dict):
        raise file.error("sources must be sections, as [sources.vault]", ("sources",))
    for name, table in tables.items():
        where = ("sources", name)
        if not _SOURCE_NAME.fullmatch(name):
            hint = (
                "rename the section to "
                f"[sources.{re.sub(r'[^A-Za-z0-9_-]+', '-', name).strip('-') or 'vault'}]"
            )
            raise file.error(
                f"the source name {name!r} may contain only letters, digits, - and _", where, hint
            )
        values = _section(file, keys(SourceConfig), table, where)
        if values.get("remote"):
            values["path"] = home.data_dir / "remotes" / name / "files"
        if "path" not in values:
            raise file.error(
                f"[sources.{name}] has no path", where, 'add: path = "/folder/of/the/vault"'
            )
        yield SourceConfig(name=name, **values)


def _refuse_misspelt(variable: str, word: str, key: str) -> None:
    """Raise for a misspelled setting (VAULT_INDEX_EMBEDING_PROVIDER), not for other variables."""
    near = key and nearest(word, [name for name, _ in SECTIONS])
    if near and key in keys(dict(SECTIONS)[near]):
        meant = re.sub(r"\W", "_", f"{PREFIX}{near}_{key}".upper())
        raise ConfigError(
            f"the environment variable {variable} is not a setting", f"did you mean {meant}?"
        )
    if word == "sources":
        raise ConfigError(
            f"the environment variable {variable} is not a setting: "
            "sources are set only in the file",
            f"unset {variable}, and use: vault-index source add",
        )
