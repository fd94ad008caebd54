"""Install the plugin for OpenCode, which is TypeScript in `plugin/`."""
