"""Claude Code, Codex and Gemini CLI as npm installs them, offline, with a scripted model."""
