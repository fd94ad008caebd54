"""Tokens on the page: made, shown once, refused with a reason, revoked."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page_real.browser import DESKTOP, PHONE, Reader, axe
from tests.serve.servers import Place, place


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("tokens")) as made:
        made.write("work/acme/wal.md", "# WAL\n\nReaders never wait for a tamarisk.\n")
        made.write("home.md", "# Home\n\nA tamarisk of another kind.\n")
        made.daemon()
        made.token("laptop", writes=True)
        made.token("old", expires=1.0)
        yield made


@pytest.fixture
def tokens(reader: Reader) -> Page:
    page = reader.open("#/tokens", permissions=["clipboard-read", "clipboard-write"])
    page.wait_for_selector("#pages")
    return page


def row(page: Page, name: str) -> Any:
    return page.locator("li", has=page.locator("b", has_text=name))


def found(reader: Reader, token: str) -> list[str]:
    answer = reader.served.call("search", token, query="tamarisk")
    return [hit["path"] for hit in answer.json.get("results", ())] if answer.status == 200 else [str(answer.status)]


def test_a_token_is_made_by_keys_alone_and_sees_what_it_says(reader: Reader, tokens: Page) -> None:
    tokens.keyboard.press("n")
    tokens.keyboard.type("acme-ci")
    for _ in range(20):
        tokens.keyboard.press("Tab")
        if tokens.evaluate("document.activeElement.name") == "folders":
            break
    tokens.keyboard.type("work/acme")
    tokens.keyboard.press("Tab")
    tokens.keyboard.press("Enter")
    made = tokens.locator(".made")
    expect(made).to_contain_text("acme-ci reads what is below work/acme")
    made.get_by_role("button", name="Copy: Token").press("Enter")
    secret = tokens.evaluate("navigator.clipboard.readText()")
    assert found(reader, secret) == ["work/acme/wal.md"]
    made.get_by_role("button", name="Copy: Another client of MCP").press("Enter")
    server = json.loads(tokens.evaluate("navigator.clipboard.readText()"))["mcpServers"]["vault-index"]
    assert server["url"] == f"{reader.origin}/mcp"
    assert server["headers"] == {"Authorization": f"Bearer {secret}"}
    tokens.keyboard.press("Escape")
    expect(row(tokens, "acme-ci")).to_contain_text("Sees what is below work/acme.")
    assert secret not in tokens.content()
    tokens.get_by_role("button", name="Revoke acme-ci").press("Enter")
    tokens.locator("dialog").get_by_role("button", name="Revoke").press("Enter")
    expect(row(tokens, "acme-ci")).to_have_count(0)
    assert found(reader, secret) == ["401"]


def test_a_token_is_made_with_the_pointer(tokens: Page) -> None:
    tokens.get_by_role("button", name="Make a token").click()
    tokens.get_by_label("Name").fill("writer")
    tokens.get_by_text("read, and write memories").click()
    tokens.get_by_role("button", name="vault", exact=True).click()
    tokens.get_by_label("An index of its own").check()
    tokens.get_by_role("button", name="until revoked").click()
    tokens.get_by_role("button", name="Make it").click()
    tokens.get_by_role("button", name="Done").click()
    made = row(tokens, "writer")
    for said in ("reads and writes", "Sees vault.", "index of its own", "good until it is revoked"):
        expect(made).to_contain_text(said)


@pytest.mark.parametrize(
    ("field", "said", "fault"),
    [
        ("Name", "a b", "cannot be the name"),
        ("Name", "laptop", "laptop already"),
        ("Folders, one a line", "../other", "no folder of a vault"),
        ("Folders, one a line", "/etc", "lies in no vault"),
    ],
)
def test_a_refusal_stands_next_to_its_field(tokens: Page, field: str, said: str, fault: str) -> None:
    tokens.get_by_role("button", name="Make a token").click()
    tokens.get_by_label("Name").fill("new")
    tokens.get_by_label(field).fill(said)
    tokens.get_by_role("button", name="Make it").click()
    expect(tokens.locator(".field-fault")).to_contain_text(fault)
    expect(tokens.get_by_label(field)).to_be_focused()
    described = tokens.get_by_label(field).get_attribute("aria-describedby")
    expect(tokens.locator(f"#{described}")).to_contain_text(fault)
    tokens.get_by_label(field).press("End")
    tokens.keyboard.type("x")
    expect(tokens.locator(".field-fault")).to_have_count(0)


def test_what_has_expired_is_told_apart(tokens: Page) -> None:
    expect(row(tokens, "old")).to_contain_text("expired on Jan 1, 1970")
    expect(row(tokens, "laptop")).not_to_contain_text("expired")


def test_nothing_is_revoked_without_being_asked_for_twice(tokens: Page) -> None:
    tokens.get_by_role("button", name="Revoke laptop").click()
    tokens.locator("dialog").get_by_role("button", name="Cancel").click()
    tokens.reload()
    expect(row(tokens, "laptop")).to_have_count(1)


def test_a_page_is_signed_out_by_itself_and_by_another(reader: Reader, tokens: Page) -> None:
    other = reader.open("#/tokens")
    other.get_by_role("button", name="Sign out this page").click()
    other.locator("dialog").get_by_role("button", name="Sign out").click()
    expect(other.locator("main")).to_contain_text("vault-index open")
    other.reload()
    expect(other.locator("main")).to_contain_text("vault-index open")
    expect(row(tokens, "This page")).to_have_count(1)
    third = reader.open("#/tokens")
    name = third.locator("li", has_text="you are here").locator(".mono").inner_text()
    tokens.reload()
    tokens.get_by_role("button", name=f"Sign out {name}").click()
    tokens.locator("dialog").get_by_role("button", name="Sign out").click()
    expect(tokens.locator(".toast")).to_contain_text("signed out")
    third.reload()
    expect(third.locator("main")).to_contain_text("vault-index open")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(reader: Reader, scheme: str, size: Any) -> None:
    page = reader.open("#/tokens", scheme=scheme, size=size)
    page.wait_for_selector("#pages")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe(page) == []
    page.keyboard.press("n")
    page.get_by_label("Name").fill(f"one-{scheme}-{size['width']}")
    assert axe(page) == []
    page.get_by_role("button", name="Make it").click()
    page.wait_for_selector(".made")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe(page) == []
