"""What is known of OpenAI's embedding models without asking: how long their vectors are, and what they cost."""

from typing import NamedTuple


class _Model(NamedTuple):
    dimensions: int
    price_per_million: float


_MODELS = {
    "text-embedding-3-small": _Model(1536, 0.02),
    "text-embedding-3-large": _Model(3072, 0.13),
    "text-embedding-ada-002": _Model(1536, 0.10),
}


def price_per_million(model: str) -> float | None:
    """US dollars for a million tokens, as listed in 2026; None for a model whose price is not known."""
    known = _MODELS.get(model)
    return known.price_per_million if known else None


def known_dimensions(model: str) -> int | None:
    """The length of the model's vectors when no other is asked for."""
    known = _MODELS.get(model)
    return known.dimensions if known else None
