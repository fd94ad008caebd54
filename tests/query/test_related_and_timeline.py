"""`related` and `timeline` of a real index."""

from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from vault_index import VaultIndex
from vault_index.api import dispatch
from vault_index.errors import NotFoundError, UsageError
from vault_index.results.documents import DocumentRecord, RelatedList

BREAD = "Knead flour, water and salt, let the dough rise, and bake the loaf in a hot oven."
LOG = "The database writes every change to a log before the table, so readers never wait for a writer."
NOTES = {
    "bread.md": f"---\ncreated: 2026-01-03\n---\n# Bread\n\n{BREAD} See [[starter]].\n\n"
    f"## Notes\n\nOf quite another thing, see [[wal]]: {LOG}\n",
    "starter.md": "---\ncreated: 2026-01-04\n---\n# Starter\n\nFeed flour and water to the sourdough. For [[bread]].\n",
    "pizza.md": "---\ncreated: 2026-01-04\ntags: [food]\n---\n# Pizza\n\nDough of flour, salt and water, baked hot.\n",
    "wal.md": f"---\ncreated: 2026-01-05\n---\n# Write-ahead log\n\n{LOG}\n",
    "index.md": "---\ncreated: 2026-01-01\n---\n# Index\n\n[[bread]], [[bread|again]], [[Bread#Notes]]\n",
    "blank.md": "",
    "80-memory/old.md": f"---\ncreated: 2026-01-02\nexpires: 2026-01-10\n---\n# Old bread\n\n{BREAD} [[bread]]\n",
    "80-memory/replaced.md": "---\ncreated: 2026-01-02\nsuperseded_by: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\n---\n"
    f"# Replaced bread\n\n{BREAD} [[bread]]\n",
    "80-memory/kept.md": "---\ncreated: 2026-01-06\nexpires: 2999-01-01\ntype: learning\nproject: kitchen\n---\n"
    "# Rye\n\nA dough of rye rises more slowly than one of wheat flour.\n",
}


PROVIDER = "local"


def why(answer: RelatedList) -> dict[str, tuple[str, ...]]:
    return {record.path: tuple(relation for relation in record.relations) for record in answer.results}


def paths(*groups: tuple[DocumentRecord, ...]) -> list[list[str]]:
    return [[record.path for record in group] for group in groups]


def test_related_lists_mutual_links_then_one_way_links_then_similar(index: VaultIndex) -> None:
    answer = index.related("bread")
    assert answer.anchor.path == "bread.md"
    assert [path for path in why(answer) if path != "80-memory/kept.md"] == [
        "starter.md", "wal.md", "index.md", "pizza.md",
    ]  # fmt: skip
    assert why(answer)["starter.md"] == ("link", "backlink", "near")
    assert why(answer)["wal.md"][0] == "link"
    assert why(answer)["index.md"][0] == "backlink"
    assert why(answer)["pizza.md"] == ("near",)
    assert answer.total == len(answer.results)
    assert answer.degraded == ()


def test_related_lists_equal_relations_by_nearness(index: VaultIndex) -> None:
    cosines = {record.path: record.cosine or 0.0 for record in index.related("pizza").results}
    assert list(cosines.values()) == sorted(cosines.values(), reverse=True)
    assert "wal.md" not in cosines
    assert all(0.3 <= cosine <= 1.0 for cosine in cosines.values())
    assert index.related("blank.md").results == ()


def test_related_omits_the_anchor_and_expired_memories(index: VaultIndex) -> None:
    named = why(index.related("bread", limit=50))
    assert "80-memory/kept.md" in named
    assert not named.keys() & {"bread.md", "80-memory/old.md", "80-memory/replaced.md"}
    assert "bread.md" in why(index.related("80-memory/old.md"))  # an expired memory may be the anchor


def test_related_of_a_section_counts_only_that_section(index: VaultIndex) -> None:
    part = index.related("[[bread#Notes]]")
    assert next(iter(why(part))) == "wal.md"
    assert "pizza.md" not in why(part)
    assert why(part)["starter.md"][0] == "backlink"
    lines = index.related("bread.md:9-10")
    assert why(lines) == why(part)
    assert "wal.md" in why(index.related("bread.md:1"))  # frontmatter is not a section: the whole note counts


def test_related_filters_apply_to_the_results(index: VaultIndex) -> None:
    assert paths(index.related("bread", kind="memory").results) == [["80-memory/kept.md"]]
    assert paths(index.related("bread", project="kitchen").results) == [["80-memory/kept.md"]]
    assert paths(index.related("bread", tags="food").results) == [["pizza.md"]]
    assert index.related("bread", type="decision").total == 0


def test_related_without_vectors_lists_links(tmp_path: Path) -> None:
    write(tmp_path / "vault", NOTES)
    with opened(tmp_path) as index:
        index.sync()
        answer = index.related("bread")
    assert answer.degraded == ("vector: there are no vectors",)
    assert why(answer) == {"starter.md": ("link", "backlink"), "index.md": ("backlink",), "wal.md": ("link",)}
    assert {record.cosine for record in answer.results} == {None}


def test_timeline_is_chronological_and_bounded_without_expired_memories(index: VaultIndex) -> None:
    answer = index.timeline("starter", kind=["note", "memory"])
    assert answer.anchor.path == "starter.md"
    # pizza.md is of the same day, and before it in the alphabet
    assert paths(answer.before, answer.after)[0] == ["index.md", "bread.md", "pizza.md"]
    assert paths(answer.after)[0][:2] == ["wal.md", "80-memory/kept.md"]
    bounded = index.timeline("starter", depth_before=2, depth_after=1)
    assert paths(bounded.before, bounded.after) == [["bread.md", "pizza.md"], ["wal.md"]]
    assert index.timeline("starter", depth_after=0).after == ()


def test_timeline_takes_the_best_hit_of_a_query_or_a_reference(index: VaultIndex) -> None:
    assert index.timeline(query="write-ahead log").anchor.path == "wal.md"
    assert "weak hit" in index.timeline(query="xyzzyplugh", source="vault").hints[0]
    with pytest.raises(NotFoundError, match="no hit for 'bread tag:none'"):
        index.timeline(query="bread tag:none", source="vault")
    for ask in (index.related, index.timeline):
        with pytest.raises(NotFoundError):
            ask("nothing")


@pytest.mark.parametrize("arguments", [{}, {"ref": "bread", "query": "bread"}])
def test_timeline_needs_exactly_one_anchor(index: VaultIndex, arguments: dict[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        dispatch(index, "timeline", arguments)
    assert "--query" in caught.value.hint
