"""Compute vectors for a million passages in minutes, in the space of the local model.

The vector of a text is the sum of the vectors of its word pieces, weighted by rarity (a / (a +
frequency), Arora et al. 2017). The vector of a piece is that of the model for the piece alone. A
ridge regression then maps such sums close to the model's vectors of some texts. So vectors of one
topic are neighbours, as with the model, and the model itself embeds the queries. The cost of
embedding is not measured with it.
"""

from collections.abc import Callable, Sequence

import numpy as np

from vault_index.api import VaultIndex
from vault_index.embeddings.inference import Array, EnglishModel, as_int8
from vault_index.embeddings.spaces import ENGLISH
from vault_index.embeddings.wordpiece import WordPiece, read_pieces
from vault_index.models import INT8_SCALE, Vector

_RARE = 1e-3
_RIDGE = 0.01
_BATCH = 1000


class StandIn:
    """An embedder for `ENGLISH`."""

    space = ENGLISH
    remote = False
    via = ""
    batch_texts = _BATCH
    batch_tokens = _BATCH * 1000

    def __init__(self, sample: Sequence[str], passages: Sequence[str]) -> None:
        """Learn from `sample` how common pieces are; the model embeds `passages`, typical texts."""
        self._model = EnglishModel()
        self._ids = WordPiece(read_pieces()).ids
        counts = np.bincount(np.concatenate([self._ids(text) for text in sample]), minlength=2**15)
        self._weights = (_RARE / (_RARE + counts / counts.sum())).astype("<f4")
        self._rows = np.empty((2**15, ENGLISH.dimensions), "<f4")
        self._filled = np.zeros(2**15, bool)
        sums = np.array([self._sum(text) for text in passages])
        wanted = (
            np.array([np.frombuffer(self._model.embed(text), "i1") for text in passages])
            / INT8_SCALE
        )
        self._mean, self._offset = sums.mean(axis=0), wanted.mean(axis=0)
        sums -= self._mean
        ridge = _RIDGE * np.trace(sums.T @ sums) / ENGLISH.dimensions * np.eye(ENGLISH.dimensions)
        self._map = np.linalg.solve(sums.T @ sums + ridge, sums.T @ (wanted - self._offset)).astype(
            "<f4"
        )

    def embed(
        self, texts: Sequence[str], before: Callable[[], object] | None = None
    ) -> list[Vector]:
        """Return the vectors of texts."""
        sums = np.array([self._sum(text) for text in texts])
        vectors = (sums - self._mean) @ self._map + self._offset
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return [as_int8(vector) for vector in vectors]

    def embed_query(self, text: str, before: Callable[[], object] | None = None) -> Vector:
        """Return the vector of a query, by the model."""
        return self._model.embed_query(text)

    def release(self, unused: float) -> bool:
        """Do nothing."""
        return False

    def prepare(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """There is nothing to close."""

    def _sum(self, text: str) -> Array:
        """Of unit length: long texts have no longer sums."""
        ids = np.array(self._ids(text) or [0])
        for piece in set(ids[~self._filled[ids]].tolist()):
            self._rows[piece] = self._model._run([piece]) * self._weights[piece]
            self._filled[piece] = True
        total = self._rows[ids].sum(axis=0)
        return np.asarray(total / np.linalg.norm(total), "<f4")


def embed_all(index: VaultIndex, sample: Sequence[str], passages: Sequence[str]) -> None:
    """Give every passage of the index a vector, through its cache as always."""
    index._runtime.embedders._by_space[ENGLISH] = StandIn(sample, passages)
    index.embed()
