"""The web page: its files, its sign-in, and its requests beyond the API."""
