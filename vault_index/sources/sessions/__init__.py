"""Agents' sessions as a source: a common model, the interface of clients, and the renderer."""
