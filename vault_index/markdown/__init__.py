"""Parse markdown: blocks, frontmatter, links, chunks, and trees for the page."""
