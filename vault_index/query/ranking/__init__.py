"""Retrieval and ranking of passages for a query."""
