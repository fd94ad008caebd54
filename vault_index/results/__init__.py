"""What is answered: the frozen dataclasses behind the JSON. Their field names are the JSON keys, a promise."""
