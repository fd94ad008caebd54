"""Checks of names alone."""

from vault_index.sources.names import is_readable_name, parts_of, shown_name


def test_is_readable_name_refuses_names_that_are_not_utf8() -> None:
    assert is_readable_name("café 笔记 🎉")
    assert not is_readable_name("caf\udce9")
    assert shown_name("caf\udce9/x") == "caf\\xe9/x"


def test_parts_of_refuses_paths_that_are_not_plain() -> None:
    for path in ("", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "./a", "a\0b"):
        assert parts_of(path) is None, path
