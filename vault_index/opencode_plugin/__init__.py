"""The plugin for OpenCode (TypeScript, in `plugin/`), and what puts it where OpenCode finds it."""
