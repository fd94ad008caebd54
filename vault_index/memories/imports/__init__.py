"""Memories as other programs keep them, read into `Carried`: one module for each shape, pure functions all."""
