"""Measures how well search finds notes by their names.

Known-item search: a user who half remembers a note searches for its title, an alias, the text of a
link to it, or a heading.
"""

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import chain

from vault_index.query.language.tree import only_words
from vault_index.results.status import HardToFind, RecallOfClass, RecallReport
from vault_index.store.document_names import DocumentNames

Search = Callable[[str], Sequence[Collection[str]]]
"""Returns for each hit the paths that it represents, best hit first; at most `DEPTH` hits are
used."""

DEPTH = 20
_FIRST = 5
_DOCUMENTS = 200
_NAMES_EACH = 3  # maximum of aliases, link texts and headings, each, of one document
_CLASSES = ("title", "alias", "link", "heading")


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A query, and the documents with this name, each of which is a right answer."""

    query: str
    named_by: str
    """`title`, `alias`, `link` or `heading`."""
    path: str
    """The document from which the name was taken."""
    answers: frozenset[str]


def known_items(documents: Sequence[DocumentNames], sample: int = _DOCUMENTS) -> list[KnownItem]:
    """Return distinct queries for a deterministic sample of the documents."""
    answers: defaultdict[str, set[str]] = defaultdict(set)
    for document in documents:
        for name in chain.from_iterable(_names(document).values()):
            answers[plain_words(name).casefold()].add(document.path)
    chosen = sorted(documents, key=lambda document: _digest(document.path))[:sample]
    items: dict[str, KnownItem] = {}
    for named_by in _CLASSES:
        for document in chosen:
            for name in sorted(_names(document)[named_by], key=_digest)[:_NAMES_EACH]:
                query = plain_words(name)
                folded = query.casefold()
                if query and folded not in items:
                    items[folded] = KnownItem(
                        query, named_by, document.path, frozenset(answers[folded])
                    )
    return sorted(
        items.values(), key=lambda item: (_CLASSES.index(item.named_by), item.path, item.query)
    )


def self_test(
    documents: Sequence[DocumentNames], search: Search, sample: int = _DOCUMENTS
) -> RecallReport:
    """Search for documents by their names and return the recall among the first five hits."""
    started = time.perf_counter()
    items = known_items(documents, sample)
    ranks = [(item, _rank(item, search(item.query))) for item in items]
    hard = [(item, rank) for item, rank in ranks if rank is None or rank > _FIRST]
    return RecallReport(
        documents=min(sample, len(documents)),
        queries=len(items),
        recall_5=_recall([rank for _, rank in ranks]),
        classes=tuple(
            RecallOfClass(named_by, len(of_class), _recall(of_class))
            for named_by in _CLASSES
            if (of_class := [rank for item, rank in ranks if item.named_by == named_by])
        ),
        hard=tuple(HardToFind(item.query, item.named_by, item.path, rank) for item, rank in hard),
        seconds=round(time.perf_counter() - started, 2),
    )


def plain_words(name: str) -> str:
    """Return a name without query syntax; empty if no word is left."""
    words = only_words(name)
    return words if any(map(str.isalnum, words)) else ""


def _rank(item: KnownItem, hits: Sequence[Collection[str]]) -> int | None:
    return next(
        (
            rank
            for rank, paths in enumerate(hits[:DEPTH], start=1)
            if item.answers.intersection(paths)
        ),
        None,
    )


def _recall(ranks: Sequence[int | None]) -> float:
    found = sum(rank is not None and rank <= _FIRST for rank in ranks)
    return round(found / len(ranks), 4) if ranks else 0.0


def _names(document: DocumentNames) -> dict[str, tuple[str, ...]]:
    """Return the names of a document by class."""
    names = (document.title,), document.aliases, document.links, document.headings
    return dict(zip(_CLASSES, names, strict=True))


def _digest(text: str) -> bytes:
    """Return a sort key that is independent of the alphabet and equal in every process."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
