"""Read OpenCode's sessions from its databases and its older JSON trees."""
