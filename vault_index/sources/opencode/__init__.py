"""The sessions of OpenCode as a source: where they lie, how its two stores are read, and what markdown they become."""
