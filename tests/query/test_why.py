"""`why` names each reason that hides a passage, and agrees with `search`."""

from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from tests.tables import tables
from vault_index import VaultIndex
from vault_index.api import dispatch
from vault_index.errors import NotFoundError
from vault_index.results.search import Why

CASES = tables(__file__)

SECTIONS = "\n\n".join(f"## Section {number}\n\nThe heron number {number}." for number in range(6))
NOTES = {
    "birds.md": f"# Birds\n\n{SECTIONS}\n",
    "lake.md": "---\ntags: [water]\ncreated: 2026-03-01\n---\n# Lake\n\nA heron stands in the lake.\n\nBoats, too.\n",
    "copy.md": "A kingfisher waits.\n",
    "original.md": "A kingfisher waits.\n",
    "pond.md": "---\ncreated: 2026-05-01\n---\nA frog and a toad.\n",
    "80-memory/expired.md": "---\nexpires: 2026-01-01\n---\nThe heron left.\n",
    "80-memory/replaced.md": "---\nsuperseded_by: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\n---\nThe heron came.\n",
    ".vaultignore": "drafts/\n",
    "drafts/heron.md": "A heron, perhaps.\n",
    "picture.txt": "No markdown.\n",
}


def codes(answer: Why) -> list[str]:
    return [reason.code for reason in answer.reasons]


def test_why_finds_every_hit_with_its_number_and_score(index: VaultIndex) -> None:
    hits = index.search("heron lake", explain=True).results
    assert len(hits) > 3
    for number, hit in enumerate(hits, start=1):
        answer = index.why("heron lake", f"{hit.path}:{hit.focus[0]}")
        assert (answer.found, answer.rank, codes(answer)) == (True, number, ["found"])
        assert answer.hit is not None
        assert (answer.hit.score, answer.hit.explain) == (hit.score, hit.explain)


def test_why_numbers_a_hit_beyond_the_limit(index: VaultIndex) -> None:
    second = index.search("heron lake", limit=2).results[1]
    answer = index.why("heron lake", f"{second.path}:{second.focus[0]}", limit=1)
    assert (answer.found, answer.rank, codes(answer)) == (False, 2, ["beyond_limit"])


def test_why_names_other_passages_that_fill_the_places_of_a_document(index: VaultIndex) -> None:
    shown = {hit.focus[0] for hit in index.search("heron number").results if hit.path == "birds.md"}
    assert len(shown) == 3
    hidden = next(line for line in range(5, 26, 4) if line not in shown)
    answer = index.why("heron number", f"birds.md:{hidden}")
    assert (answer.rank, codes(answer)) == (None, ["per_document"])
    assert index.why("heron number", f"birds.md:{hidden}", per_document=6).found


def test_why_names_the_hit_with_the_same_text(index: VaultIndex) -> None:
    (hit,) = index.search("kingfisher").results
    answer = index.why("kingfisher", hit.also[0])
    assert (answer.found, codes(answer)) == (False, ["same_text"])
    assert hit.path in answer.reasons[0].message


@pytest.mark.parametrize(("query", "path", "expected"), CASES["why_names_every_reason_hiding_a_passage"])
def test_why_names_every_reason_hiding_a_passage(index: VaultIndex, query: str, path: str, expected: list[str]) -> None:
    answer = index.why(query, path, mode="text")
    assert (answer.found, answer.rank, answer.hit) == (False, None, None)
    assert codes(answer) == expected


def test_why_names_the_missing_filter_or_word(index: VaultIndex) -> None:
    answer = index.why("heron tag:water OR tag:air [status:done] after:2026-04-01", "lake.md", kind="memory")
    assert [reason.message.removeprefix("It does not match ").removesuffix(".") for reason in answer.reasons] == [
        "kind:memory", "[status:done]", "after:2026-04-01",
    ]  # fmt: skip
    answer = index.why("heron toad lake", "lake.md", match="all")
    assert [reason.message for reason in answer.reasons] == ["It does not contain toad, which is required."]


def test_why_finds_expired_and_superseded_memories_on_request(index: VaultIndex) -> None:
    assert index.why("heron", "80-memory/expired.md", include_expired=True).rank is not None
    assert index.why("heron", "80-memory/expired.md", as_of="2020-01-01").reasons[0].code == "created_later"
    assert index.why("heron", "80-memory/replaced.md", include_superseded=True).rank is not None


def test_why_of_an_unindexed_file_names_the_command_that_explains_it(index: VaultIndex) -> None:
    with pytest.raises(NotFoundError) as caught:
        index.why("heron", "drafts/heron.md:1")
    assert caught.value.hint.endswith("vault-index status drafts/heron.md:1")


def test_why_names_missing_or_distant_vectors(tmp_path: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        birds = {f"birds/{number}.md": f"The heron number {number} eats fish.\n" for number in range(70)}
        write(tmp_path / "vault", {**birds, "tax.md": "The form for income is due in May.\n"})
        index.sync()
        answer = index.why("heron", "tax.md")
        assert codes(answer) == ["no_word", "far"]
        write(tmp_path / "vault", {"new.md": "Invoices of the last quarter.\n"})
        index.sync(embed=False)
        assert codes(index.why("heron", "new.md")) == ["no_word", "pending"]


def test_search_explains_only_on_request(index: VaultIndex) -> None:
    plain = dispatch(index, "search", {"query": "hern tag:water -toad"})
    assert "reading" not in plain
    assert "explain" not in plain["results"][0]
    explained = dispatch(index, "search", {"query": "hern tag:water -toad", "explain": True})
    (word,) = explained["reading"]["words"]
    assert (word["text"], word["meant"]) == ("hern", ["heron"])
    assert word["texts"] >= 7
    assert (explained["reading"]["excluded"], explained["reading"]["filters"]) == ("toad", ["tag:water"])
    assert explained["results"][0]["explain"]["channels"]["text"]["rank"] == 1


def test_score_is_the_sum_of_its_parts_times_its_factors(index: VaultIndex) -> None:
    for mode in ("hybrid", "text"):
        for hit in index.search("heron lake", mode=mode, explain=True).results:
            assert hit.explain is not None
            score = sum(hit.explain.parts.values())
            for factor in hit.explain.factors.values():
                score *= factor
            assert hit.score == pytest.approx(min(score, 1.0), abs=0.001)
