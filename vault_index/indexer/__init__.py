"""Keep the index up to date with the sources, and embed texts behind the privacy gate."""
