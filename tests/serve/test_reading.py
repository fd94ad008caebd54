"""Documents in parts, and links resolved at their place, as the page requests them."""

from typing import Any

import pytest

from vault_index.errors import NotFoundError
from vault_index.serve.page import reading
from vault_index.serve.page.reading import draw, read_document

PLAIN = "\n\n".join(f"Paragraph {number}: " + "words " * 40 for number in range(1, 601))
BLOCKS = "\n\n".join(
    f"## Part {number}\n\n```\n{'code' * 300}\n\n# no heading\n```\n\n- one {number}\n- two {number}\n\n"
    f"| a |\n|---|\n| row {number} |"
    for number in range(60)
)


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Few tests draw in a separate process; the others avoid it."""
    if "blocks-long.md:290" not in request.node.name and "timeout" not in request.node.name:
        monkeypatch.setattr(reading, "_SHORT", 10_000_000)


class Vault:
    """The answers of `get --full` for some notes."""

    def __init__(self, **texts: str) -> None:
        self.texts = {path.replace("__", "/") + ".md": text for path, text in texts.items()}

    def __call__(self, ref: str, source: str | None) -> dict[str, Any]:
        name, _, heading = ref.removeprefix("[[").removesuffix("]]").partition("#")
        path, _, place = name.partition(":")
        if not path.endswith(".md"):
            path += ".md"
        if path not in self.texts or source == "other":
            raise NotFoundError(f"not found: {ref!r}", "look for it")
        lines = self.texts[path].split("\n")
        first, _, last = place.partition("-")
        if heading:
            if f"# {heading}" not in lines:
                raise NotFoundError(f"no heading {heading!r}", "open it")
            first = last = str(lines.index(f"# {heading}") + 1)
        begin, end = int(first or 1), int(last or len(lines))
        metadata = {"lines": [1, len(lines)]}
        shown = "\n".join(lines[begin - 1 : end])
        return {"path": path, "source": "vault", "lines": [begin, end], "content": shown, "metadata": metadata}


def text_of(node: Any) -> str:
    return node if isinstance(node, str) else " ".join(map(text_of, node[2:]))


def parts(text: str, first: str = "long.md") -> list[dict[str, Any]]:
    """All parts from a place to the end, and before it back to the beginning."""
    vault = Vault(long=text)
    found = [read_document(vault, {"ref": first})]
    while asked := found[-1]["next"]:
        found.append(read_document(vault, asked))
    while asked := found[0]["previous"]:
        found.insert(0, read_document(vault, asked))
    return found


@pytest.mark.parametrize("first", ["long.md", "long.md:300-302", "long.md:290"])
@pytest.mark.parametrize(
    ("text", "name", "numbers"),
    [(PLAIN, "Paragraph {}:", 600), (BLOCKS, "one {} ", 60)],
    ids=["plain", "blocks"],
)
def test_read_document_returns_each_part_of_a_long_note_once(text: str, name: str, numbers: int, first: str) -> None:
    found = parts(text, first)
    assert len(found) > 1
    assert "\n".join(one["text"] for one in found) == text
    drawn = " ".join(text_of(node) for one in found for node in one["nodes"]) + " "
    assert [drawn.count(name.format(number)) for number in range(1, numbers)] == [1] * (numbers - 1)


def test_read_document_shows_a_place_far_down_with_its_context() -> None:
    found = read_document(Vault(long=PLAIN), {"ref": "long.md:801-801"})
    first, last = found["document"]["lines"]
    assert first < 801 < last
    assert found["named"] == [801, 801]
    assert any("Paragraph 401:" in text_of(node) for node in found["nodes"])


def test_read_document_shows_the_text_below_a_long_block() -> None:
    nested = "".join(f"{'  ' * level}- {level}\n" for level in range(400))
    found = read_document(Vault(long=f"above\n\n{nested}\nbelow"), {"ref": "long.md:404-404"})
    assert text_of(found["nodes"][-1]) == "below"


@pytest.mark.parametrize(
    ("ref", "path"),
    [
        ("[[beside]]", "sub/beside.md"), ("beside.md", "sub/beside.md"), ("../top.md", "top.md"), ("[[top]]", "top.md"),
        ("./beside.md#Heading", "sub/beside.md"), ("[[#Heading]]", "sub/here.md"), ("#Heading", "sub/here.md"),
        ("[[both]]", "both.md"), ("./both.md", "sub/both.md"), ("[[top#Nowhere|alias]]", "top.md"),
    ],
)  # fmt: skip
def test_read_document_resolves_a_link_at_its_place(ref: str, path: str) -> None:
    vault = Vault(top="text", both="text", sub__both="text", sub__beside="text\n# Heading", sub__here="text\n# Heading")
    found = read_document(vault, {"ref": ref, "from": "vault:sub/here.md"})
    assert found["document"]["path"] == path
    assert found["missing"] == ("Nowhere" if "Nowhere" in ref else None)
    assert found["named"] == ([2, 2] if "Heading" in ref else None)


def test_draw_returns_plain_text_after_its_timeout() -> None:
    [found] = draw([PLAIN], seconds=0)
    assert found.nodes[0][0] == "callout"
    assert "\n\n".join(text_of(node) for node in found.nodes[1:]) == PLAIN


def test_read_document_names_an_unresolved_link_as_written() -> None:
    with pytest.raises(NotFoundError, match="away"):
        read_document(Vault(top="text"), {"ref": "[[away]]", "from": "vault:sub/here.md"})
