"""The page's requests to the daemon besides the API methods, because `serve` may see no vault."""
