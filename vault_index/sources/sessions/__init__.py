"""The sessions of any agent's client as a source: one model, one interface that its client is read through, and what
markdown a session becomes."""
