"""Connect agents: their configuration files, and the hooks that they call.

This package does not use the index.
"""
