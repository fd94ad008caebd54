"""The plugin inside the real OpenCode, offline, with a scripted model: `make test-opencode`."""
