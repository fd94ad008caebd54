"""Answers are imported by their names alone, wherever their classes stand."""

from dataclasses import is_dataclass
from importlib import import_module
from pkgutil import iter_modules

from vault_index import results


def test_every_answer_is_found_by_its_name() -> None:
    for found in iter_modules(results.__path__):
        module = import_module(f"{results.__name__}.{found.name}")
        made = {name: value for name, value in vars(module).items() if is_dataclass(value)}
        assert made
        assert made == {name: getattr(results, name, None) for name in made}


def test_what_is_no_answer_is_not_found() -> None:
    assert not hasattr(results, "Nothing")
