"""The code of `vault-index open` signs one browser in, once, for a short time; nothing stores or reveals it."""

import json
import sys
import threading
import time
from typing import Any

import pytest

from tests.serve.attackers import REFUSED, Target
from tests.world import Answered
from vault_index.access import Tokens
from vault_index.callers import Caller
from vault_index.cli import main

EVIL = "evil.example"
WAYS_IN = [("POST", "/page/about"), ("POST", "/api/search"), ("GET", "/events"), ("POST", "/mcp"),
           ("GET", "/openapi.json"), ("GET", "/files/vault/x.png"), ("POST", "/page/tokens")]  # fmt: skip


def code(target: Target, name: str = "", *, lives: float = 300.0) -> str:
    """Make a code as `vault-index open` does."""
    caller = Caller(name or f"page-{len(target.secrets)}", writes=True, owner=True)
    now = time.time()
    target.secrets.append(
        Tokens(target.world.home.tokens_file).add(caller, created=now, expires=now + lives, once=True)
    )
    return target.secrets[-1]


def sign_in(target: Target, said: Any, **headers: str) -> Answered:
    body = said if isinstance(said, bytes) else json.dumps({"code": said}).encode()
    reply = target.post("/signin", body, "", **headers)
    if reply.status == 200:
        target.secrets += [reply.json["key"], target.served.signed(reply.json["key"])]
    return reply


def with_secret(target: Target, secret: str, method: str, path: str) -> Answered:
    headers = target.headers("", Authorization=f"Bearer {secret}", Content_Type="application/json")
    return target.request(method, path, headers, b"{}")


def about(target: Target, secret: str) -> Answered:
    return with_secret(target, secret, "POST", "/page/about")


def test_signin_code_works_once(target: Target) -> None:
    given = code(target)
    reply = sign_in(target, given)
    assert reply.status == 200
    assert set(reply.json) == {"name", "expires", "key"}
    signed = target.served.signed(reply.json["key"])
    assert reply.headers["cache-control"] == "no-store"
    assert "set-cookie" not in reply.headers
    assert about(target, signed).json["name"] == reply.json["name"]
    again = sign_in(target, given)
    assert (again.status, again.error) == (401, "unauthorized")
    assert about(target, signed).status == 200, "whoever tries the code again ends nothing"


def test_signin_code_used_by_many_at_once_admits_one(target: Target) -> None:
    given, replies = code(target), list[Answered]()
    barrier = threading.Barrier(12)

    def show() -> None:
        barrier.wait()
        replies.append(sign_in(target, given))

    threads = [threading.Thread(target=show) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(reply.status for reply in replies) == [200] + [401] * 11


def test_signin_refuses_an_old_or_revoked_code(target: Target) -> None:
    assert sign_in(target, code(target, lives=-1.0)).status == 401
    given = code(target, "page-revoked")
    Tokens(target.world.home.tokens_file).revoke("page-revoked")
    reply = sign_in(target, given)
    assert (reply.status, reply.error) == (401, "unauthorized")


def test_signin_code_is_not_a_token_nor_the_reverse(target: Target, capsys: pytest.CaptureFixture[str]) -> None:
    given = code(target, "page-not-listed")
    assert main(["--home", str(target.world.home.data_dir), "token", "list"]) == 0
    assert "page-not-listed" not in capsys.readouterr().out
    for method, path in WAYS_IN:
        assert with_secret(target, given, method, path).status == 401, path
    reply = sign_in(target, given)
    assert reply.status == 200, "nothing of that used it up"
    for secret in (target.served.signed(reply.json["key"]), *target.tokens.values()):
        assert sign_in(target, secret).status == 401
        assert with_secret(target, secret, "GET", "/openapi.json").status == 200


def test_signin_code_is_read_from_the_body_only(target: Target) -> None:
    given = code(target)
    headers = target.headers("", Content_Type="application/json")
    for path in (f"/signin?code={given}", f"/signin?token={given}", f"/signin/{given}", f"/signin;code={given}"):
        for method, body in (("GET", None), ("POST", b"{}"), ("POST", None)):
            assert 400 <= target.request(method, path, headers, body).status < 500, (method, path)
    assert target.request("GET", f"/?token={given}", headers).status in (200, 400, 404)
    for more in ({"Cookie": f"code={given}"}, {"X-Code": given}, {"Authorization": f"Bearer {given}"}):
        assert target.request("POST", "/signin", {**headers, **more}, b"{}").status in (400, 401)
    assert sign_in(target, given).status == 200, "nothing of that used it up"


NO_CODES = [
    b"", b"{}", b"[]", b"null", b'"x"', b'{"code": null}', b'{"code": ["x"]}', b'{"code": {"x": 1}}', b'{"code": true}',
    b'{"code": ""}', b'{"code": "\\ud800"}', b'{"code": "\\u0000"}', b'{"code": "*"}', b'{"code": "vx_"}', b"{" * 5000,
    b"\xff", b'{"token": "x"}', b'{"code": "x", "code": "y"}', b'{"code": "' + b"x" * 100_000 + b'"}',
]  # fmt: skip


def test_signin_refuses_an_invalid_code(target: Target) -> None:
    for body in NO_CODES:
        reply = sign_in(target, body)
        assert reply.status in (400, 401, 413), (body[:40], reply)
        assert reply.error in ("usage", "unauthorized"), (body[:40], reply)
        assert b"vx_" not in reply.body
    assert sign_in(target, b"{}").json["error"]["hint"] == "open the page again: vault-index open"
    given = code(target)
    for other in (given[:-1], given + "x", given.upper(), f" {given}", f"{given}\n", f"{given}\0", given[3:],
                  given[:-1] + ("A" if given[-1] != "A" else "B"), f"Bearer {given}", "\ufeff" + given):  # fmt: skip
        assert sign_in(target, other).status == 401, other
    assert sign_in(target, given).status == 200


def test_signin_refuses_a_page_of_another_site(target: Target) -> None:
    """Also a form, or another method or path: otherwise another site could sign a browser in."""
    given = code(target)
    body, headers = json.dumps({"code": given}).encode(), target.headers("", Content_Type="application/json")
    for origin in (f"http://{EVIL}", "null", f"https://{target.host}", "http://127.0.0.1", "file://", "*", ""):
        reply = sign_in(target, given, Origin=origin)
        assert (reply.status, reply.error) == (403, "forbidden"), origin
        assert not [name for name in reply.headers if name.startswith("access-control-")]
    assert sign_in(target, given, Host=EVIL).status == 421
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "text/json"):
        assert sign_in(target, given, Content_Type=kind).status == 415, kind
    for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        assert 400 <= target.request(method, "/signin", headers, body).status < 500, method
    for path in ("/signin/", "//signin", "/SIGNIN", "/signin%00", "/%73ignin/", "/page/signin"):
        reply = target.request("POST", path, headers, body)
        assert 400 <= reply.status < 500, reply
        assert b"vx_" not in reply.body
    assert sign_in(target, given, Origin=f"http://{target.host}").status == 200, "nothing of that used it up"


def test_signin_with_a_damaged_tokens_file_fails_and_keeps_the_file(target: Target) -> None:
    given, file = code(target), target.world.home.tokens_file
    whole = file.read_bytes()
    for damage, mode in ((b"{", 0o600), (whole.replace(b'"owner": true', b'"owner": 1'), 0o600), (whole, 0o666)):
        file.write_bytes(damage)
        file.chmod(mode)
        try:
            reply = sign_in(target, given)
            left = file.read_bytes()
        finally:
            file.write_bytes(whole)
            file.chmod(0o600)
        assert left == damage
        assert reply.status == 503, reply
        assert str(target.world.home.data_dir).encode() not in reply.body
    assert sign_in(target, given).status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux connects from any address of 127.0.0.0/8")
def test_signin_slows_down_guesses_of_one_address(target: Target) -> None:
    mine = target.served.signed(sign_in(target, code(target)).json["key"])

    def status(secret: str) -> int:
        body = json.dumps({"code": secret}).encode()
        head = target.head("POST /signin HTTP/1.1", "", Content_Type="application/json", Connection="close")
        [reply] = target.send(head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body), source="127.0.0.8")
        if reply.status == 200:
            target.secrets.append(reply.json["key"])
        return reply.status

    assert [status(f"vx_{number:043}") for number in range(22)] == [401] * 20 + [429] * 2
    assert about(target, mine).status == 200
    assert sign_in(target, code(target)).status == 200, "other addresses sign in"
    assert status(code(target)) == 200, "whoever has the code is let in all the same"


def test_page_shows_no_data_and_runs_only_its_own_code(target: Target) -> None:
    reply = target.request("GET", "/", {"Host": target.host})
    assert reply.status == 200
    parts = (part.strip().partition(" ") for part in reply.headers["content-security-policy"].split(";"))
    policy = {name: values.split() for name, _, values in parts}
    for name in ("default-src", "frame-ancestors", "base-uri", "form-action"):
        assert policy[name] == ["'none'"], name
    assert policy["script-src"] == policy["connect-src"] == ["'self'"]
    assert set(policy["img-src"]) <= {"'self'", "blob:"}
    assert set(policy["style-src"]) <= {"'self'"}
    assert policy["require-trusted-types-for"] == ["'script'"]
    for name in ("object-src", "frame-src", "child-src", "worker-src", "media-src", "font-src", "manifest-src"):
        assert set(policy.get(name, ["'none'"])) <= {"'none'", "'self'"}
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert (reply.headers["x-frame-options"], reply.headers["referrer-policy"]) == ("DENY", "no-referrer")
    assert not [name for name in reply.headers if name.startswith("access-control-")]
    for words in ("aardvark", str(target.world.vault), str(target.world.home.data_dir), "http://", "https://",
                  "<script>", " style="):  # fmt: skip
        assert words.encode() not in reply.body


def test_page_paths_lead_to_no_other_file(target: Target) -> None:
    for path in REFUSED["page_files"]:
        for method in ("GET", "HEAD", "POST"):
            reply = target.request(method, f"/page/{path}", {"Host": target.host})
            assert 400 <= reply.status < 500, (method, path, reply)
            assert b"import " not in reply.body
            assert b"root:" not in reply.body


def test_page_answers_only_to_its_own_name(target: Target) -> None:
    for path in ("/", "/page/main.js"):
        assert target.request("GET", path, {"Host": EVIL}).status == 421
        assert target.request("GET", path, {"Host": target.host, "Origin": f"http://{EVIL}"}).status == 403
        for method in ("POST", "PUT", "DELETE"):
            assert 400 <= target.request(method, path, {"Host": target.host}, b"x").status < 500
