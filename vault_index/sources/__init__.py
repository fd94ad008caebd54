"""Find and read documents, without any use of the index."""
