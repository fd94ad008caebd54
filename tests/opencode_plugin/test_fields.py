"""What the plugin offers as filters and fields is what vault_index/fields.py declares."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_generated_module_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "build_plugin.py"))
    assert made["FILE"].read_text(encoding="utf-8") == made["module"](), "run: python tools/build_plugin.py"
