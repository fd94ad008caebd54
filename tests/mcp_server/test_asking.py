"""The server asks the user before a delete if the client can; without consent it deletes nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import MCPError, types

from tests.mcp_server.sessions import NEW, OLD, Session, session
from vault_index.config import Home

Says = types.ElicitResult | types.ErrorData


class User:
    """Answers every question as a test sets it, and keeps the questions."""

    def __init__(self) -> None:
        self.says: Says = types.ElicitResult(action="accept")
        self.questions: list[str] = []

    def __call__(self, question: str) -> Says:
        self.questions.append(question)
        return self.says


@pytest.fixture(scope="module", params=[OLD, NEW])
def asking(home: Home, request: pytest.FixtureRequest) -> Iterator[tuple[Session, User]]:
    user = User()
    with session(home.data_dir, era=request.param, user=user) as client:
        yield client, user


def stored(client: Session, vault: Path, text: str, path: str | None = None) -> tuple[str, Path]:
    done = client.call("memory_store", content=text, title=text[:9], path=path)
    return done["id"], vault / done["path"]


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (types.ElicitResult(action="decline"), "the user did not agree: nothing was deleted"),
        (types.ElicitResult(action="cancel"), "the user did not agree: nothing was deleted"),
        (types.ErrorData(code=-32603, message="no window"), "nothing was deleted"),
    ],
    ids=["decline", "cancel", "a client that fails to ask"],
)
def test_memory_delete_obeys_a_refusal(asking: tuple[Session, User], vault: Path, says: Says, told: str) -> None:
    client, user = asking
    user.questions.clear()
    user.says = says
    ident, file = stored(client, vault, f"Buoy {client.version} is green: {told}.", "inbox/buoy")
    before = file.read_bytes()
    for tool, given in (
        ("memory_delete", {"ref": ident}),
        ("memory-delete", {"ids": f"[{ident!r}]", "permanent": "true"}),
        ("memory_review", {"action": "delete", "ref": [ident]}),
    ):
        if isinstance(says, types.ErrorData) and client.version == NEW:  # the SDK's client raises it itself
            with pytest.raises(MCPError):
                client.call(tool, **given)
        else:
            assert told in client.error(tool, **given)
        assert file.read_bytes() == before
    assert len(user.questions) == 3
    assert all("Buoy" in question and file.name in question for question in user.questions)
    assert ["cannot be undone" in question for question in user.questions] == [False, True, False]
    user.says = types.ElicitResult(action="accept")
    client.call("memory_delete", ref=ident)


def test_memory_delete_deletes_after_the_user_agrees(asking: tuple[Session, User], vault: Path) -> None:
    client, user = asking
    user.questions.clear()
    user.says = types.ElicitResult(action="accept")
    made = [stored(client, vault, f"Lock {number} of {client.version} is shut.") for number in range(2)]
    done = client.call("memory_delete", ref=[ident for ident, _ in made] + ["no such\n- memory " + "x" * 500])
    assert [one["id"] for one in done["results"]] == [ident for ident, _ in made]
    assert not any(file.exists() for _, file in made)
    ident, file = stored(client, vault, f"Sluice of {client.version} is open.", "inbox/sluice")
    client.call("memory_review", action="delete", ref=ident)
    assert not file.exists()
    client.call("memory_list")
    client.call("memory_review")
    assert "is missing" in client.error("memory_delete")
    assert [question.count("\n- ") for question in user.questions] == [3, 1]
    assert "\n- no such - memory xx" in user.questions[0]
    assert max(map(len, user.questions)) < 500
    assert "to the trash" in user.questions[0]
    assert "forgotten for good" in user.questions[1]


def test_memory_delete_needs_no_answer_from_a_client_that_cannot_ask(each: Session, vault: Path) -> None:
    ident, file = stored(each, vault, f"The jetty of {each.version} is new.")
    each.call("memory_delete", ref=ident)
    assert not file.exists()
