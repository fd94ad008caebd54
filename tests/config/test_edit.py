"""Editing the file: comments stay, invalid values are refused, secrets are masked."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from vault_index.config import Home, find_home, load_config
from vault_index.config.edit import (
    add_source,
    create_config,
    delete_value,
    get_value,
    list_values,
    masked,
    remove_source,
    set_value,
)
from vault_index.errors import ConfigError, NotFoundError, NotSetUpError, UsageError, VaultIndexError


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "My Vault"
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path: Path, vault: Path) -> Home:
    places = find_home(tmp_path / "home", environ={})
    create_config(places, vault)
    return places


def text(home: Home) -> str:
    return home.config_file.read_text(encoding="utf-8")


class TestCreate:
    def test_create_config_writes_a_private_file(self, home: Home, vault: Path) -> None:
        assert load_config(home, {}).source("my-vault").path == vault
        assert home.config_file.stat().st_mode & 0o777 == 0o600
        assert home.config_file.parent.stat().st_mode & 0o777 == 0o700
        assert os.listdir(home.config_file.parent) == ["config.toml"]

    def test_create_config_again_changes_nothing(self, home: Home, vault: Path) -> None:
        before = text(home)
        done = create_config(home, vault)
        assert (done.source, done.created, done.added) == ("My-Vault", False, False)
        assert text(home) == before

    def test_create_config_adds_another_vault_as_a_source(self, home: Home, tmp_path: Path) -> None:
        other, odd = tmp_path / "deep" / "My Vault", tmp_path / 'a "quoted" \\ 笔记\n'
        for folder in (other, odd):
            folder.mkdir(parents=True)
        done = create_config(home, other)
        assert (done.source, done.created, done.added) == ("My-Vault-2", False, True)
        create_config(home, odd)
        assert [source.path for source in load_config(home, {}).sources][1:] == [other, odd]

    def test_create_config_takes_provider_and_memory_dir(self, tmp_path: Path, vault: Path, home: Home) -> None:
        for places in (find_home(tmp_path / "fresh", environ={}), home):
            create_config(places, vault, provider="none", memory_dir='Odd "name"')
            config = load_config(places, {})
            assert (config.embedding.provider, config.memory.dir) == ("none", 'Odd "name"')

    def test_create_config_refusals_write_nothing(self, tmp_path: Path, vault: Path, home: Home) -> None:
        fresh, before = find_home(tmp_path / "fresh", environ={}), text(home)
        fresh.data_dir.parent.joinpath("file").touch()
        (tmp_path / os.fsdecode(b"caf\xe9")).mkdir()
        home.data_dir.mkdir(exist_ok=True)
        for folder, provider, error in (
            (tmp_path / "nowhere", None, "there is no folder"),
            (tmp_path / "file", None, "is a file"),
            (tmp_path / os.fsdecode(b"caf\xe9"), None, "not valid UTF-8"),
            (vault, "magic", "must be one of"),
            (tmp_path, None, "lies inside the vault"),
        ):
            with pytest.raises(UsageError, match=error):
                create_config(fresh, folder, provider=provider)
        assert not fresh.data_dir.exists()
        with pytest.raises(ConfigError, match="lies in the data folder"):
            create_config(home, home.data_dir, provider="none")
        assert text(home) == before


class TestSet:
    def test_set_value_parses_by_type(self, home: Home) -> None:
        for key, given_text, value in (
            ("chunk.tokens", "300", 300),
            ("embedding.timeout", "2", 2.0),
            ("sources.My-Vault.exclude", '["a/", "b, c"]', ["a/", "b, c"]),
            ("sources.My-Vault.exclude", "a/, b", ["a/", "b"]),
            ("sources.My-Vault.local_only", "true", True),
            ("sources.My-Vault.local_only", "private/", ["private/"]),
            ("sources.My-Vault.follow_outside_links", "yes", True),
        ):
            set_value(home, key, given_text)
            assert get_value(home, key, environ={}) == value, key
            assert {one.key: one.origin for one in list_values(home, {})}[key] == "file"

    def test_set_value_keeps_comments_and_order(self, home: Home) -> None:
        home.config_file.write_text(
            '# top\n[embedding]\n# which\nprovider = "local"  # mine\n\n[sources.v]\npath = "/v"\n', encoding="utf-8"
        )
        set_value(home, "embedding.provider", "none")
        assert text(home) == ('# top\n[embedding]\n# which\nprovider = "none"  # mine\n\n[sources.v]\npath = "/v"\n')

    def test_set_value_refuses_invalid_values_and_writes_nothing(self, home: Home) -> None:
        before = text(home)
        for key, value, error in (
            ("chunk.tokens", "9", "between 50"),
            ("chunk.overlap", "300", "less than half"),
            ("chunk.tokns", "300", "no setting"),
            ("sources.other.exclude", "x", "no source is named"),
            ("sources.My-Vault.exclude", "[", "must be a list"),
            ("sources.My-Vault.follow_outside_links", "maybe", "true or false"),
            ("memory.vault", "other", "not a source"),
        ):
            with pytest.raises(VaultIndexError, match=error):
                set_value(home, key, value)
        assert text(home) == before
        home.config_file.write_text("[chunk]\ntokens = = 3\n", encoding="utf-8")
        with pytest.raises(ConfigError, match=r"config\.toml:2"):
            set_value(home, "chunk.tokens", "300")
        home.config_file.unlink()
        with pytest.raises(NotSetUpError):
            set_value(home, "chunk.tokens", "300")

    def test_set_value_keeps_a_symlink(self, home: Home, tmp_path: Path) -> None:
        real = tmp_path / "dotfiles" / "vault-index.toml"
        real.parent.mkdir()
        home.config_file.rename(real)
        home.config_file.symlink_to(real)
        set_value(home, "chunk.tokens", "300")
        assert home.config_file.is_symlink()
        assert "tokens = 300" in real.read_text(encoding="utf-8")

    def test_set_value_reports_a_read_only_folder(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*args: object) -> None:
            raise OSError(errno.EROFS, "Read-only file system")

        before = text(home)
        monkeypatch.setattr(os, "replace", refuse)
        with pytest.raises(VaultIndexError, match="Read-only file system") as caught:
            set_value(home, "chunk.tokens", "300")
        assert "home-manager" in caught.value.hint
        assert text(home) == before
        assert os.listdir(home.config_file.parent) == ["config.toml"]


class TestDelete:
    def test_delete_value_restores_the_default(self, home: Home) -> None:
        set_value(home, "chunk.tokens", "300")
        assert delete_value(home, "chunk.tokens")
        assert not delete_value(home, "chunk.tokens")
        assert "[chunk]" not in text(home)
        assert get_value(home, "chunk.tokens", environ={}) == 400

    def test_delete_value_removes_an_unknown_key(self, home: Home) -> None:
        with open(home.config_file, "a", encoding="utf-8") as file:
            file.write("[chunk]\ntokns = 3\n")
        with pytest.raises(ConfigError):
            load_config(home, {})
        assert delete_value(home, "chunk.tokns")
        assert load_config(home, {})

    def test_add_source_refuses_conflicts_and_writes_nothing(self, home: Home) -> None:
        before = text(home)
        for key in ("sources.My-Vault.path", "sources.my-vault", "chunk.tokns", "sources"):
            with pytest.raises(UsageError):
                delete_value(home, key)
        assert text(home) == before


class TestSources:
    def test_add_source_and_remove_source_edit_the_file(self, home: Home, tmp_path: Path) -> None:
        (tmp_path / "Work").mkdir()
        source = add_source(home, "", tmp_path / "Work", {"exclude": ("a/",), "local_only": True})
        assert (source.name, source.exclude, source.local_only) == ("Work", ("a/",), True)
        set_value(home, "memory.vault", "work")
        remove_source(home, "work")
        assert [one.name for one in load_config(home, {}).sources] == ["My-Vault"]
        with pytest.raises(NotFoundError):
            remove_source(home, "work")

    def test_add_source_refuses_conflicts_and_writes_nothing(self, home: Home, vault: Path, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        (vault / "inner").mkdir()
        before = text(home)
        for name, folder, settings in (
            ("my-vault", tmp_path / "other", {}), ("a b", tmp_path / "other", {}), ("again", vault, {}),
            ("inner", vault / "inner", {}), ("x", tmp_path / "nowhere", {}),
            ("x", tmp_path / "other", {"exclud": ["x"]}),
        ):  # fmt: skip
            with pytest.raises(UsageError):
                add_source(home, name, folder, settings)
        assert text(home) == before


def test_list_values_reports_origins(home: Home) -> None:
    set_value(home, "chunk.tokens", "300")
    environ = {"VAULT_INDEX_CHUNK_TOKENS": "200", "VAULT_INDEX_SEARCH_LIMIT": "5"}
    found = {one.key: (one.value, one.origin) for one in list_values(home, environ)}
    assert found["chunk.tokens"] == (200, "environment")
    assert found["search.limit"] == (5, "environment")
    assert found["embedding.provider"] == ("local", "file")
    assert found["chunk.overlap"] == (80, "default")


def test_list_values_masks_secrets_and_url_passwords(home: Home) -> None:
    url = "https://me:hunter2@gate.example:8443/v1?key=s3cret&v=2"
    for key, value, shown in (
        ("embedding.api_key", "sk-proj-0123456789abcdef", "sk-…cdef"),
        ("embedding.base_url", url, "https://…@gate.example:8443/v1?key=…&v=…"),
    ):
        set_value(home, key, value)
        assert get_value(home, key, environ={}) == shown
        assert {one.key: one.value for one in list_values(home, {})}[key] == shown
    embedding = load_config(home, {}).embedding
    assert (embedding.api_key, embedding.base_url) == ("sk-proj-0123456789abcdef", url)


@given(st.text(max_size=80))
def test_masked_shows_at_most_the_last_four_characters(secret: str) -> None:
    shown = masked(secret)
    assert bool(shown) == bool(secret)
    assert len(shown.removeprefix("sk-").replace("…", "")) <= 4 or "…" in secret
    if secret and len(secret) < 16:
        assert shown == "…"


def test_config_errors_hide_url_passwords(home: Home) -> None:
    value = "ftp://me:hunter2@gate.example"
    with pytest.raises(VaultIndexError) as caught:
        set_value(home, "embedding.base_url", value)
    assert "hunter2" not in f"{caught.value} {caught.value.hint}"
    home.config_file.write_text(f"[embedding]\nbase_url = ['{value}']\n", "utf-8")
    with pytest.raises(VaultIndexError) as caught:
        load_config(home, {})
    assert "hunter2" not in f"{caught.value} {caught.value.hint}"


def test_config_variables_configure_session_clients(home: Home) -> None:
    environ = {
        "VAULT_INDEX_SESSIONS_MIRROR": "talks", "VAULT_INDEX_SESSIONS_OPENCODE_ENABLED": "false",
        "VAULT_INDEX_SESSIONS_CLAUDE_CODE_INCLUDE": "diffs", "VAULT_INDEX_SESSIONS_KEEP_DAYS": "9",
    }  # fmt: skip
    config = load_config(home, environ)
    assert (config.sessions.mirror, config.sessions.keep_days) == ("talks", 9)
    assert (config.clients["opencode"].enabled, config.clients["claude-code"].include) == (False, ("diffs",))
    assert config.configured == {"opencode", "claude-code"}
    misspelt = {
        "SESSIONS_CLAUDE_CODE_INCLUD": "SESSIONS_CLAUDE_CODE_INCLUDE",
        "OPENCODE_DATA": "SESSIONS_OPENCODE_DATA",
    }
    for wrong, meant in misspelt.items():
        with pytest.raises(ConfigError) as caught:
            load_config(home, {f"VAULT_INDEX_{wrong}": "diffs"})
        assert caught.value.hint == f"did you mean VAULT_INDEX_{meant}?"


def test_config_allows_a_vault_named_after_an_unconfigured_client(home: Home, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    add_source(home, "codex", tmp_path / "other")
    assert not load_config(home, {}).clients["codex"].enabled
    with pytest.raises(ConfigError, match="'codex' is reserved for the sessions of Codex"):
        set_value(home, "sessions.codex.enabled", "true")
