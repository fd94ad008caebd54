"""Resolves links: the documents that links point to, and the links that point to a document.

A link is resolved by exact path, from the root or from the folder of the linking document; then by
the shortest path with this ending; then by alias. It is resolved on each request, so that it cannot
become stale. Names are compared in their `same_form`. A link stays within its source, except a link
to a session id, which is the same in every source.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable

from vault_index.models import Link
from vault_index.query.reader import Reader
from vault_index.store.documents import aliases_of, documents_by_key, links_of
from vault_index.store.records import StoredDocument
from vault_index.store.related import Called, documents_called, links_to
from vault_index.unicode import same_form

_SESSION = re.compile(r"ses_\w+")


def linked_from(reader: Reader, document: StoredDocument, links: Iterable[Link]) -> set[int]:
    """Return the ids of the documents that `links` in `document` point to."""
    found = link_targets(reader, document, links).values()
    return {document_id for document_id in found if document_id is not None}


def link_targets(
    reader: Reader, document: StoredDocument, links: Iterable[Link]
) -> dict[str, int | None]:
    """Return the document that each target of `links` in `document` points to, None if missing."""
    targets = {link.target for link in links if link.target}
    named = _LinkTargets(reader, targets)
    return {target: named.resolve(target, (document.source,), document.path) for target in targets}


def linking_to(reader: Reader, document: StoredDocument) -> set[int]:
    """Return the ids of the documents with a link to `document`."""
    file = same_form(document.path.rpartition("/")[2])
    aliases = map(same_form, aliases_of(reader, document.id))
    links = [
        link
        for link in links_to(reader, {file, _stem(file), *aliases})
        if link.source == document.source or document.kind == "session"
    ]
    named = _LinkTargets(reader, {link.target for link in links})
    return {
        link.document_id
        for link in links
        if named.resolve(link.target, (link.source,), link.path) == document.id
    }


def links_around(
    reader: Reader, document: StoredDocument, most: int
) -> tuple[list[StoredDocument], set[tuple[int, int]]]:
    """Return up to `most` documents within two links of one, nearest first, and their links."""
    found, ring, edges = {document.id: document}, [document], set[tuple[int, int]]()
    for _ in range(2):
        around = set[int]()
        for one in ring:
            to, back = linked_from(reader, one, links_of(reader, one.id)), linking_to(reader, one)
            edges |= {(one.id, other) for other in to} | {(other, one.id) for other in back}
            around |= to | back
        new = documents_by_key(reader, sorted(around - found.keys())[: most - len(found)])
        ring = list(new.values())
        found |= new
    return list(found.values()), {(a, b) for a, b in edges if a != b and {a, b} <= found.keys()}


def linked(reader: Reader, target: str, sources: Collection[str]) -> StoredDocument | None:
    """Return the document that a link in the root of one of the sources points to.

    Without `sources`, all sources are searched.
    """
    document_id = _LinkTargets(reader, {target}).resolve(target, sources, "")
    return None if document_id is None else documents_by_key(reader, [document_id])[document_id]


class _LinkTargets:
    """Documents that may be targets of some links, by name and alias."""

    def __init__(self, reader: Reader, targets: Collection[str]) -> None:
        ends = {same_form(target.rpartition("/")[2]) for target in targets}
        names = {*ends, *map(_stem, ends), *map(same_form, targets)}
        self._called: dict[str, list[Called]] = defaultdict(list)
        for called in documents_called(reader, names):
            self._called[called.alias or same_form(_stem(called.path.rpartition("/")[2]))].append(
                called
            )

    def resolve(self, target: str, sources: Collection[str], path: str) -> int | None:
        """Return the document that `target` points to in a document with this `path`.

        Without `sources`, all sources are searched.
        """
        wanted = same_form(target).lstrip("/")
        from_here = posixpath.normpath(posixpath.join(posixpath.dirname(same_form(path)), wanted))
        end = wanted.rpartition("/")[2]
        anywhere = not sources or _SESSION.fullmatch(_stem(end))
        ranked = [
            (
                rank,
                target.casefold() not in called.path.casefold(),
                len(called.path),
                called.source,
                called.path,
                called.document_id,
            )
            for name in {end, _stem(end), wanted}
            for called in self._called.get(name, ())
            if (anywhere or called.source in sources)
            and (rank := _rank(called, wanted, from_here)) is not None
        ]
        return min(ranked)[-1] if ranked else None


def _rank(called: Called, wanted: str, from_here: str) -> int | None:
    """Return how well a document matches a target, 0 is best; None if it does not match."""
    if called.alias is not None:
        return 3 if called.alias == wanted else None
    path = same_form(called.path)
    spelled = (path, _stem(path))
    if wanted in spelled:
        return 0
    if from_here in spelled:
        return 1
    return 2 if any(spelling.endswith(f"/{wanted}") for spelling in spelled) else None


def _stem(path: str) -> str:
    """Return the path without the extension of its file name."""
    folder, slash, name = path.rpartition("/")
    return folder + slash + (name.rpartition(".")[0] or name)
