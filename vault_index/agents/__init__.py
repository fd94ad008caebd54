"""Connects agents: what their own configuration files need, and what their hooks call. It knows nothing of an index."""
