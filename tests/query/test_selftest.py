"""Queries made from names of notes, and the report on their answers."""

from vault_index.query.selftest import KnownItem, known_items, self_test
from vault_index.results.status import HardToFind, RecallOfClass
from vault_index.store.document_names import DocumentNames


def note(path: str, title: str, **names: tuple[str, ...]) -> DocumentNames:
    return DocumentNames(path, title, names.get("aliases", ()), names.get("links", ()), names.get("headings", ()))


def test_known_items_have_each_name_once_in_its_first_class() -> None:
    documents = [
        note("a.md", "Compost", aliases=("compost heap", "COMPOST"), links=("the heap",), headings=("Compost", "Bays")),
        note("b.md", "Heat", headings=("The heap", "Bays")),
    ]
    assert known_items(documents) == [
        KnownItem("Compost", "title", "a.md", frozenset({"a.md"})),
        KnownItem("Heat", "title", "b.md", frozenset({"b.md"})),
        KnownItem("compost heap", "alias", "a.md", frozenset({"a.md"})),
        KnownItem("the heap", "link", "a.md", frozenset({"a.md", "b.md"})),
        KnownItem("Bays", "heading", known_items(documents)[-1].path, frozenset({"a.md", "b.md"})),
    ]


def test_self_test_accepts_any_note_of_a_shared_name() -> None:
    documents = [note("garden/Compost.md", "Compost"), note("reading/Compost.md", "Reading", aliases=("compost",))]
    asked: list[str] = []

    def search(query: str) -> list[tuple[str, ...]]:
        asked.append(query)
        return [("reading/Compost.md",)]

    report = self_test(documents, search)
    assert sorted(asked) == ["Compost", "Reading"]
    assert report.recall_5 == 1.0


def test_self_test_names_hard_notes_with_their_rank() -> None:
    documents = [note("a.md", "Alpha", aliases=("First",)), note("b.md", "Beta"), note("c.md", "Gamma")]
    others = [(f"{number}.md",) for number in range(30)]
    hits: dict[str, list[tuple[str, ...]]] = {
        "Alpha": [("x.md", "a.md")],  # the same text in another file
        "First": [*others[:5], ("a.md",)],
        "Beta": [*others[:4], ("b.md",)],
        "Gamma": [*others, ("c.md",)],
    }
    report = self_test(documents, hits.__getitem__)
    assert (report.documents, report.queries, report.recall_5) == (3, 4, 0.5)
    assert report.classes == (RecallOfClass("title", 3, 0.6667), RecallOfClass("alias", 1, 0.0))
    assert report.hard == (HardToFind("Gamma", "title", "c.md", None), HardToFind("First", "alias", "a.md", 6))
