"""What the page stands on: its files, the code that signs in, and what its owner alone may ask for."""

import contextlib
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.servers import Answered, Place, Served, bearer, place
from vault_index.access import Tokens
from vault_index.callers import Caller, Scope
from vault_index.cli import main
from vault_index.serve.place import where_it_serves

PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("page")) as made:
        made.write(
            "notes/wal.md", "---\ntags: [db]\n---\n# WAL\n\nReaders never wait for a tamarisk.\n\n## Why\n\nIt is so.\n"
        )
        (made.vault / "notes" / "tree.png").write_bytes(PNG)
        made.daemon()
        yield made


def code(here: Place, seconds: float = 60.0, name: str = "") -> str:
    caller = Caller(name or f"page-{time.monotonic_ns()}", writes=True, owner=True)
    return Tokens(here.home.tokens_file).add(caller, created=time.time(), expires=time.time() + seconds, once=True)


def sign_in(served: Served, said: Any) -> Answered:
    return served.ask("POST", "/signin", json.dumps(said).encode(), {"Content-Type": "application/json"})


@pytest.fixture(scope="module")
def owner(here: Place, served: Served) -> str:
    return str(sign_in(served, {"code": code(here)}).json["token"])


def ask(served: Served, name: str, token: str, **params: Any) -> Answered:
    return served.ask("POST", f"/page/{name}", json.dumps(params).encode(), bearer(token))


def test_the_page_and_all_that_it_names_come_without_a_token(served: Served) -> None:
    answer = served.ask("GET", "/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    text = gzip.decompress(answer.body).decode()
    named = re.findall(r'(?:src|href)="(/[^"]+)"', text)
    assert len(named) > 5
    for path in named:
        file = served.ask("GET", path)
        assert file.status == 200, path
        assert file.headers["x-content-type-options"] == "nosniff"
        etag = {"If-None-Match": file.headers["etag"]}
        assert (served.ask("GET", path, headers=etag).status, served.ask("HEAD", path).status) == (304, 200)


def test_a_file_that_the_page_does_not_have_is_not_found(served: Served, owner: str) -> None:
    for path in ("gone.js", "views/gone.css", "../signin.js", "vendor/%2e%2e/main.js"):
        for headers in ({}, bearer(owner)):
            answer = served.ask("GET", f"/page/{path}", headers=headers)
            assert (answer.status, answer.headers["cache-control"]) == (404, "no-store"), path
            assert "www-authenticate" not in answer.headers
    assert served.ask("GET", "/page/about").status == 401  # it is no file


def test_no_file_of_the_page_asks_elsewhere_or_writes_html() -> None:
    import vault_index.serve.page

    site = Path(vault_index.serve.page.__file__).parent / "site"
    texts = {path: path.read_text("utf-8") for path in site.rglob("*") if path.suffix in (".js", ".css", ".html")}
    own = {path: text for path, text in texts.items() if "vendor" not in path.parts}
    assert len(own) > 8
    for path, text in own.items():
        found = re.findall(r"https?://(?!x/|www\.w3\.org)[\w.]+|innerHTML|\beval\(|new Function|dangerouslySet", text)
        assert found == [], path


def test_a_code_signs_in_once(here: Place, served: Served) -> None:
    made = code(here, name="page-once")
    assert served.call("tags", made).status == 401  # it is no token
    answer = sign_in(served, {"code": made})
    assert (answer.status, answer.json["name"]) == (200, "page-once")
    assert ask(served, "about", answer.json["token"]).json["name"] == "page-once"
    assert sign_in(served, {"code": made}).status == 401
    Tokens(here.home.tokens_file).revoke("page-once")
    assert ask(served, "about", answer.json["token"]).status == 401


@pytest.mark.parametrize(
    "said", [{}, {"code": ""}, {"code": 5}, {"code": None}, {"code": ["x"]}, [], "code", {"code": "vx_"}]
)
def test_what_is_no_code_signs_nobody_in(here: Place, served: Served, said: Any) -> None:
    answer = sign_in(served, said)
    assert (answer.status, answer.json["error"]["hint"]) == (401, "open the page anew: vault-index open")


def test_a_code_is_good_for_minutes(here: Place, served: Served) -> None:
    assert sign_in(served, {"code": code(here, seconds=-1)}).status == 401


def test_a_token_is_no_code(here: Place, served: Served) -> None:
    assert sign_in(served, {"code": here.token("no-code", writes=True)}).status == 401


def test_codes_are_not_guessed_for_long(tmp_path: Path) -> None:
    with place(tmp_path) as other:
        other.daemon()
        served = other.serve()
        answers = [sign_in(served, {"code": f"vx_{number}"}).status for number in range(40)]
        assert answers[:5] == [401] * 5
        assert answers[-1] == 429


def test_codes_are_no_tokens_that_are_listed(here: Place, capsys: pytest.CaptureFixture[str]) -> None:
    code(here, name="page-not-listed")
    assert main(["--home", str(here.home.data_dir), "token", "list"]) == 0
    assert "page-not-listed" not in capsys.readouterr().out


@pytest.mark.parametrize("scope", [Scope(), Scope(sources=("vault",))])
def test_what_is_the_owners_is_nobody_elses(here: Place, served: Served, scope: Scope) -> None:
    token = here.token(f"writer-{len(scope.sources)}", writes=True, scope=scope)
    for name in ("about", "read", "tokens"):
        assert ask(served, name, token, ref="notes/wal.md").status == 403
    assert served.ask("GET", "/files/vault/notes/tree.png", headers=bearer(token)).status == 403
    assert served.call("file_status", token, ref="notes/wal.md").status == 404
    assert served.call("doctor", token, recall=True).status in (400, 403)


def test_the_owner_may_ask_what_tells_of_the_machine(here: Place, served: Served, owner: str) -> None:
    about = ask(served, "about", owner).json
    assert about["sources"] == [{"name": "vault", "kind": "vault", "path": str(here.vault)}]
    assert served.call("file_status", owner, ref="notes/wal.md").status == 200
    assert served.call("search", owner, query="tamarisk", directory=str(here.vault)).status == 200
    for name in ("import", "export", "sync", "rebuild", "forget"):
        assert served.call(name, owner).status == 404


def test_a_document_is_read_as_a_tree_with_the_lines_of_its_file(served: Served, owner: str) -> None:
    read = ask(served, "read", owner, ref="notes/wal.md").json
    assert [(one["text"], one["line"]) for one in read["outline"]] == [("WAL", 4), ("Why", 8)]
    assert read["document"]["path"] == "notes/wal.md"
    place = ask(served, "read", owner, ref="notes/wal.md:8-10").json
    assert (place["named"], place["outline"], place["nodes"]) == ([8, 10], read["outline"], read["nodes"])


def test_an_image_is_shown_by_what_it_is(here: Place, served: Served, owner: str) -> None:
    (here.vault / "notes" / "no.png").write_text("<html>")
    assert served.ask("GET", "/files/vault/notes/tree.png", headers=bearer(owner)).body == PNG
    for path in ("notes/no.png", "notes/wal.md", "../tokens.json", ".obsidian/a.png", "notes", "", "gone.png"):
        assert served.ask("GET", f"/files/vault/{path}", headers=bearer(owner)).status == 404
    by_name = served.ask("GET", "/files/vault/elsewhere/Tree.PNG", headers=bearer(owner))  # as Obsidian finds it
    assert (by_name.status, by_name.body) == (200, PNG)
    assert served.ask("GET", "/files/other/notes/tree.png", headers=bearer(owner)).status == 404


# --- vault-index open ----------------------------------------------------------------------------------------------


def opened(here: Place, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "vault_index", "--home", str(here.home.data_dir), "open", *options]
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def beside(here: Place) -> Iterator[int]:
    """What `open` started, which nothing else knows of; a small Debian has neither `pkill` nor `ps`."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"--home\0{here.home.data_dir}\0serve\0".encode() in (folder / "cmdline").read_bytes():
                yield int(folder.name)


def test_open_leads_to_the_serve_that_runs(here: Place, served: Served) -> None:
    said = opened(here)
    assert said.returncode == 0, said.stderr
    address, _, code = said.stdout.strip().partition("/#token=")
    assert address == f"http://127.0.0.1:{served.port}"
    assert sign_in(served, {"code": code}).status == 200
    assert "no display" in said.stderr


def test_open_starts_serve_beside_a_port_that_is_taken(tmp_path: Path, served: Served) -> None:
    with place(tmp_path, f'[serve]\nlisten = "127.0.0.1:{served.port}"\n') as other:
        other.daemon()
        assert where_it_serves(other.home.serve_file) == ""
        said = opened(other, "--print")
        address, _, made = said.stdout.strip().partition("/#token=")
        try:
            assert address != f"http://127.0.0.1:{served.port}", said.stderr
            begun = Served(served.process, int(address.rpartition(":")[2]))
            assert sign_in(begun, {"code": made}).status == 200
            assert opened(other, "--print").stdout.startswith(f"{address}/")  # the same again
        finally:
            for process in beside(other):
                os.kill(process, signal.SIGKILL)


def test_open_says_where_there_is_nothing_to_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(tmp_path), "open", "--print"]) != 0
    assert "vault-index init" in capsys.readouterr().err
