"""Two indexes of the same files give the same answers, in whatever order their rows were written."""

from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import opened, write
from vault_index import VaultIndex
from vault_index.query.search import Mode

WORDS = [f"{one}{two}" for one in "abcdefghij" for two in "klmnopqrst"]
ALIKE = {f"{word}.md": f"# Note {word}\n\nA heron near {word}.\n" for word in WORDS}
NAMED = {f"{word}/heron.md": f"Nothing of {word}.\n" for word in WORDS[:70]}
COPIES = {f"copy {word}.md": "A heron stands in the lake.\n" for word in WORDS[:70]}
LONG = {"long.md": "# Birds\n\n" + "heron lake. " * 600 + "\n", "after.md": "heron lake. " * 600 + "\n"}


def answer(index: VaultIndex, query: str, **options: Any) -> list[Any]:
    hits = index.search(query, limit=40, **options).results
    return [(hit.path, hit.lines, hit.focus, hit.score, hit.also) for hit in hits]


@pytest.mark.parametrize(
    ("files", "modes", "provider"),
    [
        (ALIKE | LONG, ["text"], "none"),
        (COPIES | NAMED, ["text"], "none"),
        (COPIES, ["vector", "hybrid"], "local"),
    ],
    ids=["alike", "named", "vectors"],
)
def test_search_does_not_depend_on_the_order_of_rows(
    tmp_path: Path, files: dict[str, str], modes: list[Mode], provider: str
) -> None:
    paths = sorted(files)
    orders = [paths], [*([path] for path in reversed(paths[:4])), paths[40:], paths[4:40]]
    found = []
    for number, parts in enumerate(orders):
        (tmp_path / str(number)).mkdir()
        with opened(tmp_path / str(number), provider=provider) as index:
            for part in parts:
                write(tmp_path / str(number) / "vault", {path: files[path] for path in part})
                index.sync(embed=False)
            index.embed()
            queries = ("heron", "heron lake", "herons near the lake")
            found.append([answer(index, query, mode=mode) for query in queries for mode in modes])
    assert found[0] == found[1]
    assert all(found[0])


def test_search_ranks_a_chunk_written_later_by_its_lines(tmp_path: Path) -> None:
    text = "\n\n".join(f"## Part {word}\n\n" + "heron lake. " * 60 for word in WORDS[:12]) + "\n"
    found = []
    for number, before in enumerate([text, text[len(text) // 2 :]]):
        (tmp_path / str(number)).mkdir()
        with opened(tmp_path / str(number)) as index:
            for content in (before, text):
                write(tmp_path / str(number) / "vault", {"n.md": content})
                index.sync()
            found.append(answer(index, "heron", mode="text", per_document=40))
    assert found[0] == found[1]
