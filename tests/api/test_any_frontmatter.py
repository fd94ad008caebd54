"""No frontmatter value makes a command fail."""

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from tests.api.vaults import opened, write

_DATES = [
    "0001-01-01", "9999-12-31", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "1600-02-29", "2027-02-30",
    "[[2018-11-20]]", "2018-11", "20 Nov 2018", "99999999999999999999", "-1", "1e400",
]  # fmt: skip
_VALUES = st.one_of(
    st.sampled_from(
        [*_DATES, "~", "yes", ".inf", "[[]]", "{}", "[1, [2, [x]]]", "!!binary aGk=", "'", '"\\ud800"', "@x"]
    ),
    st.text(max_size=20),
)
_KEYS = st.sampled_from(
    ["created", "Updated", "date", "expires", "valid_until", "archived", "title", "tags", "aliases", "id", "type",
     "project", "superseded_by", "supersedes", "facts", "confidence", "status", "session", "directory"]
)  # fmt: skip


@settings(max_examples=30)
@given(st.lists(st.lists(st.tuples(_KEYS, _VALUES), max_size=5), min_size=1, max_size=3))
def test_frontmatter_values_never_make_a_method_fail(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[tuple[str, str]]]
) -> None:
    folder: Path = tmp_path_factory.mktemp("vault")
    texts = ["---\n" + "".join(f"{key}: {value}\n" for key, value in lines) + "---\nPapaya.\n" for lines in files]
    with opened(folder) as index:
        write(folder / "vault", {f"80-memory/note/{number}.md": text for number, text in enumerate(texts)})
        write(folder / "vault", {f"{number}.md": text for number, text in enumerate(texts)})
        report = index.sync()
        assert not [one.message for one in report.problems if "defect" in one.message]
        found = index.search("papaya", all=True)
        for hit in found.results:
            index.get(hit.id, full=True)
            index.related(hit.id)
            index.timeline(hit.id)
        for sort in ("created", "updated", "expires"):
            index.list(sort=sort)
        index.review()
        index.recall("papaya")
        index.stats()
        index.prune(dry_run=True)
