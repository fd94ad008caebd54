"""Names of a package that are imported with their module when they are first asked for (PEP 562)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def lazy_names(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package; `names` are those of each of its modules."""

    def load(name: str) -> Any:
        for module, listed in names.items():
            if name in listed:
                from importlib import import_module

                return getattr(import_module(f"{package}.{module}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load
