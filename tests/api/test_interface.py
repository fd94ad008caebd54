"""The public interface: what the package exports, and that methods, options and the registry agree."""

import inspect
from collections.abc import Sequence

import pytest

import vault_index
from vault_index.api import VaultIndex
from vault_index.api.methods import METHODS
from vault_index.fields import FIELDS, FILTERS


def test_package_exports_exactly_its_all() -> None:
    assert [name for name in vault_index.__all__ if getattr(vault_index, name, None) is None] == []
    with pytest.raises(AttributeError, match="'Nothing'"):
        vault_index.Nothing  # noqa: B018


def public_methods() -> set[str]:
    return {name for name, member in inspect.getmembers(VaultIndex, inspect.isfunction) if not name.startswith("_")}


def test_registry_contains_every_public_method() -> None:
    called = {method.call or method.name for method in METHODS.values()}
    called |= {name for method in METHODS.values() for _, name in method.instead}
    assert public_methods() - {"close", "export_json"} == called


@pytest.mark.parametrize(
    ("names", "taken"),
    [(("search", "why", "list", "related"), {*FILTERS, "by"}), (("add", "update"), {*FIELDS, "by", "bead"})],
)
def test_api_methods_take_all_filters_or_all_fields(names: Sequence[str], taken: set[str]) -> None:
    for name in names:
        assert taken <= inspect.signature(getattr(VaultIndex, name)).parameters.keys()
