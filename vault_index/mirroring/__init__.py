"""Sessions of OpenCode as files in a vault, where they can be read, and stay when OpenCode deletes them."""
