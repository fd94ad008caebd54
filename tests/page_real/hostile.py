"""Files that try to make the page run code, contact a server, or hide text.

A successful attack sets `__hit`, opens a dialog, or contacts `EVIL`. Each attack stands between two unique words: if
the note is found by the first and shows the second, no text was lost.
"""

import os
import tomllib
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from tests.sources.sessions.claude import Writer

EVIL = "evil.example"
"""In all texts; tests replace it by an address that listens."""
_RUN = "window.__hit=1"
TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("hostile.toml").read_text("utf-8"))


class Hostile(NamedTuple):
    path: str
    data: bytes
    begins: str = ""
    ends: str = ""
    """The words before and after the attack; none if the whole file is one."""
    shows: str = ""
    """Other text that must be readable: what is not markdown is shown unchanged."""


def _words(number: int) -> tuple[str, str]:
    middle = chr(97 + number // 20) + "bcdfghjklmnpqrtvwxzy"[number % 20]
    return f"kru{middle}omo", f"zat{middle}olu"


_TEXT = (
    *TABLES["text"],
    "> [!__proto__]\n> text\n\n> [!constructor]- toString\n> text\n\n> [!" + "x" * 5000 + "]\n> text\n\n> [!]\n> text",
    "\u202egnp.exe\u202c \u2066hidden\u2069 \u200b\u200c\u200d\u2060\ufeff a\u0300\u2028\u2029" + "\u0330" * 2000,
)
_FRONT = (*TABLES["front"], "deep: " + "[" * 3000 + "]" * 3000, "title: " + "T" * 20_000)
_BOMBS = (
    ">" * 10_000 + " deep",
    "".join(f"{'  ' * level}- {level}\n" for level in range(400)),
    "[" * 20_000,
    "*a **a " * 5_000,
    "| a | b | c | d |\n|---|---|---|---|\n" + "| <script> | `x` | [[y]] | z |\n" * 3_000,
    "<script>x</script> word " * 40_000,
    "x[^1] " * 3_000 + "\n\n" + "[^1]: y[^1]\n" * 100,
    "\n" * 50_000,
    "![[good.png]]" * 300,
)

_BYTES = (
    b"nul \0 bytes \0\0 <script\0>x</script> [x](java\0script:1)",
    b"invalid \xff\xfe\xc0\xae\xc0\xae/ \xed\xa0\x80 \xf5\x80\x80\x80 <script>x</script>",
    b"+ADw-script+AD4-x+ADw-/script+AD4- of UTF-7 \x1b$B!! of ISO-2022",
)


def notes() -> list[Hostile]:
    """Notes of the vault, without memories."""
    found: list[Hostile] = []

    def add(attack: str | bytes, *, front: str = "", path: str = "", shows: str = "", kind: str = "") -> None:
        begins, ends = _words(len(found))
        data = attack if isinstance(attack, bytes) else attack.encode("utf-8", "surrogateescape")
        head = f"---\n{front}\n---\n" if front else ""
        name = path or f"{kind}/{len(found):03}.md"
        whole = f"{head}It begins with {begins}.\n\n".encode() + data + f"\n\nIt ends with {ends}.\n".encode()
        found.append(Hostile(name, whole, begins, ends, shows))

    for attack in TABLES["html"]:
        # An entity, a comment of Obsidian or an escape is read by its meaning.
        add(attack, kind="html", shows="" if attack[0] in "&＜" else attack.split()[0])
    for target in TABLES["targets"]:
        add(f"[a link]({target}) and more", kind="links", shows="a link")
    for text in TABLES["links"]:
        add(text, kind="links")
    for source in TABLES["sources"]:
        add(f"![a picture]({source}) and more", kind="images")
    for text in TABLES["images"]:
        add(text, kind="images")
    for text in _TEXT:
        add(text, kind="text")
    for front in _FRONT:
        add("What stands above is the attack.", front=front, kind="front")
    for text in _BOMBS:
        add(text, kind="bombs")
    for name in TABLES["names"]:
        add("Its name is the attack.", path=f"names/{name}")
    for data in _BYTES:
        add(data, kind="bytes")
    return found


def memories() -> list[Hostile]:
    """Memories in review, and their folder."""
    found = []
    for number, (front, text) in enumerate(TABLES["memories"]):
        begins, ends = _words(300 + number)
        id_ = f"{number:08x}-0000-4000-8000-{number:012x}"
        whole = f"---\nid: {id_}\n{front}\nentered_by: agent\n---\n{begins} is first. {text} {ends} is last.\n"
        found.append(Hostile(f"memory/inbox/{number:02}.md", whole.encode(), begins, ends))
    return found


SVG = f"""<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"
 onload="{_RUN};top.__hit=1"><script>{_RUN};top.__hit=1;fetch("//{EVIL}/svg")</script><script href="//{EVIL}/s.js"/>
<style>@import url(//{EVIL}/svg.css);</style><image href="http://{EVIL}/in.png"/><rect width="9" height="9"/>
<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:{_RUN}"/></foreignObject></svg>"""
HTML = f"<!DOCTYPE html><script>{_RUN};parent.__hit=1</script><img src=//{EVIL}/h.png> mandrill"
SECRET = b"the mandrill waits outside"


def png() -> bytes:
    """One white pixel."""

    def part(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    header = (1).to_bytes(4, "big") * 2 + bytes((8, 2, 0, 0, 0))
    data = part(b"IDAT", zlib.compress(b"\0\xff\xff\xff"))
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + data + part(b"IEND", b"")


def files() -> dict[str, bytes]:
    """Files next to the notes, by path; `evil.svg` and `good.png` may be shown as images."""
    return {"good.png": png(), "evil.svg": SVG.encode(), "html.png": HTML.encode(), "evil.html": HTML.encode()}


def session() -> Writer:
    """A Claude Code session in which each text is an attack; write it to the client's home."""
    writer = Writer(Path())
    run, evil = f"<img src=x onerror={_RUN}>", f"![x](https://{EVIL}/session.png) [x](javascript:{_RUN})"
    begins, ends = _words(340)
    writer.prompt(f"{begins} begins. <script>{_RUN}</script> {run} {evil} [[javascript:{_RUN}|x]]")
    writer.answer(f"# <svg onload={_RUN}>\n\n</article><iframe src=//{EVIL}/s></iframe> {evil} ![[evil.svg]]")
    writer.call("t1", "Bash", command=f"curl https://{EVIL} # <script>{_RUN}</script> ```\n# x")
    writer.result("t1", f"\x1b[31m{run}\x1b]8;;javascript:{_RUN}\x07x\x1b]8;;\x07 ```\n</pre><script>{_RUN}</script>")
    writer.call("t2", f"<img src=x onerror={_RUN}>", file_path=f"/x/<script>{_RUN}</script>.py")
    writer.result(
        "t2", [{"type": "text", "text": f"<iframe srcdoc='<script>parent.__hit=1</script>'> {evil}"}], failed=True
    )
    writer.answer({"type": "thinking", "thinking": f"{run} {evil}"})
    writer.answer(f"{ends} ends. {run} {evil}")
    return writer


SESSION_WORDS = _words(340)


def write_all(vault: Path, evil: str) -> None:
    """Write all of them, with files in and outside the vault; `evil` replaces the address to avoid."""
    for one in (*notes(), *memories()):
        file = vault / one.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(one.data.replace(EVIL.encode(), evil.encode()))
    for name, data in files().items():
        for folder in (vault, *(vault / kind for kind in ("images", "links", "text", "bombs", "names"))):
            (folder / name).write_bytes(data.replace(EVIL.encode(), evil.encode()))
    outside = vault.parent / "outside"
    outside.mkdir()
    (outside / "outside.png").write_bytes(png() + SECRET)
    (outside / "outside.md").write_bytes(SECRET)
    (vault.parent / "outside.png").write_bytes(png() + SECRET)
    (vault / "images/escape.png").symlink_to(outside / "outside.png")
    (vault / "images/away").symlink_to(outside)
    (vault / "escape.md").symlink_to(outside / "outside.md")
    (vault / "names/half \udcff\udcfe.md").write_bytes(SECRET)  # no index holds such a name
    os.mkfifo(vault / "images/pipe.png")
