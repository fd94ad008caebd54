"""Finds and reads documents; does not depend on the index."""
