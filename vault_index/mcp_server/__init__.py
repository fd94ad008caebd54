"""The memory tools for any MCP client, on stdio; the daemon does the work where one runs."""
