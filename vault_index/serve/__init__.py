"""The index on HTTP for callers with a token: an API made from the registry, MCP, and events. The daemon answers."""
