"""A team's pool in PostgreSQL: machines publish documents to it, and servers answer from it."""
