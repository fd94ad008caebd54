"""Memory files: what stands in them, and how they are written. The indexer finds them as it finds any file."""
