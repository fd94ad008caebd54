"""Configuration from the file and the environment: defaults, overrides, refusals."""

import contextlib
import string
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from vault_index.config import Config, Home, find_home, load_config
from vault_index.config.load import from_environment, parse_config
from vault_index.config.schema import SECTIONS, SourceConfig
from vault_index.errors import ConfigError, NotFoundError, NotSetUpError

HOME = Home(Path("/home/ann/c/config.toml"), Path("/home/ann/data"), Path("/run/x"))
VAULT = '[sources.vault]\npath = "/home/ann/Vault"\n'


def parse(text: str, **environ: str) -> Config:
    return parse_config(text, HOME, environ)


def test_parse_needs_only_a_vault() -> None:
    config = parse(VAULT)
    assert config == Config(sources=(SourceConfig(name="vault", path=Path("/home/ann/Vault")),))
    assert config.source("vault").max_file_bytes == 10 * 1024 * 1024
    assert config.chunk.tokens == 400
    with pytest.raises(NotFoundError):
        config.source("other")


def test_parse_resolves_opencode_data_against_home_and_config_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon's working directory differs from the command's."""
    monkeypatch.setenv("HOME", "/home/ben")
    said = {'"../opencode"': ["/home/ann/opencode"], '["~/o/one.db", "/o"]': ["/home/ben/o/one.db", "/o"], '""': []}
    for data, meant in said.items():
        assert parse(f"[sessions.opencode]\ndata = {data}\n").clients["opencode"].data == tuple(meant)


def test_parse_accepts_every_key() -> None:
    config = parse(Path(__file__).with_name("full.toml").read_text("utf-8"))
    source = config.sources[0]
    assert source == SourceConfig(
        name="my-Notes_2",
        path=Path("/home/ann/Notes"),
        include=("Projects/",),
        exclude=("*.draft.md",),
        local_only=True,
        max_file_bytes=1000,
        follow_outside_links=True,
    )
    assert config.embedding.timeout == 5.0
    assert isinstance(config.embedding.timeout, float)
    assert (config.search.match, config.watch.backend, config.watch.reconcile) == ("all", "polling", 0.5)


def test_parse_expands_home_and_local_only_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/bob")
    source = parse('[sources.v]\npath = "~/V/"\nlocal_only = ["private/"]').sources[0]
    assert source.path == Path("/home/bob/V")
    assert source.local_only == ("private/",)
    assert parse('[sources.v]\npath = "/v"\nlocal_only = false').sources[0].local_only == ()


MISTAKES = tomllib.loads(Path(__file__).with_name("mistakes.toml").read_text("utf-8"))


def complaint(text: str, **environ: str) -> tuple[str, str]:
    """Return the message and the hint of a refused configuration."""
    try:
        parse(text, **environ)
    except ConfigError as error:
        return error.message, error.hint
    return "", ""


def test_parse_names_mistakes_in_the_file() -> None:
    missed = [
        (text, message, hint)
        for text, message, hint in MISTAKES["file"]
        for told in [complaint(text.replace("{VAULT}", VAULT))]
        if message not in told[0] or hint not in told[1] or not told[1]
    ]
    assert missed == []


def test_parse_refuses_overlapping_sources_but_not_neighbours(tmp_path: Path) -> None:
    assert len(parse('[sources.a]\npath = "/v"\n[sources.b]\npath = "/v2"\n').sources) == 2
    home = HOME._replace(data_dir=Path("/v/.index"))  # a hidden data folder in the vault
    assert parse_config('[sources.a]\npath = "/v"\n', home, {}).sources
    (tmp_path / "v").mkdir()
    (tmp_path / "link").symlink_to("v")
    with pytest.raises(ConfigError, match="share the folder"):
        parse(f'[sources.a]\npath = "{tmp_path}/v"\n[sources.b]\npath = "{tmp_path}/link"\n')


def test_parse_errors_hide_secrets() -> None:
    secret = "sk-do-not-show-me"
    assert secret not in repr(parse(f'[embedding]\napi_key = "{secret}"\n'))
    for text, environ in ((f'[embedding]\napi_key = ["{secret}"]\n', {}), ("[chunk]\nx = 1\n", {"K": secret})):
        with pytest.raises(ConfigError) as caught:
            parse(text, **environ)
        assert secret not in caught.value.message + caught.value.hint


class TestEnvironment:
    def test_environment_overrides_the_file(self) -> None:
        config = parse(
            f"{VAULT}[chunk]\ntokens = 100\noverlap = 10\n",
            VAULT_INDEX_CHUNK_TOKENS="300",
            VAULT_INDEX_EMBEDDING_PROVIDER="none",
            VAULT_INDEX_WATCH_QUIET="0.5",
        )
        assert (config.chunk.tokens, config.chunk.overlap) == (300, 10)
        assert config.embedding.provider == "none"
        assert config.watch.quiet == 0.5

    def test_environment_mistakes_are_named(self) -> None:
        missed = [
            (name, value, said)
            for name, value, said in MISTAKES["variable"]
            for told in [complaint(VAULT, **{name: value})]
            if name not in told[0] or said not in " ".join(told)
        ]
        assert missed == []

    def test_environment_ignores_other_names_and_empty_values(self) -> None:
        others = dict.fromkeys(("VAULT_INDEX_HOME", "VAULT_INDEX_CONFIG", "VAULT_INDEX_LOG", "VAULT_INDEX_DEMO_X"), "x")
        assert parse(VAULT, **others, VAULT_INDEX_CHUNK_TOKENS="", VAULT_INDEX_CHUNK_X="") == parse(VAULT)


class TestFile:
    def test_load_config_reports_a_missing_file_or_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(NotSetUpError) as caught:
            load_config(find_home(tmp_path), {})
        assert "vault-index init ~/Vault" in caught.value.hint
        (tmp_path / "config.toml").mkdir()
        with pytest.raises(ConfigError, match="cannot read"):
            load_config(find_home(tmp_path), {})

    def test_load_config_accepts_a_byte_order_mark_and_refuses_bad_bytes(self, tmp_path: Path) -> None:
        file = tmp_path / "config.toml"
        file.write_bytes(b"\xef\xbb\xbf[chunk]\r\ntokens = 100\r\noverlap = 0\r\n")
        assert load_config(find_home(tmp_path), {}).chunk.tokens == 100
        file.write_bytes(b"[chunk]\n# \xff\n")
        with pytest.raises(ConfigError, match=r"config\.toml:2: not valid UTF-8"):
            load_config(find_home(tmp_path), {})


@given(st.text(alphabet=string.ascii_lowercase + '[]="\n .#01', max_size=60))
def test_parse_raises_only_config_errors_for_any_text(text: str) -> None:
    with contextlib.suppress(ConfigError):
        assert isinstance(parse(text), Config)


def test_settings_all_have_a_variable_and_a_doc() -> None:
    kinds: list[tuple[str, type[Any]]] = [("", SourceConfig), *SECTIONS]
    for section, kind in kinds:
        for field in fields(kind):
            if field.name != "below":  # `below` is internal, not a setting
                assert field.metadata["doc"].endswith("."), field.name
            if section:
                text = str(getattr(kind(), field.name)) or "x"
                found = from_environment({f"VAULT_INDEX_{section}_{field.name}".upper(): text})
                assert list(found[section]) == [field.name]
