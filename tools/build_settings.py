"""Write docs/configuration.md from the configuration classes: `python tools/build_settings.py`."""

import json
import sys
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from vault_index.config.schema import CLIENTS, SECTIONS, SourceConfig
from vault_index.memories.capture.markers import built_in_tags

FILE = Path(__file__).parent.parent / "docs" / "configuration.md"

HEAD = """\
# Configuration

<!-- Made by tools/build_settings.py from vault_index/config/schema.py; edit that. -->

After this page you can change any setting. The configuration is one TOML file: \
`~/.config/vault-index/config.toml`,
`config.toml` in `VAULT_INDEX_HOME`, or the file in `--config` or `VAULT_INDEX_CONFIG`. \
`vault-index config path` prints
its path. An unknown key is an error that suggests the nearest valid one.

```sh
vault-index config list                          # every setting with the origin of its value; \
secrets are masked
vault-index config set chunk.tokens 300          # comments in the file are kept
vault-index config set exclude '["Archive/"]' --source vault
vault-index source add ~/Work/Notes
```

An environment variable overrides the file, and an option of a command overrides both. A running \
daemon reloads the file
on SIGHUP, and before `config set` and `source add` return.

## Every key, with its default

```toml
"""

VARIABLES = """\
## Environment

| variable | meaning |
|---|---|
| `VAULT_INDEX_HOME` | one folder for configuration, databases and socket instead of the XDG \
folders; like `--home` |
| `VAULT_INDEX_CONFIG` | the configuration file; like `--config` |
| `VAULT_INDEX_SESSION` | the current session, which is excluded from its own results; like \
`--exclude-session` |
| `OPENAI_API_KEY` | the key for an embedding server, unless `embedding.api_key_env` names \
another variable |
| `NO_COLOR` | no colours |
"""

TAGS = """\
## Tags of captured memories

`capture` adds a tag to a memory if its text contains one of the tag's words, as a whole word in \
any case.
`memory.capture_tags` extends this table:

| tag | words |
|---|---|
"""


_ALIKE = """\
# {} have the same keys (VAULT_INDEX_SESSIONS_CLAUDE_CODE_DATA).

"""


def _list(names: list[str]) -> str:
    *some, last = (f"[{name}]" for name in names)
    return f"{', '.join(some)} and {last}"


def reference() -> str:
    """The whole page."""
    sections = [_section("sources.vault", SourceConfig, variables=False, skip=("name", "below"))]
    first, *others = (f"sessions.{name}" for name in CLIENTS)
    shown = [(name, kind) for name, kind in SECTIONS if name not in others]
    sections += [
        _section(name, kind, variables=True) + (_ALIKE.format(_list(others)) * (name == first))
        for name, kind in shown
    ]
    rows = [
        f"| `{_variable(name, field)}` | `{name}.{field.name}` |"
        for name, kind in shown
        for field in fields(kind)
    ]
    tags = [f"| `{tag}` | {words} |" for tag, words in built_in_tags().items()]
    return "\n".join(
        [
            HEAD + "\n".join(sections) + "```\n",
            VARIABLES + "\n".join(rows),
            "",
            TAGS + "\n".join(tags),
            "",
        ]
    )


def _section(name: str, kind: type[Any], *, variables: bool, skip: tuple[str, ...] = ()) -> str:
    lines = [f"[{name}]"]
    for field in fields(kind):
        if field.name in skip:
            continue
        lines.append(f"# {field.metadata['doc']}")
        lines.append(f"{field.name} = {_default(field)}{_bounds(field)}")
    return "\n".join([*lines, ""])


def _default(field: Field[Any]) -> str:
    if field.default is MISSING:
        return '"~/Vault"'
    return json.dumps(list(field.default) if isinstance(field.default, tuple) else field.default)


def _bounds(field: Field[Any]) -> str:
    about = field.metadata
    if about.get("choices"):
        return f"  # {' | '.join(about['choices'])}"
    low, high = about.get("low"), about.get("high")
    if low is None and high is None:
        return ""
    return f"  # at least {low}" if high is None else f"  # {low} to {high}"


def _variable(section: str, field: Field[Any]) -> str:
    return f"VAULT_INDEX_{section}_{field.name}".upper().replace(".", "_").replace("-", "_")


if __name__ == "__main__":
    FILE.write_text(reference(), encoding="utf-8")
