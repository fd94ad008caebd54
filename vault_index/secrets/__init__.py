"""Detect credentials: before a memory is written, a session is stored, or a text is sent."""
