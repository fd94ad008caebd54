"""Measurements of vault-index; no figure depends on the sessions of the person who measures."""

import os

for variable in ("XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
    os.environ[variable] = "/nonexistent"
