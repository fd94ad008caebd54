"""A call stays within few modules, so that a reader can follow it."""

import runpy
from pathlib import Path

FLOW = Path(__file__).parents[1] / "tools" / "flow.py"


def test_flow_of_a_call_enters_few_modules() -> None:
    tool = runpy.run_path(str(FLOW))
    for call, modules in tool["entered"]().items():
        assert 0 < len(modules) <= tool["MOST"][call], f"{call} enters {', '.join(modules)}"
