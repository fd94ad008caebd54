"""The server registry accepts server.json, checked by a linter that has its schemas."""

import json
from pathlib import Path

from tests.mcp_real.programs import run

ROOT = Path(__file__).parents[2]


def test_server_json_matches_the_registry_schema(tmp_path: Path) -> None:
    told = json.loads((ROOT / "server.json").read_text("utf-8"))
    (tmp_path / "server.json").write_text(json.dumps(told), "utf-8")
    done = run("skillsaw", "lint", tmp_path, home=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "mcp-registry" in done.stdout
    del told["packages"][0]["transport"]
    (tmp_path / "server.json").write_text(json.dumps(told), "utf-8")
    assert run("skillsaw", "lint", tmp_path, home=tmp_path).returncode == 1
