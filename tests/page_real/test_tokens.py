"""Access tokens on the page: created, shown once, refused with a reason, revoked."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import Reader, copied, toast
from tests.world import World

NOTES = {
    "work/acme/wal.md": "# WAL\n\nReaders never wait for a tamarisk.\n",
    "home.md": "# Home\n\nA tamarisk of another kind.\n",
}


@pytest.fixture(scope="module", autouse=True)
def known(world: World) -> None:
    world.token("laptop", writes=True)
    world.token("old", expires=1.0)


@pytest.fixture
def tokens(reader: Reader) -> Page:
    page = reader.open("#/tokens")
    page.wait_for_selector("#pages")
    return page


def row(page: Page, name: str) -> Any:
    return page.locator("li", has=page.locator("b", has_text=name))


def found(reader: Reader, token: str) -> list[str]:
    """Return the paths that a search with the token finds, or the status of its refusal."""
    answer = reader.served.call("search", token, query="tamarisk")
    return [hit["path"] for hit in answer.json["results"]] if answer.status == 200 else [str(answer.status)]


def test_tokens_page_creates_and_revokes_a_scoped_token_by_keys(reader: Reader, tokens: Page) -> None:
    tokens.keyboard.press("n")
    expect(tokens.get_by_label("Name")).to_be_focused()
    tokens.keyboard.type("acme-ci")
    for _ in range(20):
        tokens.keyboard.press("Tab")
        if tokens.evaluate("document.activeElement.name") == "folders":
            break
    tokens.keyboard.type("work/acme")
    tokens.keyboard.press("Tab")
    tokens.keyboard.press("Enter")
    made = tokens.locator(".made")
    expect(made).to_contain_text("acme-ci reads documents below work/acme")
    made.get_by_role("button", name="Copy: Token").press("Enter")
    expect(toast(tokens)).to_contain_text("copied")
    secret = copied(tokens)
    assert found(reader, secret) == ["work/acme/wal.md"]
    made.get_by_role("button", name="Copy: Another MCP client").press("Enter")
    tokens.wait_for_function("async () => (await navigator.clipboard.readText()).includes('mcpServers')")
    server = json.loads(copied(tokens))["mcpServers"]["vault-index"]
    assert server["url"] == f"{reader.origin}/mcp"
    assert server["headers"] == {"Authorization": f"Bearer {secret}"}
    tokens.keyboard.press("Escape")
    expect(row(tokens, "acme-ci")).to_contain_text("Sees documents below work/acme.")
    assert secret not in tokens.content()
    tokens.get_by_role("button", name="Revoke acme-ci").press("Enter")
    tokens.locator("dialog").get_by_role("button", name="Revoke").press("Enter")
    expect(row(tokens, "acme-ci")).to_have_count(0)
    assert found(reader, secret) == ["401"]


def test_tokens_page_shows_a_refusal_at_its_field(tokens: Page) -> None:
    field, fault = tokens.get_by_label("Folders, one per line"), "not a folder of a vault"
    tokens.get_by_role("button", name="Create a token").click()
    tokens.get_by_label("Name").fill("new")
    field.fill("../other")
    tokens.get_by_role("button", name="Create", exact=True).click()
    expect(tokens.locator(".field-fault")).to_contain_text(fault)
    expect(field).to_be_focused()
    expect(field).to_have_accessible_description(re.compile(fault))
    field.press("End")
    tokens.keyboard.type("x")
    expect(tokens.locator(".field-fault")).to_have_count(0)


def test_tokens_page_revokes_only_after_confirmation(tokens: Page) -> None:
    expect(row(tokens, "old")).to_contain_text("expired on Jan 1, 1970")
    tokens.get_by_role("button", name="Revoke laptop").click()
    tokens.locator("dialog").get_by_role("button", name="Cancel").click()
    tokens.reload()
    expect(row(tokens, "laptop")).not_to_contain_text("expired")


def test_tokens_page_signs_out_its_own_and_another_page(reader: Reader, tokens: Page) -> None:
    other = reader.sign_in("#/tokens")
    other.get_by_role("button", name="Sign out this page").click()
    other.locator("dialog").get_by_role("button", name="Sign out").click()
    expect(other.locator("main")).to_contain_text("vault-index open")
    other.reload()
    expect(other.locator("main")).to_contain_text("vault-index open")
    third = reader.sign_in("#/tokens")
    name = third.locator("li", has_text="you are here").locator(".mono").inner_text()
    tokens.reload()
    tokens.get_by_role("button", name=f"Sign out {name}").click()
    tokens.locator("dialog").get_by_role("button", name="Sign out").click()
    expect(toast(tokens)).to_contain_text("signed out")
    third.reload()
    expect(third.locator("main")).to_contain_text("vault-index open")
