"""Search and reading: the query language, ranking, recall, sessions and explanations."""
