"""Sessions as files in a vault, where they can be read, and stay when their client deletes them."""
