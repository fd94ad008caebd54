"""Keeps the index up to date with the sources, and embeds texts behind the privacy gate."""
