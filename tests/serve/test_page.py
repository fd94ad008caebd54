"""The base of the page: its files, the methods of its owner, and the command that opens it."""

import contextlib
import gzip
import hmac
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

from tests.waiting import PATIENCE
from tests.world import Answered, Served, World, bearer
from vault_index.access import Tokens, page_key
from vault_index.callers import Caller, Scope
from vault_index.cli import main
from vault_index.serve.address import published_address

JSON = {"Content-Type": "application/json"}


def sign_in_code(world: World) -> bytes:
    """Return the body that a page sends to sign in, with a code as `vault-index open` makes it."""
    caller = Caller(f"page-{time.monotonic_ns()}", writes=True, owner=True)
    made = Tokens(world.home.tokens_file).add(caller, created=time.time(), expires=time.time() + 300, once=True)
    return json.dumps({"code": made}).encode()


@pytest.fixture(scope="module")
def owner(world: World, served: Served) -> str:
    return served.signed(served.ask("POST", "/signin", sign_in_code(world), JSON).json["key"])


def ask(served: Served, name: str, token: str, **params: Any) -> Answered:
    return served.ask("POST", f"/page/{name}", json.dumps(params).encode(), bearer(token))


def test_page_files_need_no_token(served: Served) -> None:
    answer = served.ask("GET", "/")  # with Accept-Encoding: identity
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for accepted in ("br, GZIP;q=0.5", "gzip;q=0, *"):
        packed = served.ask("GET", "/", headers={"Accept-Encoding": accepted})
        assert (gzip.decompress(packed.body) if "GZIP" in accepted else packed.body) == answer.body
    named = re.findall(r'(?:src|href)="(/[^"]+)"', answer.body.decode())
    assert len(named) > 5
    for path in named:
        file = served.ask("GET", path)
        assert (file.status, file.headers["x-content-type-options"]) == (200, "nosniff"), path
        etag = {"If-None-Match": file.headers["etag"]}
        assert (served.ask("GET", path, headers=etag).status, served.ask("HEAD", path).status) == (304, 200)


def test_page_key_is_valid_for_one_run_and_port(world: World, served: Served) -> None:
    caller = Caller("page", writes=True, owner=True)
    token = Tokens(world.home.tokens_file).add(caller, created=time.time(), expires=time.time() + 300)
    here, elsewhere = (page_key(token, str(served.port + more)) for more in (0, 1))
    other_run = hmac.digest(bytes.fromhex(here), b"0" * 64, "sha256").hex()
    for signed, status in ((served.signed(here), 200), (other_run, 401), (served.signed(elsewhere), 401)):
        assert ask(served, "about", signed).status == status


def test_page_files_contact_no_other_server_and_write_no_html() -> None:
    import vault_index.serve.page

    site = Path(vault_index.serve.page.__file__).parent / "site"
    texts = {path: path.read_text("utf-8") for path in site.rglob("*") if path.suffix in (".js", ".css", ".html")}
    own = {path: text for path, text in texts.items() if "vendor" not in path.parts}
    assert len(own) > 8
    for path, text in own.items():
        found = re.findall(r"https?://(?!x/|www\.w3\.org)[\w.]+|innerHTML|\beval\(|new Function|dangerouslySet", text)
        assert found == [], path


def test_page_methods_are_for_the_owner_only(world: World, served: Served, owner: str) -> None:
    for scope in (Scope(), Scope(sources=("vault",))):
        token = world.token(f"writer-{len(scope.sources)}", writes=True, scope=scope)
        for name in ("about", "read", "tokens", "disk", "sent", "values", "around"):
            refused = ask(served, name, token, ref="notes/wal.md")
            assert (refused.status, "vault-index open" in refused.json["error"]["hint"]) == (403, True), name
        assert served.call("file_status", token, ref="notes/wal.md").status == 404
        assert served.call("doctor", token, recall=True).status in (400, 403)
    for name in ("tokens", "disk", "about", "sent"):
        assert ask(served, name, owner).status == 200, name


def test_page_owner_may_use_local_methods(world: World, served: Served, owner: str) -> None:
    about = ask(served, "about", owner).json
    assert about["sources"] == [{"name": "vault", "kind": "vault", "path": str(world.vault)}]
    assert served.call("file_status", owner, ref="notes/wal.md").status == 200
    assert served.call("search", owner, query="tamarisk", directory=str(world.vault)).status == 200
    for name in ("import", "export", "sync", "rebuild", "forget"):
        assert served.call(name, owner).status == 404


def test_page_disk_lists_the_sizes_of_files(world: World, served: Served, owner: str) -> None:
    world.home.sessions_dir.mkdir()
    (world.home.sessions_dir / "one").write_bytes(b"x" * 70_000)
    told = ask(served, "disk", owner).json
    sizes = {row["name"]: row["bytes"] for row in told["results"]}
    assert sizes["kept sessions"] == 70_000
    assert sizes["index"] >= world.home.index_db.stat().st_size > 0
    assert {"index", "state", "kept sessions", "other"} <= sizes.keys()
    assert told["total"] == sum(sizes.values())


_OPEN = f"""
import sys
import vault_index.cli.serve
from vault_index.cli import main
vault_index.cli.serve._START_SECONDS = {PATIENCE}
sys.exit(main(sys.argv[1:]))
"""


def opened(world: World, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _OPEN, "--home", str(world.home.data_dir), "open", *options]
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def begun_by_open(world: World) -> Iterator[int]:
    """Yield the processes that `open` started; a small Debian has neither `pkill` nor `ps`."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"--home\0{world.home.data_dir}\0serve\0".encode() in (folder / "cmdline").read_bytes():
                yield int(folder.name)


def test_open_prints_the_address_of_serve_with_a_short_lived_code(world: World, served: Served) -> None:
    said = opened(world)
    assert said.returncode == 0, said.stderr
    assert "No display" in said.stderr
    address, _, code = said.stdout.strip().partition("/#token=")
    assert address == f"http://127.0.0.1:{served.port}"
    kept = max(json.loads(world.home.tokens_file.read_bytes())["tokens"], key=lambda token: float(token["created"]))
    assert kept["once"]
    assert kept["expires"] - kept["created"] <= 600
    assert world.home.tokens_file.stat().st_mode & 0o077 == 0
    assert served.ask("POST", "/signin", json.dumps({"code": code}).encode(), JSON).status == 200


def test_open_starts_serve_on_another_port_if_one_is_taken(new_world: World, served: Served) -> None:
    new_world.more = f'[serve]\nlisten = "127.0.0.1:{served.port}"\n'
    new_world.configure()
    new_world.daemon()
    assert published_address(new_world.home.serve_file) == ""
    said = opened(new_world, "--print")
    address, _, code = said.stdout.strip().partition("/#token=")
    try:
        assert address != f"http://127.0.0.1:{served.port}", said.stderr
        begun = Served(served.process, int(address.rpartition(":")[2]))
        assert begun.ask("POST", "/signin", json.dumps({"code": code}).encode(), JSON).status == 200
        assert opened(new_world, "--print").stdout.startswith(f"{address}/")  # the same again
    finally:
        for process in begun_by_open(new_world):
            os.kill(process, signal.SIGKILL)


def test_open_reports_a_missing_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(tmp_path), "open", "--print"]) != 0
    assert "vault-index init" in capsys.readouterr().err
