"""What was measured, and how: no figure is to depend on the sessions of whoever measures."""

import os

for variable in ("XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
    os.environ[variable] = "/nonexistent"
