"""`GET /files/<source>/<path>`: images of a vault for its owner, and nothing else of it or of the machine."""

import os
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.page_real.hostile import SVG, png
from tests.serve.attackers import OUTSIDE, Reply, Served, served
from vault_index.access import Tokens
from vault_index.callers import Caller

SECRET = f"the {OUTSIDE} waits".encode()
GOOD = {
    "good.png": ("image/png", png()),
    "a/b/UPPER.PNG": ("image/png", png()),
    "photo.jpg": ("image/jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF\0" + b"\0" * 99),
    "photo.jpeg": ("image/jpeg", b"\xff\xd8\xff\xe1\0\x10Exif\0" + b"\0" * 99),
    "moving.gif": ("image/gif", b"GIF89a" + b"\0" * 99),
    "small.webp": ("image/webp", b"RIFF\x64\0\0\0WEBPVP8 " + b"\0" * 99),
    "new.avif": ("image/avif", b"\0\0\0\x1cftypavif\0\0\0\0mif1avif" + b"\0" * 99),
    "drawn.svg": ("image/svg+xml", SVG.encode()),
    "with space, #hash & question?.png": ("image/png", png()),
    "100%.png": ("image/png", png()),
    "é ü 日本.png": ("image/png", png()),
    "back\\slash.png": ("image/png", png()),
    "png.html": ("image/png", png()),  # never as its name says
    "png.js": ("image/png", png()),
    "x.png.html": ("image/png", png()),
    "polyglot.gif": ("image/gif", b"GIF89a/*<script>1</script>*/=1;//" + b"\0" * 99),
    "inside.png": ("image/png", png()),  # a link to good.png
    "folder-inside/good.png": ("image/png", png()),  # in a link to a folder of the vault
}
"""What is sent, and as what."""
NEVER = {
    "alpha.md": b"# Alpha\n\nthe mandrill\n",
    "html.png": b"<!DOCTYPE html><script>1</script> mandrill",
    "text.png": SECRET,
    "svg.png": SVG.encode() + b"<!-- mandrill -->",
    "html.svg": b"<!DOCTYPE html><html><script>1</script> mandrill",
    ".png": png() + SECRET,
    ".hidden/x.png": png() + SECRET,
    ".obsidian/plugins/x.png": png() + SECRET,
    "page.html": b"<script>1</script> mandrill",
    "app.js": b"mandrill()",
    "style.css": b"mandrill {}",
    "doc.pdf": b"%PDF-1.7 mandrill",
    "empty.png": b"",
    "drawn.svgz": b"\x1f\x8b\x08mandrill",
    "icon.ico": b"\0\0\1\0mandrill",
    "bits.bmp": b"BMmandrill",
    "key.pem": b"mandrill",
}
"""What lies in the vault and is not sent."""


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("files")) as one:
        vault, outside = one.vault, one.vault.parent / "outside"
        for path, data in [*NEVER.items(), *((path, data) for path, (_, data) in GOOD.items() if "inside" not in path)]:
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_bytes(data)
        outside.mkdir()
        for folder in (outside, vault.parent):
            (folder / "outside.png").write_bytes(png() + SECRET)
        (vault.parent / "vault-beside").mkdir()
        (vault.parent / "vault-beside/x.png").write_bytes(png() + SECRET)
        (one.home.data_dir / "home.png").write_bytes(png() + SECRET)
        for path, target in (
            ("inside.png", "good.png"), ("folder-inside", "a"), ("escape.png", str(outside / "outside.png")),
            ("away", str(outside)), ("up.png", "../outside.png"), ("twice.png", "away/outside.png"),
            ("self.png", "self.png"), ("home.png", str(one.home.data_dir / "home.png")), ("dev.png", "/dev/zero"),
            ("beside.png", "../vault-beside/x.png"), ("proc.png", "/proc/self/environ"),
        ):  # fmt: skip
            (vault / path).symlink_to(target)
        (vault / "a/good.png").write_bytes(png())
        (vault / "folder.png").mkdir()
        os.mkfifo(vault / "pipe.png")
        with (vault / "huge.png").open("wb") as huge:
            huge.write(png())
            huge.truncate(4 << 30)
        one.tokens["owner"] = Tokens(one.home.tokens_file).add(
            Caller("owner", writes=True, owner=True), created=time.time(), expires=None
        )
        yield one
        assert one.lives, one.logs
        assert [secret for secret in one.tokens.values() if secret in one.logs] == []
        assert "Traceback" not in one.logs
        assert OUTSIDE not in one.logs


def image(one: Served, path: str, name: str = "owner", method: str = "GET", **headers: str) -> Reply:
    """Of this place below /files/, as it stands in the request."""
    return one.request(method, f"/files/{path}", one.headers(name, **headers))


@pytest.mark.parametrize("path", GOOD)
def test_an_image_of_the_vault_is_sent_as_what_it_is(one: Served, path: str) -> None:
    reply = image(one, f"vault/{quote(path)}")
    kind, data = GOOD[path]
    assert (reply.status, reply.body) == (200, data)
    headers = reply.headers
    assert headers["content-type"] == kind
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"].replace("style-src 'unsafe-inline'", "")
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert "public" not in headers["cache-control"]
    assert not [name for name in headers if name.startswith("access-control-")]
    head = image(one, f"vault/{quote(path)}", method="HEAD")
    assert (head.status, head.body) in [(200, b""), (405, b"")]


@pytest.mark.parametrize("path", NEVER)
def test_what_is_no_image_is_not_sent(one: Served, path: str) -> None:
    refused(image(one, f"vault/{quote(path)}"))


@pytest.mark.parametrize(
    "path",
    ["escape.png", "away/outside.png", "up.png", "twice.png", "self.png", "home.png", "dev.png", "beside.png",
     "proc.png", "folder.png", "folder.png/", "pipe.png", "missing.png", "good.png/", "good.png/x.png", "a", "",
     "link.md", "away", "good.png ", "good.png.", "good.PNG", "GOOD.png"],
)  # fmt: skip
def test_no_link_and_no_thing_that_is_no_file_is_sent(one: Served, path: str) -> None:
    refused(image(one, f"vault/{quote(path)}"))


def test_what_is_too_large_is_not_read(one: Served) -> None:
    reply = image(one, "vault/huge.png")
    assert 400 <= reply.status < 500
    assert len(reply.body) < 1000


UPWARDS = [
    "../outside.png", "%2e%2e/outside.png", "..%2foutside.png", "%2e%2e%2foutside.png", "..%5coutside.png",
    "..\\outside.png", "a/../../outside.png", "a/..%2f..%2foutside.png", "a/b/../../../outside.png", "./../outside.png",
    "%252e%252e/outside.png", "%c0%ae%c0%ae/outside.png", "%c0%ae%c0%ae%c0%afoutside.png", "..%c0%afoutside.png",
    "%e0%80%ae%e0%80%ae/outside.png", "..%ef%bc%8foutside.png", "%ef%bc%8e%ef%bc%8e/outside.png",
    "....//outside.png", "..;/outside.png", "..%00/outside.png", "..%00%2foutside.png", "../outside.png%00.png",
    "%2e%2e%00/outside.png",
    "../vault-beside/x.png", "../home/home.png", "..%2fhome%2fhome.png", "../outside/outside.png",
    "..%u2215outside.png",
    "good.png/../../outside.png", "good.png%2f..%2f..%2foutside.png", "/../outside.png", "//../outside.png",
    "{folder}/outside.png", "/{folder}/outside.png", "%2f{folder}/outside.png", "//{folder}/outside.png",
    "file://{folder}/outside.png", "file:{folder}/outside.png", "%5c%5c..%5coutside.png", "~/outside.png",
    "..", "%2e%2e", ".", "..%2f", "../", "../tokens.json", "%2e%2e%2fhome%2ftokens.json", "/etc/passwd",
    "%2fetc%2fpasswd",
    "/proc/self/cwd/outside.png", "%2fproc%2fself%2froot{folder}/outside.png", "a%0d%0ax:%20y/../../outside.png",
    "?../outside.png", "?path=../outside.png", "#../outside.png", "..?/outside.png", "%ff%fe/outside.png",
    "%2E%2E%2Foutside.png", "%2e./outside.png", ".%2e/outside.png", "..%252foutside.png", "..%25252foutside.png",
    "C:/outside.png", "C:%5coutside.png", "good.png:stream", "a" * 5000 + ".png", "a/" * 3000 + "x.png",
    "../" * 500 + "etc/hostname.png", "..%2f" * 200 + "etc%2fpasswd",
]  # fmt: skip


@pytest.mark.parametrize("path", UPWARDS, ids=lambda path: path[:40])
def test_no_path_leads_out_of_the_vault(one: Served, path: str) -> None:
    path = path.replace("{folder}", str(one.vault.parent))
    reply = image(one, f"vault/{path}")
    refused(reply)
    for whole in (f"/files/{path}", f"//files/vault/{path}", f"/FILES/vault/{path}", f"/page/{path}"):
        refused(one.request("GET", whole, one.headers("owner")))


@pytest.mark.parametrize(
    "source", ["", ".", "..", "%2e%2e", "vaul", "vault2", "VAULT", "vault%2f..", "vault%00", "*", "claude-code",
               "config", "__proto__", "vault:", "vault%2Fa", "%76ault%2f%2e%2e", "va*lt", "memory", "home"],
)  # fmt: skip
def test_what_is_no_vault_has_no_images(one: Served, source: str) -> None:
    for path in ("good.png", "outside.png", "home/home.png", "vault/good.png"):
        if (source, path) != ("vault%2Fa", "good.png"):  # in doubt the same path
            refused(image(one, f"{source}/{path}"))


def test_only_the_owner_is_sent_images(one: Served) -> None:
    one.token("whole", writes=True, sources=("vault",))
    for name in ("reader", "writer", "part", "whole"):
        for path in ("vault/good.png", "vault/missing.png", "vault/../outside.png", "none/x.png", ""):
            reply = image(one, path, name)
            assert reply.status in (403, 404), (name, path, reply)
            assert png() not in reply.body
        answers = {image(one, f"vault/{path}", name)[0] for path in ("good.png", "missing.png", "html.png")}
        assert len(answers) == 1, "who may see none is not told which there are"
    for headers in ({}, {"Authorization": "Bearer x"}, {"Cookie": f"token={one.tokens['owner']}"}):
        reply = one.request("GET", "/files/vault/good.png", {"Host": one.host, **headers})
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
        assert png() not in reply.body
    for query in ("token=", "access_token=", "code="):
        address = f"/files/vault/good.png?{query}{one.tokens['owner']}"
        assert one.request("GET", address, {"Host": one.host}).status == 401


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
def test_images_are_only_got(one: Served, method: str) -> None:
    before = {path: (one.vault / path).read_bytes() for path in NEVER}
    for path in ("vault/good.png", "vault/new-one.png", "vault/folder.png"):
        reply = one.request(method, f"/files/{path}", one.headers("owner"), png())
        assert 400 <= reply.status < 500 or reply.status == 501, reply
        assert png() not in reply.body
    assert not (one.vault / "new-one.png").exists()
    assert (one.vault / "good.png").read_bytes() == png()
    assert before == {path: (one.vault / path).read_bytes() for path in NEVER}


def test_pages_of_others_are_sent_no_image(one: Served) -> None:
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{one.port}.evil.example"):
        assert image(one, "vault/good.png", Origin=origin).status == 403
    assert image(one, "vault/good.png", Host="evil.example").status == 421


def test_parts_and_versions_that_are_asked_for_send_nothing_else(one: Served) -> None:
    asked: list[dict[str, str]] = [
        {"Range": "bytes=0-3"}, {"Range": "bytes=-1"}, {"Range": "bytes=5-1"}, {"Range": "bytes=0-0," * 500 + "1-1"},
        {"Range": "bytes=0-99999999999999999999"}, {"If_None_Match": "*"}, {"If_Modified_Since": "x" * 500},
        {"Accept": "text/html"}, {"Accept_Encoding": "gzip;q=1, *;q=0"}, {"X_Original_URL": "/../outside.png"},
    ]  # fmt: skip
    for headers in asked:
        reply = image(one, "vault/good.png", **headers)
        assert reply.status in (200, 206, 304, 400, 406, 416), (headers, reply)
        assert reply.body == b"" or reply.body in png() or b'"error"' in reply.body or reply.headers["content-encoding"]
        refused(image(one, "vault/escape.png", **headers))


def test_a_link_that_takes_the_place_of_an_image_is_not_followed(one: Served) -> None:
    """Nor is a folder that became a link, between one request and the next."""
    good, moved = one.vault / "a/good.png", one.vault / "moved"
    assert image(one, "vault/a/good.png").status == 200
    moved.mkdir()
    good.rename(moved / "good.png")
    good.symlink_to(one.vault.parent / "outside.png")
    refused(image(one, "vault/a/good.png"))
    good.unlink()
    (moved / "good.png").rename(good)


def refused(reply: Reply) -> None:
    said: Any = reply.error
    assert 400 <= reply.status < 500, reply
    assert said or not reply.body or reply.status == 400, "an error as all have it"
    assert reply.headers.get("content-type", "application/json").startswith(("application/json", "text/plain"))
    assert OUTSIDE.encode() not in reply.body
    assert b"root:" not in reply.body
    assert png()[:8] not in reply.body
