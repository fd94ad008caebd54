from hypothesis import given, strategies as st

from vault_index.indexer.reading import diff
from vault_index.models import DocumentRef, FileStamp
from vault_index.store.writer import KnownDocument

_STAMPS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 2))


@given(_STAMPS, _STAMPS, st.sampled_from(["now", "before"]))
def test_a_plan_names_every_path_once(disk: dict[str, int], index: dict[str, int], made_with: str) -> None:
    refs = [DocumentRef("vault", path, FileStamp(size, 0, 0)) for path, size in sorted(disk.items())]
    known = {
        path: KnownDocument(number, path, FileStamp(size, 0, 0), b"", made_with)
        for number, (path, size) in enumerate(index.items())
    }
    plan = diff(refs, known, "now")
    assert {ref.path for ref in plan.added} == disk.keys() - index.keys()
    assert {row.path for row in plan.removed} == index.keys() - disk.keys()
    assert all(ref.path == row.path for ref, row in plan.changed)
    stale = {path for path in disk.keys() & index.keys() if disk[path] != index[path] or made_with != "now"}
    assert {ref.path for ref, _ in plan.changed} == stale
    assert plan.unchanged == len(disk.keys() & index.keys()) - len(stale)
