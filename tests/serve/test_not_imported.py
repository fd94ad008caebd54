"""Who does not use `serve` pays nothing for it: neither the commands nor the daemon import it, or what it stands on."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import vx
from tests.daemon.fake_index import until
from vault_index.callers import Caller, Scope, caller_to_json
from vault_index.cli import main
from vault_index.config import find_home
from vault_index.daemon.client import connect, ping

_TELLS = """
import sys
from vault_index.cli import main
code = main(sys.argv[1:])
print("\\n".join(sorted(sys.modules)), file=open(sys.argv[2], "w", encoding="utf-8"))
sys.exit(code)
"""
SERVES = ("vault_index.serve", "starlette", "uvicorn", "h11", "anyio", "sse_starlette", "mcp", "pydantic", "asyncio")


def of_serve(told: Path) -> list[str]:
    modules = told.read_text("utf-8").split()
    assert "vault_index.cli" in modules
    return [name for name in modules if name.startswith(SERVES)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/a.md").write_text("# Alpha\n\nthe aardvark\n", "utf-8")
    data = tmp_path / "home"
    assert main(["--home", str(data), "init", str(tmp_path / "vault"), "--provider", "none", "--quiet", "--toon"]) == 0
    return data


@pytest.mark.parametrize(
    "command", [["search", "aardvark"], ["list"], ["status"], ["get", "a.md"], ["add", "A text."], ["token", "list"]]
)
def test_no_command_imports_it(home: Path, tmp_path: Path, command: list[str]) -> None:
    told = tmp_path / "modules"
    ended = vx("--home", str(home), *command, "--json", code=_TELLS.replace("sys.argv[2]", repr(str(told))))
    assert ended.returncode == 0, ended.stderr
    assert of_serve(told) == []


def test_the_daemon_imports_it_not_even_for_those_whom_it_serves(home: Path, tmp_path: Path) -> None:
    told = tmp_path / "modules"
    code = _TELLS.replace("sys.argv[2]", repr(str(told)))
    daemon = subprocess.Popen([sys.executable, "-c", code, "--home", str(home), "watch", "--quiet"])
    try:
        until(lambda: ping(find_home(home).socket_path) is not None)
        client = connect(find_home(home).socket_path)
        assert client is not None
        with client:
            for scope in (Scope(), Scope(folders=("deep",))):
                caller = caller_to_json(Caller("anna", scope=scope))
                client.call("served", {"caller": caller, "method": "search", "params": {"query": "aardvark"}})
    finally:
        daemon.terminate()
        daemon.wait(30)
    assert of_serve(told) == []
