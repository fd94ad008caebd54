"""Filters and fields of the plugin match vault_index/fields.py."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_plugin_generated_module_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "build_plugin.py"))
    assert made["FILE"].read_text(encoding="utf-8") == made["module"](), "run: python tools/build_plugin.py"
