"""The page: the site that a browser loads, how its user signs in, and what the page asks for beside the API."""
