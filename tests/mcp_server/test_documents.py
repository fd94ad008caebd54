"""Prompts, and documents as resources."""

from pathlib import Path

import pytest
from mcp import Client, MCPError, types

from tests.mcp_server.sessions import Session
from vault_index.mcp_server import resources


def prompted(client: Session, name: str, **given: str) -> str:
    [message] = client.does(lambda sdk: sdk.get_prompt(name, given)).messages
    assert (message.role, isinstance(message.content, types.TextContent)) == ("user", True)
    return message.content.text if isinstance(message.content, types.TextContent) else ""


def read(client: Session, uri: str) -> str:
    [content] = client.does(lambda sdk: sdk.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    assert (content.uri, content.mime_type) == (uri, "text/markdown")
    return content.text


def test_prompts_are_listed_and_recall_begins_a_task_with_memories(each: Session) -> None:
    listed = each.does(Client.list_prompts).prompts
    told = {one.name: [argument.name for argument in one.arguments or ()] for one in listed}
    assert told == {"recall": ["task", "project"], "remember": ["fact", "project"]}
    text = prompted(each, "recall", task="what is the queue called")
    assert "My task: what is the queue called" in text
    assert "> It is called Tidewater." in text
    assert "My memory has nothing" in prompted(each, "recall", task="zzyzx", project="nowhere")
    with pytest.raises(MCPError, match="there is no prompt 'forget'") as raised:
        prompted(each, "forget")
    assert raised.value.error.code == types.INVALID_PARAMS


def test_prompt_remember_contains_fact_project_and_tool(client: Session) -> None:
    text = prompted(client, "remember", fact="the tide turns at six", project="harbour")
    assert "Remember this: the tide turns at six" in text
    assert "The project is harbour." in text
    assert "decisions and their reasons" in prompted(client, "remember")
    assert "memory_store" in text


def test_resources_list_memories_by_page_and_read_them(client: Session) -> None:
    made = [client.call("memory_store", content=f"Berth {n} is free.") for n in range(resources._PAGE)]
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


def test_resources_template_reads_every_document(each: Session, vault: Path) -> None:
    [template] = each.does(Client.list_resource_templates).resource_templates
    assert template.uri_template == "vault-index://{source}/{+path}"
    for name in ("harbour.md", "wide.md"):
        assert read(each, f"vault-index://vault/{name}") == (vault / name).read_text("utf-8")


def test_resources_read_a_name_with_other_letters(client: Session) -> None:
    stored = client.call("memory_store", content="Tide.", path="Häfen und Co/50 %")
    uris = [one.uri for one in client.does(Client.list_resources).resources]
    [uri] = [uri for uri in uris if "H%C3%A4fen%20und%20Co/50%20%25" in uri]
    assert "Tide." in read(client, uri)
    client.call("memory_delete", ref=stored["id"])


NO_DOCUMENTS = (
    "vault-index://vault/../../etc/passwd", "vault-index://vault/..%2F..%2Fetc%2Fpasswd",
    "vault-index://vault//etc/passwd", "vault-index://vault/.obsidian/app.json", "vault-index://vault/nothing.md",
    "vault-index://vault/%00", "vault-index://vault/%FF", "vault-index://elsewhere/harbour.md",
    "vault-index://vault/7d1c2a90", "vault-index://vault/harbour.md:1-3", "vault-index://vault/harbour.md?x",
    "vault-index://vault", "file:///etc/passwd", "",
)  # fmt: skip


def test_resources_report_an_unknown_uri_as_not_found(client: Session) -> None:
    for uri in NO_DOCUMENTS:
        with pytest.raises(MCPError, match=r"^there is no resource") as raised:
            client.does(lambda sdk, at=uri: sdk.read_resource(at))  # type: ignore[misc]
        assert raised.value.error.code == types.INVALID_PARAMS


def test_resources_complete_the_parts_of_a_uri(each: Session) -> None:
    ref = types.ResourceTemplateReference(uri="vault-index://{source}/{+path}")
    for name, begun, values in (
        ("path", "har", ["harbour.md"]),
        ("path", "daily/2026-03-0", [f"daily/2026-03-0{day}.md" for day in range(1, 10)]),
        ("source", "", ["vault"]),
        ("source", "x", []),
        ("colour", "", []),
    ):
        argument = {"name": name, "value": begun}
        told = each.does(lambda sdk, given=argument: sdk.complete(ref, given)).completion.values  # type: ignore[misc]
        assert sorted(told) == values
