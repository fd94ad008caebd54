"""What a sync has to do: the difference of two lists, what is on disk and what the index remembers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vault_index.models import DocumentRef
from vault_index.store.writer import KnownDocument


@dataclass(frozen=True, slots=True)
class Plan:
    """`changed` pairs a file with the row it had; a removed row may yet turn out to have moved to an added file."""

    added: tuple[DocumentRef, ...]
    changed: tuple[tuple[DocumentRef, KnownDocument], ...]
    removed: tuple[KnownDocument, ...]
    unchanged: int


def diff(refs: Iterable[DocumentRef], known: Mapping[str, KnownDocument], made_with: str) -> Plan:
    """Compare by path and stamp; a row made with other settings counts as changed."""
    added: list[DocumentRef] = []
    changed: list[tuple[DocumentRef, KnownDocument]] = []
    unchanged = 0
    gone = dict(known)
    for ref in refs:
        row = gone.pop(ref.path, None)
        if row is None:
            added.append(ref)
        elif row.stamp != ref.stamp or row.made_with != made_with:
            changed.append((ref, row))
        else:
            unchanged += 1
    return Plan(tuple(added), tuple(changed), tuple(gone.values()), unchanged)
