"""The user is asked before a delete where the client can ask; without their word nothing is deleted."""

from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import types

from tests.mcp_server.sessions import NEW, OLD, Session, session
from vault_index.config import Home

Says = Callable[[str], types.ElicitResult | types.ErrorData]

REFUSALS: dict[str, types.ElicitResult | types.ErrorData] = {
    "decline": types.ElicitResult(action="decline"),
    "cancel": types.ElicitResult(action="cancel"),
}


def stored(client: Session, vault: Path, text: str, path: str | None = None) -> tuple[str, Path]:
    done = client.call("memory_store", content=text, title=text[:9], path=path)
    return done["id"], vault / done["path"]


@pytest.mark.parametrize("era", [OLD, NEW])
@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_deletes_nothing(home: Home, vault: Path, era: str, refusal: str) -> None:
    questions: list[str] = []

    def user(question: str) -> types.ElicitResult | types.ErrorData:
        questions.append(question)
        return REFUSALS[refusal]

    with session(home.data_dir, era=era, user=user) as client:
        ident, file = stored(client, vault, f"Buoy {era} {refusal} is green.", f"inbox/buoy-{era}-{refusal}")
        before = file.read_bytes()
        for tool, given in (
            ("memory_delete", {"ref": ident}),
            ("memory-delete", {"ids": f"[{ident!r}]", "permanent": "true"}),
            ("memory_review", {"action": "Delete", "ref": [ident]}),
        ):
            assert "the user did not agree: nothing was deleted" in client.error(tool, **given)
            assert file.read_bytes() == before
    assert len(questions) == 3
    assert all("Buoy" in question and file.name in question for question in questions)
    assert [("cannot be taken back" in question) for question in questions] == [False, True, False]


@pytest.mark.parametrize("era", [OLD, NEW])
def test_what_the_user_agrees_to_is_deleted(home: Home, vault: Path, era: str) -> None:
    questions: list[str] = []

    def user(question: str) -> types.ElicitResult:
        questions.append(question)
        return types.ElicitResult(action="accept")

    with session(home.data_dir, era=era, user=user) as client:
        made = [stored(client, vault, f"Lock {number} of {era} is shut.") for number in range(2)]
        done = client.call("memory_delete", ref=[ident for ident, _ in made] + ["no such\n- memory " + "x" * 500])
        assert [one["id"] for one in done["results"]] == [ident for ident, _ in made]
        assert not any(file.exists() for _, file in made)
        ident, file = stored(client, vault, f"Sluice of {era} is open.", f"inbox/sluice-{era}")
        client.call("memory_review", action="delete", ref=ident)
        assert not file.exists()
        client.call("memory_list")
        client.call("memory_review")
        assert "is missing" in client.error("memory_delete")
    assert [question.count("\n- ") for question in questions] == [3, 1]
    assert "\n- no such - memory xx" in questions[0]
    assert max(map(len, questions)) < 500
    assert "to the trash" in questions[0]
    assert "forgotten for good" in questions[1]


def test_a_client_that_fails_to_ask_has_nothing_deleted(home: Home, vault: Path) -> None:
    with session(home.data_dir, user=lambda _: types.ErrorData(code=-32603, message="no window")) as client:
        ident, file = stored(client, vault, "The mole is long.")
        assert "nothing was deleted" in client.error("memory_delete", ref=ident)
        assert file.exists()


@pytest.mark.parametrize("era", [OLD, NEW])
def test_a_client_that_cannot_ask_is_served_without(home: Home, vault: Path, era: str) -> None:
    with session(home.data_dir, era=era) as client:
        ident, file = stored(client, vault, f"The jetty of {era} is new.")
        client.call("memory_delete", ref=ident)
        assert not file.exists()
