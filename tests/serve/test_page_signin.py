"""The code of `vault-index open` signs one browser in, once, soon, and nobody else; nothing keeps or tells it."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.daemon.fake_index import until
from tests.serve.attackers import PATIENCE, Reply, Served, served
from vault_index.access import Tokens
from vault_index.callers import Caller

EVIL = "evil.example"
_seen: list[str] = []
"""All codes and tokens of these tests, which no log may hold."""


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("signin")) as one:
        yield one
        until(lambda: "path=/signin" in one.logs, PATIENCE)
        logs = one.logs
        assert one.lives, logs
        assert [secret for secret in (*_seen, *one.tokens.values()) if secret in logs] == []
        assert "Traceback" not in logs
        kept = [path for path in one.home.data_dir.rglob("*") if path.is_file()]
        assert [path for path in kept for secret in _seen if secret.encode() in path.read_bytes()] == []
        assert len(_seen) > 10


def code(one: Served, lives: float = 300.0, name: str = "") -> str:
    """A code as `vault-index open` makes it."""
    now = time.time()
    caller = Caller(name or f"page-{len(_seen)}", writes=True, owner=True)
    made = Tokens(one.home.tokens_file).add(caller, created=now, expires=now + lives, once=True)
    _seen.append(made)
    return made


def sign_in(one: Served, said: Any, **headers: str) -> Reply:
    body = said if isinstance(said, bytes) else json.dumps({"code": said}).encode()
    given = {"Host": one.host, "Content-Type": "application/json"} | {
        k.replace("_", "-"): v for k, v in headers.items()
    }
    reply = one.request("POST", "/signin", given, body)
    if reply.status == 200:
        _seen.append(reply.json["token"])
    return reply


def about(one: Served, secret: str) -> Reply:
    headers = {"Host": one.host, "Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    return one.request("POST", "/page/about", headers, b"{}")


def test_a_code_signs_in_once(one: Served) -> None:
    given = code(one)
    reply = sign_in(one, given)
    assert reply.status == 200
    assert set(reply.json) == {"token", "name", "expires"}
    assert reply.json["token"] != given
    assert reply.headers["cache-control"] == "no-store"
    assert "set-cookie" not in reply.headers
    assert about(one, reply.json["token"]).status == 200
    for _ in range(3):
        again = sign_in(one, given)
        assert (again.status, again.error) == (401, "unauthorized")
    assert about(one, reply.json["token"]).status == 200, "who tries it again takes nothing from who is in"


def test_of_many_who_show_a_code_at_once_one_is_let_in(one: Served) -> None:
    given, replies = code(one), list[Reply]()
    barrier = threading.Barrier(12)

    def show() -> None:
        barrier.wait()
        replies.append(sign_in(one, given))

    threads = [threading.Thread(target=show) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(reply.status for reply in replies) == [200] + [401] * 11


def test_a_code_that_is_too_old_signs_nobody_in(one: Served) -> None:
    given = code(one, lives=-1.0)
    reply = sign_in(one, given)
    assert (reply.status, reply.error) == (401, "unauthorized")
    assert about(one, given).status == 401


def test_what_signs_in_lives_for_minutes(one: Served) -> None:
    command = [sys.executable, "-m", "vault_index", "--home", str(one.home.data_dir), "open", "--print"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    where, _, given = said.partition("#token=")
    _seen.append(given)
    assert where == f"http://127.0.0.1:{one.port}/"
    kept = max(json.loads(one.home.tokens_file.read_bytes())["tokens"], key=lambda token: float(token["created"]))
    assert kept["once"]
    assert 0 < kept["expires"] - time.time() <= 600
    assert one.home.tokens_file.stat().st_mode & 0o077 == 0
    reply = sign_in(one, given)
    assert reply.status == 200
    assert about(one, reply.json["token"]).json["name"] == reply.json["name"]


def test_a_code_is_no_token_and_a_token_no_code(one: Served) -> None:
    given = code(one)
    for method, path in (("POST", "/page/about"), ("POST", "/api/search"), ("GET", "/events"),
                         ("POST", "/mcp"), ("GET", "/openapi.json"),
                         ("GET", "/files/vault/x.png"), ("POST", "/page/tokens")):  # fmt: skip
        headers = {"Host": one.host, "Authorization": f"Bearer {given}", "Content-Type": "application/json"}
        assert one.request(method, path, headers, b'{"query": "aardvark"}').status == 401, path
    reply = sign_in(one, given)
    assert reply.status == 200, "it was not used up by that"
    for secret in (reply.json["token"], *one.tokens.values()):
        assert sign_in(one, secret).status == 401
        assert (
            one.request("GET", "/openapi.json", {"Host": one.host, "Authorization": f"Bearer {secret}"}).status == 200
        )


def test_a_code_is_shown_in_the_body_alone(one: Served) -> None:
    given = code(one)
    headers = {"Host": one.host, "Content-Type": "application/json"}
    for path in (f"/signin?code={given}", f"/signin?token={given}", f"/signin/{given}", f"/signin;code={given}"):
        for method, body in (("GET", None), ("POST", b"{}"), ("POST", None)):
            assert 400 <= one.request(method, path, headers, body).status < 500, (method, path)
    assert one.request("GET", f"/?token={given}", headers).status in (200, 400, 404)
    shown: tuple[dict[str, str], ...] = (
        {"Cookie": f"code={given}"}, {"X-Code": given}, {"Authorization": f"Bearer {given}"},
        {"Referer": f"http://{one.host}/#token={given}"},
    )  # fmt: skip
    for more in shown:
        assert one.request("POST", "/signin", {**headers, **more}, b"{}").status in (400, 401)
    assert sign_in(one, given).status == 200, "it was not used up by that"


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"null", b'"x"', b'{"code": null}', b'{"code": ["x"]}', b'{"code": {"x": 1}}', b'{"code": 1}',
     b'{"code": true}', b'{"code": ""}', b'{"code": "\\ud800"}', b'{"code": "\\u0000"}', b'{"code": "*"}',
     b'{"code": "vx_"}', b"{" * 5000, b"\xff", b'{"token": "x"}', b'{"code": "x", "code": "y"}',
     b'{"code": "' + b"x" * 100_000 + b'"}', b'{"__proto__": {"code": "x"}}'],
    ids=lambda body: repr(body[:24]),
)  # fmt: skip
def test_what_is_no_code_signs_nobody_in(one: Served, body: bytes) -> None:
    reply = sign_in(one, body)
    assert reply.status in (400, 401, 413), reply
    assert reply.error in ("usage", "unauthorized"), reply
    assert b"vx_" not in reply.body


def test_what_is_nearly_the_code_signs_nobody_in(one: Served) -> None:
    given = code(one)
    for other in (given[:-1], given + "x", given.upper(), f" {given}", f"{given}\n", f"{given}\0", given[3:],
                  given[:-1] + ("A" if given[-1] != "A" else "B"), f"Bearer {given}", "\ufeff" + given):  # fmt: skip
        assert sign_in(one, other).status == 401, other
    assert sign_in(one, given).status == 200


@pytest.mark.parametrize(
    "origin", [f"http://{EVIL}", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:{port}.evil.example",
               "http://127.0.0.1", "http://localhost:1", "file://", "chrome-extension://abc", "*", ""],
)  # fmt: skip
def test_a_page_of_another_site_signs_nobody_in(one: Served, origin: str) -> None:
    given = code(one)
    reply = sign_in(one, given, Origin=origin.format(port=one.port))
    assert (reply.status, reply.error) == (403, "forbidden")
    assert not [name for name in reply.headers if name.startswith("access-control-")]
    assert sign_in(one, given, Host=EVIL).status == 421
    assert sign_in(one, given, Origin=f"http://{one.host}").status == 200, "it was not used up by that"


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "text/json"]
)
def test_what_a_form_can_send_signs_nobody_in(one: Served, kind: str) -> None:
    """Else a page elsewhere could sign a browser in as it likes."""
    given = code(one)
    assert sign_in(one, given, Content_Type=kind).status == 415
    assert sign_in(one, given).status == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_codes_are_only_posted(one: Served, method: str) -> None:
    given = code(one)
    body = json.dumps({"code": given}).encode()
    reply = one.request(method, "/signin", {"Host": one.host, "Content-Type": "application/json"}, body)
    assert 400 <= reply.status < 500
    assert sign_in(one, given).status == 200


@pytest.mark.parametrize("path", ["/signin/", "//signin", "/SIGNIN", "/signin%00", "/%73ignin/", "/page/signin"])
def test_other_paths_sign_nobody_in(one: Served, path: str) -> None:
    given = code(one)
    body = json.dumps({"code": given}).encode()
    reply = one.request("POST", path, {"Host": one.host, "Content-Type": "application/json"}, body)
    assert 400 <= reply.status < 500, reply
    assert b"vx_" not in reply.body


def test_signing_out_of_a_token_ends_it_and_a_damaged_file_signs_nobody_in(one: Served) -> None:
    secret = sign_in(one, code(one, name="page-leaves")).json["token"]
    assert about(one, secret).status == 200
    [name] = [token.caller.name for token in Tokens(one.home.tokens_file).all() if "page-leaves" in token.caller.name]
    Tokens(one.home.tokens_file).revoke(name)
    assert about(one, secret).status == 401
    given, whole = code(one), one.home.tokens_file.read_bytes()
    for damage, mode in ((b"{", 0o600), (whole.replace(b'"owner": true', b'"owner": 1'), 0o600), (whole, 0o666)):
        one.home.tokens_file.write_bytes(damage)
        one.home.tokens_file.chmod(mode)
        try:
            reply = sign_in(one, given)
            left = one.home.tokens_file.read_bytes()
        finally:
            one.home.tokens_file.write_bytes(whole)
            one.home.tokens_file.chmod(0o600)
        assert left == damage
        assert reply.status == 503, reply
        assert str(one.home.data_dir).encode() not in reply.body
    assert sign_in(one, given).status == 200


def test_a_code_that_was_revoked_or_that_only_reads_gives_no_more(one: Served) -> None:
    given = code(one, name="page-revoked")
    Tokens(one.home.tokens_file).revoke("page-revoked")
    assert sign_in(one, given).status == 401
    plain = Tokens(one.home.tokens_file).add(
        Caller("only-reads"), created=time.time(), expires=time.time() + 300, once=True
    )
    _seen.append(plain)
    reply = sign_in(one, plain)
    if reply.status == 200:
        assert about(one, reply.json["token"]).status in (403, 404)
        changed = {"Host": one.host, "Authorization": f"Bearer {reply.json['token']}"}
        changed["Content-Type"] = "application/json"
        assert one.request("POST", "/api/add", changed, b'{"text": "x"}').status == 403


def test_only_an_owner_asks_what_the_page_asks(one: Served) -> None:
    for name in ("reader", "writer", "part"):
        for method, path, body in (("POST", "/page/about", b"{}"), ("POST", "/page/read", b'{"ref": "alpha.md"}'),
                                   ("POST", "/page/tokens", b"{}"), ("POST", "/page/tokens", b'{"revoke": "owner"}'),
                                   ("POST", "/page/tokens", b'{"add": {"name": "x", "write": true}}')):  # fmt: skip
            headers = one.headers(name, Content_Type="application/json")
            reply = one.request(method, path, headers, body)
            assert reply.status in (403, 404), (name, path, reply)
            assert b"aardvark" not in reply.body
            assert str(one.vault).encode() not in reply.body


def test_guesses_are_slowed_down_and_nobody_who_is_in_waits(one: Served) -> None:
    mine = sign_in(one, code(one)).json["token"]
    seen = set[int]()
    head = f"POST /signin HTTP/1.1\r\nHost: {one.host}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    for number in range(400):
        body = json.dumps({"code": f"vx_{number:043}"}).encode()
        try:
            [reply] = one.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body, source="127.0.0.8")
        except OSError:
            pytest.skip("no other address of this machine can be taken here")
        seen.add(reply.status)
        if reply.status == 429:
            assert int(reply.headers["retry-after"]) > 0
            break
    assert seen == {401, 429}
    assert about(one, mine).status == 200
    assert sign_in(one, code(one)).status == 200, "elsewhere one signs in"
    body = json.dumps({"code": code(one)}).encode()
    [reply] = one.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body, source="127.0.0.8")
    assert reply.status == 200, "who has the code needs no patience because of who has none"


# --- the page without a token ---------------------------------------------------------------------------------------


def test_the_page_itself_tells_nothing_and_runs_only_its_own(one: Served) -> None:
    reply = one.request("GET", "/", {"Host": one.host})
    assert reply.status == 200
    policy = {
        name: values.split()
        for name, _, values in (
            part.strip().partition(" ") for part in reply.headers["content-security-policy"].split(";")
        )
    }
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == ["'self'"]
    assert policy["connect-src"] == ["'self'"]
    assert set(policy["img-src"]) <= {"'self'", "blob:"}
    assert set(policy["style-src"]) <= {"'self'"}
    assert policy["frame-ancestors"] == ["'none'"]
    assert policy["base-uri"] == ["'none'"]
    assert policy["form-action"] == ["'none'"]
    assert policy["require-trusted-types-for"] == ["'script'"]
    for name in ("object-src", "frame-src", "child-src", "worker-src", "media-src", "font-src", "manifest-src"):
        assert set(policy.get(name, ["'none'"])) <= {"'none'", "'self'"}
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["x-frame-options"] == "DENY"
    assert not [name for name in reply.headers if name.startswith("access-control-")]
    for word in ("aardvark", str(one.vault), str(one.home.data_dir)):
        assert word.encode() not in reply.body
    assert b"http://" not in reply.body
    assert b"https://" not in reply.body
    assert b"<script>" not in reply.body
    assert b" style=" not in reply.body


@pytest.mark.parametrize(
    "path",
    ["../app.py", "%2e%2e/app.py", "..%2fapp.py", "..\\app.py", "../../serve/run.py", "site.py", "../__init__.py",
     "vendor/../../app.py", "vendor", "vendor/", "views", ".", "..", "//etc/passwd", "/etc/passwd",
     "%2fetc%2fpasswd", "main.js%00", "main.js/", "MAIN.JS", "main.js.map", "main.js~",
     ".git/config", "__pycache__", "%ff", "index.html%20",
     "vendor%2f..%2f..%2fapp.py", "....//app.py", "main.js;x", "%252e%252e/app.py"],
)  # fmt: skip
def test_no_path_of_the_page_leads_elsewhere(one: Served, path: str) -> None:
    for method in ("GET", "HEAD", "POST"):
        reply = one.request(method, f"/page/{path}", {"Host": one.host})
        assert 400 <= reply.status < 500, (method, reply)
        assert b"import " not in reply.body
        assert b"root:" not in reply.body


def test_the_page_answers_only_to_its_own_name(one: Served) -> None:
    for path in ("/", "/page/main.js"):
        assert one.request("GET", path, {"Host": EVIL}).status == 421
        assert one.request("GET", path, {"Host": one.host, "Origin": f"http://{EVIL}"}).status == 403
        for method in ("POST", "PUT", "DELETE"):
            assert 400 <= one.request(method, path, {"Host": one.host}, b"x").status < 500
