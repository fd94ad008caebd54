from vault_index.embeddings.prices import KNOWN_DIMENSIONS, PRICES_PER_MILLION


def test_known_models_have_a_price_and_a_length() -> None:
    assert PRICES_PER_MILLION["text-embedding-3-small"] == 0.02
    assert KNOWN_DIMENSIONS["text-embedding-3-large"] == 3072
    assert PRICES_PER_MILLION.keys() == KNOWN_DIMENSIONS.keys()
