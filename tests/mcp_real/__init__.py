"""The server under the tools of MCP itself: the inspector, the conformance tests, the packer of bundles."""
