"""The contract between a search and an index: what `query` asks, on any engine.

`store.reader.IndexReader` answers from SQLite, `team.reader.PoolReader` from a team's pool. Ids are
row keys of the engine, valid within one snapshot. docs/architecture.md describes the contract.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from vault_index.models import Filters, Vector
from vault_index.store.connection import Statements
from vault_index.store.filters import Candidates
from vault_index.store.reader import Bounded
from vault_index.store.records import ChunkRecord


class Words(Protocol):
    """The words of the visible texts: see `store.vocabulary.Vocabulary`."""

    @property
    def is_large(self) -> bool:
        """Whether scanning all words takes longer than a search."""

    def of_lengths(
        self, shortest: int, longest: int, beginning: str = ""
    ) -> list[Mapping[str, str]]:
        """Return the words of each length, with their forms without accents."""

    def frequencies(self, words: Collection[str]) -> dict[str, int]:
        """Return about how many texts hold each word in any form."""

    def look_up(self, words: Collection[str]) -> dict[str, tuple[str, int]]:
        """Return the stem and the number of texts of each known word."""

    def beginning_with(self, word: str, limit: int) -> list[tuple[str, int]]:
        """Return the most common word of each stem with this beginning, with its count."""

    def completions(self, word: str, stem: str, limit: int) -> list[str]:
        """Return the most common words that begin with `word`, one per stem."""

    def count_beginning(self, word: str) -> int:
        """Return about how many texts have a stem with this beginning."""


class Reader(Statements, Protocol):
    """One connection to an index, which shows what its caller may see.

    Besides these methods it runs the statements of `store.documents`, `store.related` and
    `store.filters`, which use only SQL that all engines understand.
    """

    @property
    def vectors_work(self) -> bool:
        """Whether vectors can be read."""

    # --- candidates: `required` and `excluded` are FTS5 expressions -------------------------------

    def text_candidates(
        self,
        match: str,
        limit: int,
        filters: Filters,
        *,
        required: str = "",
        excluded: str = "",
        bounded: Bounded | None = None,
    ) -> Candidates:
        """Return the chunks that match best by BM25."""

    def name_candidates(self, match: str, limit: int, filters: Filters) -> Candidates:
        """Return the documents whose names match best by BM25."""

    def vector_candidates(
        self,
        space_id: int,
        vector: Vector,
        limit: int,
        filters: Filters,
        *,
        required: str = "",
        excluded: str = "",
    ) -> Candidates:
        """Return the nearest chunks by cosine."""

    def nearest(
        self, space_id: int, vector: Vector, limit: int, where: str, values: Sequence[object]
    ) -> Candidates:
        """Return the nearest chunks of the documents that meet a condition, by cosine."""

    def newest_chunks(self, filters: Filters, limit: int, *, excluded: str = "") -> list[int]:
        """Return the first chunks of the newest documents."""

    # --- scores -----------------------------------------------------------------------------------

    def bm25(self, match: str, chunk_ids: Collection[int]) -> Candidates:
        """Return the scores of the given chunks that match."""

    def cosines(
        self, space_id: int, vector: Vector, chunk_ids: Collection[int]
    ) -> dict[int, float]:
        """Return the cosine of each given chunk that has a vector."""

    def pair_cosines(self, space_id: int, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """Return the cosine of each pair of chunks; None if either has no vector."""

    def vectors_of(self, space_id: int, chunk_ids: Collection[int]) -> list[Vector]:
        """Return the vectors of the given chunks, in any order."""

    # --- texts ------------------------------------------------------------------------------------

    def chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRecord]:
        """Return chunks by id."""

    def chunks_of(
        self, document_id: int, *, fields: bool = True, first: int = ..., limit: int = -1
    ) -> list[ChunkRecord]:
        """Return the chunks of a document in order."""

    def same_texts(self, chunk_ids: Collection[int], texts: Collection[str]) -> list[ChunkRecord]:
        """Return the given chunks that have one of these texts."""

    # --- words ------------------------------------------------------------------------------------

    def count(self, what: str) -> int:
        """Return the number of visible rows of `document` or `chunk`."""

    def count_matches(self, match: str, share: int = 1) -> int:
        """Count the matches of an FTS5 expression, in the newest `1/share` of the chunks."""

    def stems(self, words: Collection[str]) -> dict[str, str]:
        """Return the stem of each word that is one word of the index."""

    def vocabulary(self) -> Words:
        """Return the words of the present state of the index."""

    def own_names(self, match: str, document_ids: Collection[int]) -> set[int]:
        """Return the given documents that match by names that the caller may know."""
