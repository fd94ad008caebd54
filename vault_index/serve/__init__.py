"""Serve the index over HTTP for callers with a token: the API, MCP and events."""
