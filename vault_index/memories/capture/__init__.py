"""Extract memories from the text of a session."""
