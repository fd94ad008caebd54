"""What the page asks of the daemon beside the methods of the registry: what serves it may see no vault."""
