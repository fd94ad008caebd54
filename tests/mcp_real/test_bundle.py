"""The bundle packer accepts our bundle: the manifest and the archive."""

import json
import runpy
import zipfile
from pathlib import Path

from tests.mcp_real.programs import run
from vault_index.version import __version__

ROOT = Path(__file__).parents[2]


def test_bundle_is_unpacked_and_repacked_by_the_packer(tmp_path: Path) -> None:
    wheel = tmp_path / f"vault_index-{__version__}-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    bundle = runpy.run_path(str(ROOT / "tools/build_mcpb.py"))["build"](wheel, tmp_path)
    again = tmp_path / "again.mcpb"
    for words in (("unpack", bundle, "unpacked"), ("validate", "unpacked"), ("pack", "unpacked", again)):
        done = run("mcpb", *words, home=tmp_path, cwd=tmp_path)
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    with zipfile.ZipFile(bundle) as ours, zipfile.ZipFile(again) as theirs:
        assert {name: ours.read(name) for name in ours.namelist()} == {
            name: theirs.read(name) for name in theirs.namelist()
        }
        manifest = json.loads(ours.read("manifest.json"))
    assert manifest["server"]["entry_point"] in manifest["server"]["mcp_config"]["args"]
