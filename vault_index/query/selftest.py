"""A vault tests itself: whether its notes are found by what they are called.

Known-item search: who half remembers a note asks with its title, an alias, the words it is linked with, or a heading.
"""

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from vault_index.query.language.tree import only_words
from vault_index.results.status import HardToFind, RecallOfClass, RecallReport
from vault_index.store.document_names import DocumentNames

Search = Callable[[str], Sequence[Collection[str]]]
"""The paths each hit stands for, best hit first; at most `DEPTH` hits are looked at."""

DEPTH = 20
_FIRST = 5
_DOCUMENTS = 200
_NAMES_EACH = 3  # aliases, link texts and headings of one document, at most
_CLASSES = ("title", "alias", "link", "heading")


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A question, and the documents any of which answers it, because they are called so."""

    query: str
    named_by: str
    """`title`, `alias`, `link` or `heading`."""
    path: str
    """The document whose name it is."""
    answers: frozenset[str]


def known_items(documents: Sequence[DocumentNames], sample: int = _DOCUMENTS) -> list[KnownItem]:
    """Questions for `sample` of the documents, the same ones each time; none is asked twice."""
    called = _called(documents, _CLASSES[:3])
    mentioned = _called(documents, _CLASSES)
    chosen = sorted(documents, key=lambda document: _digest(document.path))[:sample]
    items: dict[str, KnownItem] = {}
    for named_by in _CLASSES:
        alike = mentioned if named_by == "heading" else called
        for document in chosen:
            for query in map(
                plain_words, sorted(_names(document, named_by), key=_digest)[:_NAMES_EACH]
            ):
                folded = query.casefold()
                if query and folded not in items:
                    items[folded] = KnownItem(
                        query, named_by, document.path, frozenset(alike[folded])
                    )
    return sorted(
        items.values(), key=lambda item: (_CLASSES.index(item.named_by), item.path, item.query)
    )


def self_test(
    documents: Sequence[DocumentNames], search: Search, sample: int = _DOCUMENTS
) -> RecallReport:
    """Ask for the documents by their names, and say how often one of the first five hits is the note."""
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
    """A name as somebody would type it who knows nothing of the query language; empty where no word is left."""
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


def _called(
    documents: Iterable[DocumentNames], classes: Iterable[str]
) -> defaultdict[str, set[str]]:
    """The documents each name may mean."""
    paths: defaultdict[str, set[str]] = defaultdict(set)
    for document in documents:
        for named_by in classes:
            for name in _names(document, named_by):
                paths[plain_words(name).casefold()].add(document.path)
    return paths


def _names(document: DocumentNames, named_by: str) -> tuple[str, ...]:
    return {
        "title": (document.title,),
        "alias": document.aliases,
        "link": document.links,
        "heading": document.headings,
    }[named_by]


def _digest(text: str) -> bytes:
    """An order that has nothing to do with the alphabet, and is the same in every process."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
