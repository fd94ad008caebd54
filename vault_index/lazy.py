"""Import the names of a package on first use (PEP 562)."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def lazy_names(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package; `names` maps each module to its names."""

    def load(name: str) -> Any:
        for module, listed in names.items():
            if name in listed:
                from importlib import import_module

                found = getattr(import_module(f"{package}.{module}"), name)
                setattr(sys.modules[package], name, found)  # the next use finds it at once
                return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load
