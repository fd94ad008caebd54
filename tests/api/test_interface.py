"""The public interface: what the package exports, and that methods, options and the registry agree."""

import ast
import inspect
from pathlib import Path

import pytest

import vault_index
from vault_index.api import VaultIndex
from vault_index.api.methods import METHODS
from vault_index.fields import FIELDS, FILTERS


@pytest.mark.parametrize("name", vault_index.__all__)
def test_everything_exported_is_there(name: str) -> None:
    assert getattr(vault_index, name) is not None


def test_type_checkers_know_what_is_exported() -> None:
    [block] = [node for node in ast.parse(Path(vault_index.__file__).read_text()).body if isinstance(node, ast.If)]
    known = [alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(map(str, known)) == sorted(vault_index.__all__)


def test_nothing_else_is_exported() -> None:
    with pytest.raises(AttributeError, match="'Nothing'"):
        vault_index.Nothing  # noqa: B018


def public_methods() -> set[str]:
    return {name for name, member in inspect.getmembers(VaultIndex, inspect.isfunction) if not name.startswith("_")}


def test_every_public_method_is_registered() -> None:
    called = {method.call or method.name for method in METHODS.values()}
    called |= {name for method in METHODS.values() for _, name in method.instead}
    assert public_methods() - {"close", "export_json"} == called


@pytest.mark.parametrize("name", sorted(public_methods()))
def test_arguments_are_explicit_keywords(name: str) -> None:
    for parameter in inspect.signature(getattr(VaultIndex, name)).parameters.values():
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)


@pytest.mark.parametrize("name", ["search", "why", "list", "related"])
def test_what_takes_filters_takes_all(name: str) -> None:
    assert {*FILTERS, "by"} <= inspect.signature(getattr(VaultIndex, name)).parameters.keys()


@pytest.mark.parametrize("name", ["add", "update"])
def test_what_writes_a_memory_takes_all_its_fields(name: str) -> None:
    assert {*FIELDS, "by", "bead"} <= inspect.signature(getattr(VaultIndex, name)).parameters.keys()
