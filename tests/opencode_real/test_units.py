"""The TypeScript alone: plugin.test.ts, run by OpenCode's own Bun, and the API for other plugins."""

import json
import os
import subprocess
from pathlib import Path

from tests.opencode_real.client import Place
from tests.waiting import PATIENCE

HERE = Path(__file__).parent


def bun(*words: str, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [os.environ["OPENCODE_BIN"], *words],
        env=env | {"BUN_BE_BUN": "1"},
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_plugin_typescript_tests_pass() -> None:
    done = bun("test", "./plugin.test.ts", env=dict(os.environ))
    assert done.returncode == 0, done.stderr


def test_plugin_api_stores_searches_and_extracts_for_other_plugins(place: Place) -> None:
    file = place.folder / "user/.config/opencode/plugin/other.ts"
    file.write_text(
        """
import { extractRemember, search, store } from "./vault-index/api.ts"
const stored = await store("Tariffs change in spring.", { type: "pattern", tags: ["tax"] })
const found = await search("when do tariffs change", { limit: 1 })
const extracted = await extractRemember("*Remember*: Boxes are counted.", { agentName: "build", currentTask: "count" })
console.log(JSON.stringify({ stored, found, extracted }))
""",
        encoding="utf-8",
    )
    with place.daemon():
        done = bun("run", str(file), env=place.env)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["found"]["results"][0]["id"] == said["stored"]["id"]
    assert said["extracted"]["results"][0]["outcome"] == "would be created"
    assert [path for path in place.memories if "boxes" in path.name] == []
