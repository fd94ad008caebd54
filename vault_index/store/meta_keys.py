"""What the writing half leaves in the index for the reading one: the keys it is kept under."""

EMBED_PROBLEM = "embed_problem"
"""The code, message and hint of what keeps vectors from being made, as JSON; empty while nothing does."""

SYNCED_AT = "synced_at"
"""When the index was last brought up to date."""
