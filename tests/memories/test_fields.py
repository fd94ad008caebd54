from datetime import date, datetime
from typing import Any

import pytest

from tests.tables import tables
from vault_index.errors import UsageError
from vault_index.memories.file.document import CONFIDENCES, TYPES, read_fields

CASES = tables(__file__)

NOW = datetime(2026, 11, 21, 13, 5).astimezone()


def read(**given: Any) -> dict[str, Any]:
    return read_fields(given, now=NOW)


@pytest.mark.parametrize(("given", "tags"), CASES["fields_normalize_tags"])
def test_fields_normalize_tags(given: Any, tags: list[str]) -> None:
    assert [*read(tags=given)["tags"]] == tags


def test_fields_split_facts_at_lines_not_at_commas() -> None:
    facts = ("WAL, not rollback", "readers never block")
    assert read(facts="- WAL, not rollback\r\n\n* readers  never block\n")["facts"] == facts
    assert read(facts=list(facts))["facts"] == facts


def test_fields_accept_dates_in_words() -> None:
    assert read(expires="in 3 months", valid_until=date(2027, 1, 2)) == {
        "expires": "2027-02-21",
        "valid_until": "2027-01-02",
    }
    assert read(expires="today")["expires"] == "2026-11-21"


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        *CASES["fields_name_bad_input_with_a_hint"],
        ({"type": "rule"}, "'rule' is not a valid type", ", ".join(TYPES)),
        ({"confidence": "sure"}, "'sure' is not a valid confidence", ", ".join(CONFIDENCES)),
    ],
)
def test_fields_name_bad_input_with_a_hint(given: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        read(**given)
    assert hint in raised.value.hint
