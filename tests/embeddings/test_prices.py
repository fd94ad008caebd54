from vault_index.embeddings.prices import known_dimensions, price_per_million


def test_known_models_have_a_price_and_a_length() -> None:
    assert price_per_million("text-embedding-3-small") == 0.02
    assert known_dimensions("text-embedding-3-large") == 3072


def test_of_other_models_nothing_is_guessed() -> None:
    assert price_per_million("nomic-embed-text") is None
    assert known_dimensions("nomic-embed-text") is None
