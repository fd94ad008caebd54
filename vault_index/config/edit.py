"""Edit the configuration file, keeping comments and order, and validating before writing."""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import tomlkit
from tomlkit.items import Table

from vault_index import disk
from vault_index.config.home import Home, private_folder
from vault_index.config.load import from_environment, load_config, parse_config, read_text
from vault_index.config.schema import CLIENTS, SECTIONS, Config, SourceConfig
from vault_index.config.validate import (
    BadValueError,
    check,
    check_remote,
    from_text,
    is_remote,
    keys,
    plain,
    without_password,
)
from vault_index.errors import ConfigError, NotSetUpError, UsageError, did_you_mean

Origin = Literal["default", "file", "environment"]
Value = str | int | float | bool | list[str] | None
Judge = Callable[[Config], object]


class Setting(NamedTuple):
    """One setting in effect; a secret is masked."""

    key: str
    value: Value
    origin: Origin


@dataclass(frozen=True, slots=True)
class SetUp:
    """The result of `create_config`."""

    source: str
    """The name of the vault's source."""
    created: bool
    """Whether the file was created."""
    added: bool
    """Whether the source was added."""


def list_values(home: Home, environ: Mapping[str, str] = os.environ) -> list[Setting]:
    """Return every setting, sources first, with the origin of its value."""
    config = load_config(home, environ)
    document = tomlkit.parse(read_text(home)).unwrap()
    outside = from_environment(environ)
    sections = [
        (f"sources.{one.name}", SourceConfig, one) for one in (*config.sources, *config.servers)
    ]
    sections += [(name, kind, config.section(name)) for name, kind in SECTIONS]
    found = []
    for name, kind, values in sections:
        table = _table(document, name.split("."))
        for key, field in keys(kind).items():
            origin: Origin = "file" if key in table else "default"
            if key in outside.get(name, {}):
                origin = "environment"
            found.append(Setting(f"{name}.{key}", _shown(field, getattr(values, key)), origin))
    return found


def get_value(
    home: Home, key: str, source: str = "", environ: Mapping[str, str] = os.environ
) -> Value:
    """Return the value in effect of a dotted key; with `source`, of a key in its section."""
    section, field = _address(key, source, load_config(home, environ))
    name = ".".join((*section, field.name))
    return next(one.value for one in list_values(home, environ) if one.key == name)


def set_value(
    home: Home, key: str, text: str, source: str = "", possible: Judge | None = None
) -> None:
    """Write one setting, parsed by its type: `5`, `true`, `text`, `["a", "b"]` or `a, b`.

    `possible` raises if the resulting configuration is valid but cannot work.
    """
    document = _document(home)
    section, field = _address(key, source, _names_only(document))
    try:
        value = from_text(field, text)
        check(field, value, home.config_file.parent)
    except BadValueError as error:
        reason = "is not valid" if field.metadata["secret"] else str(error)
        raise UsageError(
            f"{'.'.join((*section, field.name))} {reason}", field.metadata["doc"]
        ) from error
    table: Any = document
    for name in section:
        table = table.setdefault(name, tomlkit.table())
    table[field.name] = value
    _write(home, document, possible)


def delete_value(home: Home, key: str, source: str = "") -> bool:
    """Remove one setting from the file, so that its default applies.

    False if the file did not set it.
    """
    document = _document(home)
    parts = _parts(key, source, _names_only(document))
    table: Any = _table(document, parts[:-1])
    if not isinstance(table, dict) or parts[-1] not in table:
        _address(key, source, _names_only(document))  # raises for an unknown key
        return False
    if isinstance(table[parts[-1]], dict) and parts[0] == "sources":
        raise UsageError(
            f"{key} is a source, not a setting", f"use: vault-index source remove {parts[-1]}"
        )
    del table[parts[-1]]
    if len(parts) == 2 and isinstance(table, Table) and not table.as_string().strip():
        del document[parts[0]]
    _write(home, document)
    return True


def add_source(
    home: Home, name: str, path: str | Path, settings: Mapping[str, Any] | None = None
) -> SourceConfig:
    """Add a source; `settings` are more keys of its section.

    An empty name derives from the folder's.
    """
    document = _document(home)
    if is_remote(path):
        check_remote(str(path))
        root = Path(str(path).partition("#")[0].removesuffix(".git").replace(":", "/"))
        settings = {"remote": str(path), **(settings or {})}
    else:
        root = _existing_folder(path)
    name = _put_source(document, name, root, settings)
    return _write(home, document).source(name)


def _put_source(
    document: tomlkit.TOMLDocument, name: str, root: Path, settings: Mapping[str, Any] | None = None
) -> str:
    sources = document.get("sources", {})
    if name.casefold() in map(str.casefold, sources):
        raise UsageError(
            f"a source named {name!r} already exists",
            "choose another name, or remove it first: vault-index source remove",
        )
    name = name or free_name(root, [*sources, *CLIENTS])
    table = tomlkit.table()
    if "remote" not in (settings or {}):
        table["path"] = str(root)
    for key, value in (settings or {}).items():
        table[key] = plain(value)
    table.add(tomlkit.nl())
    document.setdefault("sources", tomlkit.table(is_super_table=True))[name] = table
    return name


def same_source(
    home: Home, name: str, path: str | Path, settings: Mapping[str, Any]
) -> SourceConfig | None:
    """Return the existing source that `add_source` would duplicate, or None."""
    root = "" if is_remote(path) else os.path.realpath(_existing_folder(path))
    for source in parse_config(read_text(home), home, {}).sources:
        as_asked = name.casefold() in ("", source.name.casefold()) and (root or str(path)) in (
            os.path.realpath(source.path),
            source.remote,
        )
        if as_asked and all(
            plain(getattr(source, key)) == plain(value) for key, value in settings.items()
        ):
            return source
    return None


def remove_source(home: Home, name: str) -> None:
    """Remove a source from the file; its notes are not touched."""
    document = _document(home)
    name = _names_only(document).source(name).name
    del document["sources"][name]
    if str(document.get("memory", {}).get("vault", "")).casefold() == name.casefold():
        del document["memory"]["vault"]
    _write(home, document)


def create_config(
    home: Home, vault: str | Path, provider: str | None = None, memory_dir: str | None = None
) -> SetUp:
    """Write the first configuration, or add the vault to the existing one.

    Existing settings stay unless given.
    """
    root = _existing_folder(vault)
    try:
        text = read_text(home)
    except NotSetUpError:
        name = free_name(root, [*CLIENTS])  # without the names of session sources
        text = first_config(name, root, provider or "local", memory_dir or "80-memory")
        parse_config(text, home, {})
        write_text(home.config_file, text)
        return SetUp(name, created=True, added=True)
    # One write: if killed between two, the vault could be embedded by the wrong provider.
    document, config = _document(home), parse_config(text, home, {})
    given = {("embedding", "provider"): provider, ("memory", "dir"): memory_dir}
    for (section, key), value in given.items():
        if value not in (None, getattr(getattr(config, section), key)):
            document.setdefault(section, tomlkit.table())[key] = value
    known = same_source(home, "", root, {})
    name = known.name if known else _put_source(document, "", root)
    _write(home, document)
    return SetUp(name, created=False, added=known is None)


def free_name(folder: Path, taken: Sequence[str]) -> str:
    """Derive a free source name from a folder: `My Vault` gives `My-Vault` or `My-Vault-2`."""
    base = re.sub(r"[^A-Za-z0-9_]+", "-", folder.name).strip("-") or "vault"
    names = (base, *(f"{base}-{number}" for number in range(2, len(taken) + 2)))
    other = set(map(str.casefold, taken))
    return next(name for name in names if name.casefold() not in other)


def masked(secret: str) -> str:
    """Mask a secret: `sk-…abcd`, at most the last four characters, none of a short one."""
    if len(secret) < 16:
        return "…" if secret else ""
    return f"{'sk-' if secret.startswith('sk-') else ''}…{secret[-4:]}"


def _shown(field: Field[Any], value: Any) -> Value:
    if field.name == "base_url":
        return without_password(value)
    shown: Value = masked(value) if field.metadata["secret"] else plain(value)
    return shown


def _parts(key: str, source: str, config: Config) -> list[str]:
    """Split a dotted key; the name of a source gets its case from the file."""
    parts = ["sources", source, key] if source and "." not in key else key.split(".")
    if parts[0] == "sources" and len(parts) > 1:
        known = {one.name.casefold(): one.name for one in config.sources}
        parts[1] = known.get(parts[1].casefold(), parts[1])
    return parts


def _address(key: str, source: str, config: Config) -> tuple[tuple[str, ...], Field[Any]]:
    """Return the section and the field of a dotted key. Raises ConfigError."""
    parts = _parts(key, source, config)
    if parts[0] == "sources" and len(parts) == 3:
        config.source(parts[1])
        fields = keys(SourceConfig)
    else:
        section = ".".join(parts[:-1])
        fields = next((keys(kind) for name, kind in SECTIONS if name == section), {})
    if parts[-1] in fields:
        return tuple(parts[:-1]), fields[parts[-1]]
    known = [f"{name}.{field}" for name, kind in SECTIONS for field in keys(kind)]
    known += [
        f"sources.{one.name}.{field}" for one in config.sources for field in keys(SourceConfig)
    ]
    hint = did_you_mean(".".join(parts), known, "list them: vault-index config list")
    raise ConfigError(f"there is no setting {key!r}", hint)


def _table(document: Any, place: Sequence[str]) -> Any:
    """Return the table at this place; empty if there is none."""
    for name in place:
        document = document.get(name) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def _names_only(document: tomlkit.TOMLDocument) -> Config:
    """Return the source names of a file whose other values may be invalid."""
    sources = document.get("sources", {})
    names = (
        [name for name in sources if isinstance(sources[name], Table)]
        if isinstance(sources, dict)
        else []
    )
    return Config(sources=tuple(SourceConfig(name=name, path=Path()) for name in names))


def _document(home: Home) -> tomlkit.TOMLDocument:
    text = read_text(home)
    try:
        return tomlkit.parse(text)
    except tomlkit.exceptions.ParseError as error:
        parse_config(text, home, {})  # raises an error with the line
        raise ConfigError(
            f"{home.config_file}: not valid TOML: {error}", "correct the file by hand"
        ) from error


def _write(home: Home, document: tomlkit.TOMLDocument, possible: Judge | None = None) -> Config:
    """Write the document if its configuration is valid as a whole."""
    text = tomlkit.dumps(document)
    config = parse_config(text, home, {})
    if possible is not None:
        possible(parse_config(text, home, os.environ))
    write_text(home.config_file, text)
    return config


def _existing_folder(path: str | Path) -> Path:
    root = Path(os.path.abspath(os.path.expanduser(path)))
    if root.is_dir():
        return root
    if root.exists():
        raise UsageError(f"{root} is a file, not a folder", "give the folder of the notes")
    raise UsageError(f"there is no folder {root}", "give the folder of the notes, such as ~/Vault")


def write_text(file: Path, text: str) -> None:
    """Replace the file with one of mode 0600. If it is a link, replace its target."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            "a name or value is not valid UTF-8", "TOML can hold UTF-8 only: rename it"
        ) from error
    disk.must_be_own(file)
    target = os.path.realpath(file)
    private_folder(Path(target).parent, close=False)  # others may share it on purpose
    hint = (
        "make the file and its folder writable; if another program manages it "
        "(home-manager), change it there"
    )
    with disk.os_errors_as(f"cannot write {target}", hint):
        disk.replace(target, data, mode=0o600)


def first_config(name: str, vault: Path, provider: str, memory_dir: str) -> str:
    """Return the text of a first configuration with one vault."""
    # A JSON string is a TOML string if it has no lone surrogates.
    return f"""\
# vault-index. Every key and its default: docs/configuration.md, or `vault-index config list`.
# A changed file is read at the next command; a running daemon reads it on SIGHUP.

[sources.{name}]
path = {_quoted(str(vault))}
# exclude = ["Archive/", "*.draft.md"]  # as in .gitignore; .vaultignore files in the vault work too
# local_only = ["private/"]             # never sent to a remote embedder; true for the whole vault

[embedding]
# "local": the model that comes with the package; nothing leaves this machine.
# "openai": OpenAI, or with base_url any server that speaks its API (Ollama, LM Studio, vLLM).
# "none": search by keywords only.
provider = {_quoted(provider)}
# base_url = "http://localhost:11434/v1"
# model = ""

[memory]
dir = {_quoted(memory_dir)}
"""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
