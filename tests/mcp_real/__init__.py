"""The server under MCP's own tools: the inspector, the conformance tests, the bundle packer."""
