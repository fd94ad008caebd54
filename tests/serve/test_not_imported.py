"""A daemon does not import `serve`; tests/cli/test_thin.py checks the commands."""

from pathlib import Path

from tests.world import World
from vault_index.callers import Caller, Scope

SERVES = ("vault_index.serve", "starlette", "uvicorn", "h11", "anyio", "sse_starlette", "mcp", "pydantic", "asyncio")
_TELL = """
import atexit, sys
from vault_index.cli import main
atexit.register(lambda: open({file!r}, "w", encoding="utf-8").write("\\n".join(sys.modules)))
"""
"""Python that writes the names of all imported modules at the end."""


def test_daemon_does_not_import_serve_to_answer_callers(new_world: World, tmp_path: Path) -> None:
    new_world.first = _TELL.format(file=str(tmp_path / "modules"))
    daemon = new_world.daemon()
    for scope in (Scope(), Scope(folders=("deep",))):
        new_world.ask_for(Caller("anna", scope=scope), "search", query="tamarisk")
    assert daemon.end() == 0
    modules = (tmp_path / "modules").read_text("utf-8").split()
    assert "vault_index.cli" in modules
    assert [name for name in modules if name.startswith(SERVES)] == []
