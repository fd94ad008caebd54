"""Frozen dataclasses of the answers; their field names are the JSON keys and a public promise."""
