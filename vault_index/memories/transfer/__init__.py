"""Import and export memories."""
