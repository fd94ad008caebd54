"""Build the bundle for desktop clients from a wheel: `python tools/build_mcpb.py WHEEL FOLDER`.

It contains our wheel and names the dependencies. The client's own uv installs them for its Python
and machine. Bundles with all dependencies would be for one platform each.
"""

import json
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = """\
[project]
name = "vault-index-bundle"
version = "{version}"
requires-python = ">=3.11"
dependencies = ["vault-indexer"]

[tool.uv]
package = false

[tool.uv.sources]
vault-indexer = {{ path = "{wheel}" }}
"""


def build(wheel: Path, folder: Path) -> Path:
    """The bundle of the wheel's version, in the folder."""
    version = wheel.name.split("-")[1]
    manifest = json.loads((ROOT / "mcpb/manifest.json").read_text("utf-8"))
    if manifest["version"] != version:
        raise SystemExit(f"mcpb/manifest.json is of {manifest['version']}, the wheel of {version}")
    made = folder / f"vault-index-{version}.mcpb"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name in ("mcpb/manifest.json", "mcpb/server.py", "LICENSE", "NOTICE"):
            bundle.write(ROOT / name, Path(name).name)
        bundle.writestr("pyproject.toml", PROJECT.format(version=version, wheel=wheel.name))
        bundle.write(wheel, wheel.name)
    return made


if __name__ == "__main__":
    print(build(Path(sys.argv[1]), Path(sys.argv[2])))
