"""Read, edit and write memory files."""
