"""Writes sessions as notes into a vault, where they stay when their client deletes them."""
