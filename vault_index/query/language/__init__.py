"""The query language: tokens, grammar, filters and FTS5 expressions."""
