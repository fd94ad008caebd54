"""The daemon: it keeps the index up to date and answers requests on a Unix socket."""
