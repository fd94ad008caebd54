"""`serve` costs nothing to those who do not use it: neither commands nor the daemon import it or its libraries."""

from pathlib import Path

from tests.waiting import PATIENCE
from tests.world import World
from vault_index.callers import Caller, Scope

SERVES = ("vault_index.serve", "starlette", "uvicorn", "h11", "anyio", "sse_starlette", "mcp", "pydantic", "asyncio")
COMMANDS = [["sync"], ["search", "tamarisk"], ["list"], ["get", "wal.md"], ["add", "A text."], ["token", "list"]]
_TELL = """
import atexit, sys
from vault_index.cli import main
atexit.register(lambda: open({file!r}, "w", encoding="utf-8").write("\\n".join(sys.modules)))
"""
"""Python that writes the names of all imported modules at the end."""


def of_serve(file: Path) -> list[str]:
    modules = file.read_text("utf-8").split()
    assert "vault_index.cli" in modules
    return [name for name in modules if name.startswith(SERVES)]


def test_no_command_imports_serve(new_world: World, tmp_path: Path) -> None:
    file, home = tmp_path / "modules", str(new_world.home.data_dir)
    others = f"for words in {COMMANDS!r}: assert main(['--home', {home!r}, *words]) == 0, words"
    process = new_world.process("status", "--json", first=_TELL.format(file=str(file)) + others)
    assert process.wait(PATIENCE) == 0, process.stderr_text()
    assert of_serve(file) == []


def test_daemon_does_not_import_serve_when_it_answers_callers(new_world: World, tmp_path: Path) -> None:
    new_world.first = _TELL.format(file=str(tmp_path / "modules"))
    daemon = new_world.daemon()
    for scope in (Scope(), Scope(folders=("deep",))):
        new_world.ask_for(Caller("anna", scope=scope), "search", query="tamarisk")
    assert daemon.end() == 0
    assert of_serve(tmp_path / "modules") == []
