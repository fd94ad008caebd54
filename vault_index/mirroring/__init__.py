"""Write sessions as notes into a vault, which keeps them when their client deletes them."""
