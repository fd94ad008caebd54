"""The databases of an index: rows, vector cache and state. All SQL is here."""
