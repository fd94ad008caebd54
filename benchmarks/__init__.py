"""Measurements of vault-index; no figure depends on the data of the person who measures."""
