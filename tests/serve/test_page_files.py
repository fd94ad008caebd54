"""`GET /files/<source>/<path>`: images of a vault for its owner, and no other file of the vault or the machine."""

import os
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.serve.attackers import OUTSIDE, REFUSED, Target, attacked
from tests.serve.test_page import sign_in_code
from tests.world import Answered, World

PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>'
SECRET = f"the {OUTSIDE} waits".encode()
GOOD = {
    "good.png": ("image/png", PNG),
    "photo.jpg": ("image/jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(99)),
    "moving.gif": ("image/gif", b"GIF89a" + bytes(99)),
    "small.webp": ("image/webp", b"RIFF\x64\0\0\0WEBPVP8 " + bytes(99)),
    "new.avif": ("image/avif", b"\0\0\0\x1cftypavif\0\0\0\0mif1avif" + bytes(99)),
    "drawn.svg": ("image/svg+xml", SVG),
    "a/b/UPPER with space, #hash & question?.PNG": ("image/png", PNG),
    "100% é ü 日本.png": ("image/png", PNG),
    "back\\slash.png": ("image/png", PNG),
    "png.html": ("image/png", PNG),  # by its content, not by its name
    "polyglot.gif": ("image/gif", b"GIF89a/*<script>1</script>*/=1;//" + bytes(99)),
    "inside.png": ("image/png", PNG),  # a link to good.png
    "folder-inside/good.png": ("image/png", PNG),  # in a link to a folder of the vault
}
"""Files that are sent, and their types."""
NEVER = {
    "note.md": SECRET,
    "html.png": b"<!DOCTYPE html><script>1</script>" + SECRET,
    "text.png": SECRET,
    "svg.png": SVG + SECRET,
    "html.svg": b"<!DOCTYPE html><html><script>1</script>" + SECRET,
    ".png": PNG + SECRET,
    ".obsidian/plugins/x.png": PNG + SECRET,
    ".trash/x.png": PNG + SECRET,
    "app.js": SECRET,
    "doc.pdf": b"%PDF-1.7" + SECRET,
    "empty.png": b"",
    "drawn.svgz": b"\x1f\x8b\x08" + SECRET,
    "bits.bmp": b"BM" + SECRET,
}
"""Files in the vault that are not sent."""
LINKS = {
    "inside.png": "good.png", "folder-inside": "a", "escape.png": "{folder}/outside/outside.png",
    "self.png": "self.png", "away": "{folder}/outside", "up.png": "../outside.png", "twice.png": "away/outside.png",
    "dev.png": "/dev/zero", "home.png": "{folder}/home/home.png", "beside.png": "../vault-beside/x.png",
    "proc.png": "/proc/self/environ", "trash": ".trash", "trashed.png": ".trash/x.png", "trash-twice": "trash",
}  # fmt: skip
NO_FILES = [
    *(path for path in LINKS if "inside" not in path), "away/outside.png", "trash/x.png", "trash-twice/x.png",
    "folder.png", "folder.png/", "pipe.png", "huge.png", "missing.png", "good.png/", "good.png/x.png", "a", "",
    "link.md", "good.png ", "good.png.",
]  # fmt: skip
"""Links out of the vault or into a hidden folder, other file types, and files that are too large."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with attacked(tmp_path_factory.mktemp("files")) as target:
        fill(target.world)
        answer = target.served.ask("POST", "/signin", sign_in_code(target.world), {"Content-Type": "application/json"})
        target.tokens["owner"] = target.served.signed(answer.json["key"])
        yield target
        logs = target.logs()
        assert target.lives, logs
        assert [secret for secret in (*target.tokens.values(), "Traceback", OUTSIDE) if secret in logs] == []


def fill(world: World) -> None:
    vault, folder = world.vault, world.vault.parent
    files = [*NEVER.items(), *((path, data) for path, (_, data) in GOOD.items() if "inside" not in path)]
    for path, data in [*files, ("a/good.png", PNG)]:
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_bytes(data)
    for path in ("outside/outside.png", "outside.png", "vault-beside/x.png", "home/home.png"):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(PNG + SECRET)
    for path, to in LINKS.items():
        (vault / path).symlink_to(to.format(folder=folder))
    (vault / "folder.png").mkdir()
    os.mkfifo(vault / "pipe.png")
    with (vault / "huge.png").open("wb") as huge:
        huge.write(PNG)
        huge.truncate(4 << 30)


def image(target: Target, path: str, name: str = "owner", method: str = "GET", **headers: str) -> Answered:
    """Request this path below /files/ unchanged."""
    return target.request(method, f"/files/{path}", target.headers(name, **headers))


def is_refused(reply: Answered) -> bool:
    """Return whether the answer is an error without any content of a file."""
    return (
        400 <= reply.status < 500
        and bool(reply.error or not reply.body or reply.status == 400)
        and reply.headers.get("content-type", "application/json").startswith(("application/json", "text/plain"))
        and not [secret for secret in (OUTSIDE.encode(), b"root:", PNG[:8]) if secret in reply.body]
    )


def test_page_image_is_sent_with_its_type(target: Target) -> None:
    for path, (kind, data) in GOOD.items():
        reply = image(target, f"vault/{quote(path)}")
        headers = reply.headers
        assert (reply.status, reply.body, headers["content-type"]) == (200, data, kind), path
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"].replace("style-src 'unsafe-inline'", "")
        assert (headers["x-frame-options"], headers["referrer-policy"]) == ("DENY", "no-referrer")
        assert "public" not in headers["cache-control"]
        assert not [name for name in headers if name.startswith("access-control-")]
        assert image(target, f"vault/{quote(path)}", method="HEAD").body == b""


def test_page_image_is_found_by_name_like_in_obsidian(target: Target) -> None:
    assert image(target, "vault/elsewhere/PHOTO.jpg").body == GOOD["photo.jpg"][1]


def test_page_sends_only_images_of_the_vault(target: Target) -> None:
    assert [path for path in (*NEVER, *NO_FILES) if not is_refused(image(target, f"vault/{quote(path)}"))] == []


def test_page_images_have_no_path_out_of_the_vault(target: Target) -> None:
    folder, long = str(target.world.vault.parent), ("a" * 5000 + ".png", "../" * 500 + "etc/hostname.png")
    for path in (one.replace("{folder}", folder) for one in (*REFUSED["image_paths"], *long)):
        for whole in (f"/files/vault/{path}", f"/files/{path}", f"//files/vault/{path}", f"/page/{path}"):
            assert is_refused(target.request("GET", whole, target.headers("owner"))), whole


def test_page_images_need_a_vault_as_source(target: Target) -> None:
    for source in ("", ".", "%2e%2e", "vaul", "VAULT", "vault%2f..", "vault%00", "*", "claude-code", "vault:"):
        for path in ("good.png", "outside.png"):
            assert is_refused(image(target, f"{source}/{path}")), (source, path)


def test_page_images_are_for_the_owner_only(target: Target) -> None:
    target.token("whole", writes=True, sources=("vault",))
    for name in ("reader", "writer", "part", "whole"):
        paths = ("vault/good.png", "vault/missing.png", "vault/html.png", "vault/../outside.png", "none/x.png", "")
        found = [image(target, path, name) for path in paths]
        assert all(is_refused(reply) for reply in found), (name, found)
        assert len({reply.status for reply in found[:3]}) == 1, "it must not tell which images there are"
    owner = target.tokens["owner"]
    for headers in ({}, {"Authorization": "Bearer x"}, {"Cookie": f"token={owner}"}):
        reply = target.request("GET", "/files/vault/good.png", {"Host": target.host, **headers})
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
        assert PNG not in reply.body
    for query in ("token=", "access_token=", "code="):
        address = f"/files/vault/good.png?{query}{owner}"
        assert target.request("GET", address, {"Host": target.host}).status == 401
    for origin in ("http://evil.example", "null", f"http://{target.host}.evil.example"):
        assert image(target, "vault/good.png", Origin=origin).status == 403


def test_page_image_replaced_by_a_link_is_not_sent(target: Target) -> None:
    good, moved = target.world.vault / "a/good.png", target.world.vault / "moved.png"
    assert image(target, "vault/a/good.png").status == 200
    good.rename(moved)
    good.symlink_to(target.world.vault.parent / "outside.png")
    assert is_refused(image(target, "vault/a/good.png"))
    good.unlink()
    moved.rename(good)
