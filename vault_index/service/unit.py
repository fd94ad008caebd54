"""The text of a systemd unit from `unit.toml`; pure."""

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from vault_index.service.definition import MARK, Definition

NAME = "vault-index.service"

_MADE = "Made by tools/build_units.py from vault_index/service/unit.toml; docs/operations.md says how to use it."
_TEMPORARY = ("/tmp", "/var/tmp")

Sections = dict[str, dict[str, Any]]


def facts() -> Sections:
    """What `unit.toml` says; a list stands for a directive given several times."""
    return tomllib.loads((files(__package__) / "unit.toml").read_text("utf-8"))


def user_unit(definition: Definition) -> str:
    """The unit of one user, as `service install` writes it."""
    told = facts()
    service: dict[str, Any] = {"ExecStart": " ".join(_quoted(word, command=True) for word in definition.command)}
    if definition.environment:
        service["Environment"] = [_quoted(f"{name}={value}") for name, value in sorted(definition.environment.items())]
    if definition.writable is not None:
        service |= told["Sandbox"] | {"ReadWritePaths": ["%t", *(_writable(path) for path in definition.writable)]}
        # A folder there would be covered by the private one.
        service["PrivateTmp"] = not any(path.is_relative_to(top) for path in definition.writable for top in _TEMPORARY)
    return _unit(told, service, MARK)


def shared_unit() -> str:
    """`systemd/vault-index.service`: for whoever copies it by hand or puts it into a package."""
    return _unit(facts(), {"ExecStart": "%h/.local/bin/vault-index watch"}, _MADE)


def system_unit() -> str:
    """`systemd/vault-index@.service`: the template of the system's manager; the instance is the name of the user."""
    told = facts()
    told["Install"]["WantedBy"] = "multi-user.target"
    return _unit(told, {"ExecStart": "/usr/local/bin/vault-index watch", **told["Sandbox"], **told["System"]}, _MADE)


def _unit(told: Sections, service: dict[str, Any], comment: str) -> str:
    return render({"Unit": told["Unit"], "Service": told["Service"] | service, "Install": told["Install"]}, comment)


def render(sections: Mapping[str, Mapping[str, Any]], *comments: str) -> str:
    """The INI of systemd, under lines of comment."""
    blocks = ["\n".join(f"# {comment}" for comment in comments)] if comments else []
    for name, directives in sections.items():
        blocks.append("\n".join([f"[{name}]", *_lines(directives)]))
    return "\n\n".join(blocks) + "\n"


def _lines(directives: Mapping[str, Any]) -> Iterable[str]:
    for key, value in directives.items():
        for item in value if isinstance(value, list) else [value]:
            yield f"{key}={_text(item)}"


def _text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _quoted(word: str, *, command: bool = False) -> str:
    """One word of a directive, whatever it holds: specifiers, variables (of a command only), spaces and quotes."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("%", "%%")
    text = text.replace("$", "$$") if command else text
    return f'"{text}"' if any(mark in text for mark in " \t\"'\\;") or not text else text


def _writable(path: Path) -> str:
    """A folder that is not there (an unmounted vault) is no reason not to start."""
    return _quoted(f"-{path}")
