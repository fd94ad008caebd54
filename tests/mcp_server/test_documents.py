"""Prompts, and documents as resources, in both eras."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client, MCPError, types

from tests.mcp_server.sessions import NEW, OLD, Session, session
from vault_index.config import Home
from vault_index.mcp_server import resources


@pytest.fixture(scope="module", params=[OLD, NEW])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def client(home: Home, era: str) -> Iterator[Session]:
    with session(home.data_dir, era=era) as opened:
        yield opened


def prompted(client: Session, name: str, **given: str) -> str:
    [message] = client.does(lambda sdk: sdk.get_prompt(name, given)).messages
    assert (message.role, isinstance(message.content, types.TextContent)) == ("user", True)
    return message.content.text if isinstance(message.content, types.TextContent) else ""


def refused(client: Session, uri: str) -> MCPError:
    with pytest.raises(MCPError) as raised:
        client.does(lambda sdk: sdk.read_resource(uri))
    return raised.value


def read(client: Session, uri: str) -> str:
    [content] = client.does(lambda sdk: sdk.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    assert (content.uri, content.mime_type) == (uri, "text/markdown")
    return content.text


def test_prompts_are_listed_with_their_arguments(client: Session, home: Home, era: str) -> None:
    listed = client.does(Client.list_prompts).prompts
    told = {one.name: [argument.name for argument in one.arguments or ()] for one in listed}
    assert told == {"recall": ["task", "project"], "remember": ["fact", "project"]}
    with session(home.data_dir, "--read-only", era=era) as reader:
        assert [one.name for one in reader.does(Client.list_prompts).prompts] == ["recall"]
        with pytest.raises(MCPError, match="no prompt 'remember'"):
            prompted(reader, "remember")


def test_a_task_begins_with_what_is_remembered(client: Session) -> None:
    text = prompted(client, "recall", task="what is the queue called")
    assert "My task: what is the queue called" in text
    assert "> It is called Tidewater." in text
    assert "My memory holds nothing" in prompted(client, "recall", task="zzyzx", project="nowhere")


def test_what_is_to_be_remembered_is_told(client: Session) -> None:
    text = prompted(client, "remember", fact="the tide turns at six", project="harbour")
    assert "Remember this: the tide turns at six" in text
    assert "The project is harbour." in text
    assert "decisions and their reasons" in prompted(client, "remember")
    assert "memory_store" in text


def test_an_unknown_prompt_is_refused(client: Session) -> None:
    with pytest.raises(MCPError, match="there is no prompt 'forget'") as raised:
        prompted(client, "forget")
    assert raised.value.error.code == types.INVALID_PARAMS


def test_memories_are_listed_page_by_page_and_read(
    client: Session, home: Home, vault: Path, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [client.call("memory_store", content=f"Berth {n} of {era} is free.") for n in range(resources._PAGE)]
    uris: list[str] = []
    cursor = None
    while True:
        page = client.does(lambda sdk, at=cursor: sdk.list_resources(cursor=at))  # type: ignore[misc]
        uris += [one.uri for one in page.resources]
        assert len(page.resources) <= resources._PAGE
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(uris) == len(set(uris)) > resources._PAGE
    assert {f"vault-index://vault/{one['path']}" for one in made} < set(uris)
    assert not [uri for uri in uris if "harbour.md" in uri]  # a note
    assert "is free." in read(client, f"vault-index://vault/{made[0]['path']}")
    client.call("memory_delete", ref=[one["id"] for one in made])
    with pytest.raises(MCPError, match="cursor"):
        client.does(lambda sdk: sdk.list_resources(cursor="next"))


def test_every_document_is_read_by_the_template(client: Session, vault: Path) -> None:
    [template] = client.does(Client.list_resource_templates).resource_templates
    assert template.uri_template == "vault-index://{source}/{+path}"
    assert read(client, "vault-index://vault/harbour.md") == (vault / "harbour.md").read_text("utf-8")
    assert read(client, "vault-index://vault/wide.md") == (vault / "wide.md").read_text("utf-8")


def test_a_name_with_other_letters_is_read(client: Session, vault: Path, home: Home, era: str) -> None:
    stored = client.call("memory_store", content=f"Tide {era}.", path=f"Häfen und Co/50 % {era}")
    uris = [one.uri for one in client.does(Client.list_resources).resources]
    [uri] = [uri for uri in uris if "H%C3%A4fen%20und%20Co/50%20%25" in uri]
    assert f"Tide {era}." in read(client, uri)
    client.call("memory_delete", ref=stored["id"])


@pytest.mark.parametrize(
    "uri",
    [
        "vault-index://vault/../../etc/passwd",
        "vault-index://vault/..%2F..%2Fetc%2Fpasswd",
        "vault-index://vault//etc/passwd",
        "vault-index://vault/.obsidian/app.json",
        "vault-index://vault/nothing.md",
        "vault-index://vault/%00",
        "vault-index://vault/%FF",
        "vault-index://elsewhere/harbour.md",
        "vault-index://vault/7d1c2a90",
        "vault-index://vault/[[Harbour]]",
        "vault-index://vault/harbour.md:1-3",
        "vault-index://vault/harbour.md?x",
        "vault-index://vault",
        "file:///etc/passwd",
        "harbour.md",
        "",
    ],
)
def test_what_is_no_document_is_not_found(client: Session, uri: str) -> None:
    told = refused(client, uri).error
    assert (told.code, told.message.startswith("there is no resource")) == (types.INVALID_PARAMS, True)


@pytest.mark.parametrize(
    ("name", "begun", "values"),
    [
        ("path", "har", ["harbour.md"]),
        ("path", "daily/2026-03-0", 9),
        ("source", "", ["vault"]),
        ("source", "x", []),
        ("colour", "", []),
    ],
)
def test_what_is_begun_is_completed(client: Session, name: str, begun: str, values: list[str] | int) -> None:
    ref = types.ResourceTemplateReference(uri="vault-index://{source}/{+path}")
    told = client.does(lambda sdk: sdk.complete(ref, {"name": name, "value": begun})).completion.values
    assert (len(told) if isinstance(values, int) else told) == values
