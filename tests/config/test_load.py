"""What the configuration file and the environment say, and what is refused."""

import contextlib
import string
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


def test_a_vault_is_enough() -> None:
    config = parse(VAULT)
    assert config == Config(sources=(SourceConfig(name="vault", path=Path("/home/ann/Vault")),))
    assert config.source("vault").max_file_bytes == 10 * 1024 * 1024
    assert config.chunk.tokens == 400
    with pytest.raises(NotFoundError):
        config.source("other")


def test_the_data_of_opencode_lies_where_every_process_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon has another working directory than the command."""
    monkeypatch.setenv("HOME", "/home/ben")
    said = {"../opencode": "/home/ann/opencode", "~/o/one.db": "/home/ben/o/one.db", "/o": "/o", "": ""}
    for data, meant in said.items():
        assert parse(f'[opencode]\ndata = "{data}"\n').clients["opencode"].data == meant


def test_every_key_can_be_set() -> None:
    config = parse(
        """
        [sources.my-Notes_2]
        path = "../Notes"
        kind = "vault"
        include = ["Projects/"]
        exclude = ["*.draft.md"]
        local_only = true
        max_file_bytes = 1000
        follow_outside_links = true
        [chunk]
        tokens = 200
        overlap = 0
        [embedding]
        provider = "openai"
        base_url = "http://localhost:11434/v1"
        timeout = 5
        [search]
        match = "all"
        [watch]
        backend = "polling"
        reconcile = 0.5
        [memory]
        dir = "mem/ories"
        vault = "my-Notes_2"
        """
    )
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


def test_home_folder_and_local_only_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/bob")
    source = parse('[sources.v]\npath = "~/V/"\nlocal_only = ["private/"]').sources[0]
    assert source.path == Path("/home/bob/V")
    assert source.local_only == ("private/",)
    assert parse('[sources.v]\npath = "/v"\nlocal_only = false').sources[0].local_only == ()


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[chunk\n", "config.toml:1: not valid TOML", ""),
        (f"{VAULT}[chunk]\ntokens = \n", "config.toml:4: not valid TOML", ""),
        ("[embeding]\n", "config.toml:1: unknown section [embeding]", "'embedding'"),
        ("[source.x]\n", "unknown section [source]", "'sources'"),
        ("tokens = 3\n", "config.toml:1: unknown section [tokens]", ""),
        (f"{VAULT}\n[chunk]\ntoken = 3\n", "config.toml:5: unknown key 'token' in [chunk]", "'tokens'"),
        (f'{VAULT}exclud = ["a"]\n', "config.toml:3: unknown key 'exclud' in [sources.vault]", "'exclude'"),
        ("[chunk]\nzzz = 3\n", "unknown key 'zzz'", "config list"),
        ("chunk = 3\n", "chunk must be a section", ""),
        ("sources = 3\n", "sources must be sections", ""),
        ("[sources]\nvault = 3\n", "sources.vault must be a section", ""),
        ('[chunk]\ntokens = "many"\n', "config.toml:2: chunk.tokens must be a whole number", ""),
        ("[chunk]\ntokens = true\n", "must be a whole number", ""),
        ("[chunk]\ntokens = 400.0\n", "must be a whole number", ""),
        ("[chunk]\ntokens = 49\n", "must be between 50 and 8000, not 49", ""),
        ("[chunk]\ntokens = 8001\n", "must be between 50 and 8000", ""),
        ("[chunk]\noverlap = -1\n", "must be 0 or more", ""),
        ("[chunk]\ntokens = 100\noverlap = 50\n", "less than half", "20"),
        ('[embedding]\nprovider = "opnai"\n', "did you mean 'openai'?", ""),
        ('[embedding]\nbase_url = "localhost"\n', "http://", "11434"),
        ("[embedding]\ntimeout = nan\n", "must be between", ""),
        ('[watch]\nbackend = "inotify"\n', "must be one of auto, native, polling", ""),
        ("[watch]\nquiet = 3\nlongest = 2\n", "watch.longest", ""),
        ('[memory]\ndir = "/abs"\n', "inside the vault", ""),
        ('[memory]\ndir = "../up"\n', "inside the vault", ""),
        ('[memory]\ndir = ""\n', "inside the vault", ""),
        (f'{VAULT}[memory]\nvault = "valt"\n', "which is no source", "'vault'"),
        ('[memory]\narchive_after = "soon"\n', "'soon'", "365 days"),
        ('[memory]\narchive_after = "0 days"\n', "no length of time", "365 days"),
        ('[memory]\ncapture_tags = ["stripe"]\n', "'stripe' names no tag", "billing: invoice"),
        ('[memory]\ncapture_tags = ["#: stripe"]\n', "names no tag", "billing: invoice"),
        ("[sources.vault]\n", "has no path", "path ="),
        ('[sources.vault]\npath = ""\n', "must be a folder", ""),
        ("[sources.vault]\npath = 3\n", "must be a folder", ""),
        ('[sources."a b"]\npath = "/v"\n', "the source name 'a b'", "a-b"),
        ('[sources.v]\npath = "/v"\nexclude = "x"\n', "must be a list of texts", ""),
        ('[sources.v]\npath = "/v"\nexclude = [1]\n', "must be a list of texts", ""),
        ('[sources.v]\npath = "/v"\nlocal_only = "x"\n', "or true for everything", ""),
        ('[sources.v]\npath = "/v"\nkind = "vualt"\n', "did you mean 'vault'?", ""),
        ('[sources.a]\npath = "/v"\n[sources.b]\npath = "/v/"\n', "share the folder", ""),
        ('[sources.a]\npath = "/v"\n[sources.b]\npath = "/v/in"\n', "share the folder /v/in", ""),
        ('[sources.a]\npath = "/home/ann/data"\n', "lies in the data folder", "--home"),
        ('[sources.a]\npath = "/home/ann/data/v"\n', "lies in the data folder", "--home"),
        ('[sources.a]\npath = "/home/ann"\n', "lies inside the vault", "--home"),
    ],
)
def test_mistakes_are_named(text: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.hint


def test_folders_of_sources_may_be_neighbours_and_may_not_overlap(tmp_path: Path) -> None:
    assert len(parse('[sources.a]\npath = "/v"\n[sources.b]\npath = "/v2"\n').sources) == 2
    home = HOME._replace(data_dir=Path("/v/.index"))  # a hidden data folder in the vault
    assert parse_config('[sources.a]\npath = "/v"\n', home, {}).sources
    (tmp_path / "v").mkdir()
    (tmp_path / "link").symlink_to("v")
    with pytest.raises(ConfigError, match="share the folder"):
        parse(f'[sources.a]\npath = "{tmp_path}/v"\n[sources.b]\npath = "{tmp_path}/link"\n')


def test_secrets_are_not_repeated() -> None:
    secret = "sk-do-not-show-me"
    assert secret not in repr(parse(f'[embedding]\napi_key = "{secret}"\n'))
    for text, environ in ((f'[embedding]\napi_key = ["{secret}"]\n', {}), ("[chunk]\nx = 1\n", {"K": secret})):
        with pytest.raises(ConfigError) as caught:
            parse(text, **environ)
        assert secret not in caught.value.message + caught.value.hint


class TestEnvironment:
    def test_it_overrides_the_file(self) -> None:
        config = parse(
            f"{VAULT}[chunk]\ntokens = 100\noverlap = 10\n",
            VAULT_INDEX_CHUNK_TOKENS="300",
            VAULT_INDEX_EMBEDDING_PROVIDER="none",
            VAULT_INDEX_WATCH_QUIET="0.5",
        )
        assert (config.chunk.tokens, config.chunk.overlap) == (300, 10)
        assert config.embedding.provider == "none"
        assert config.watch.quiet == 0.5

    @pytest.mark.parametrize(
        ("name", "value", "said"),
        [
            ("VAULT_INDEX_EMBEDDING_PROVIDR", "x", "did you mean VAULT_INDEX_EMBEDDING_PROVIDER?"),
            ("VAULT_INDEX_EMBEDING_PROVIDER", "x", "did you mean VAULT_INDEX_EMBEDDING_PROVIDER?"),
            ("VAULT_INDEX_CHUNK_X", "x", "unset VAULT_INDEX_CHUNK_X"),
            ("VAULT_INDEX_CHUNK_TOKENS", "many", "must be a whole number"),
            ("VAULT_INDEX_CHUNK_TOKENS", "9", "between 50 and 8000"),
            ("VAULT_INDEX_EMBEDDING_PROVIDER", "opnai", "did you mean 'openai'?"),
            ("VAULT_INDEX_EMBEDDING_TIMEOUT", "soon", "must be a number"),
            ("VAULT_INDEX_SOURCES_VAULT_PATH", "/v", "source add"),
        ],
    )
    def test_mistakes_are_named(self, name: str, value: str, said: str) -> None:
        with pytest.raises(ConfigError) as caught:
            parse(VAULT, **{name: value})
        assert name in caught.value.message
        assert said in f"{caught.value.message} {caught.value.hint}"

    def test_other_names_and_empty_ones_are_left_alone(self) -> None:
        others = dict.fromkeys(("VAULT_INDEX_HOME", "VAULT_INDEX_CONFIG", "VAULT_INDEX_LOG", "VAULT_INDEX_DEMO_X"), "x")
        assert parse(VAULT, **others, VAULT_INDEX_CHUNK_TOKENS="", VAULT_INDEX_CHUNK_X="") == parse(VAULT)


class TestFile:
    def test_a_missing_file_or_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(NotSetUpError) as caught:
            load_config(find_home(tmp_path), {})
        assert "vault-index init ~/Vault" in caught.value.hint
        (tmp_path / "config.toml").mkdir()
        with pytest.raises(ConfigError, match="cannot read"):
            load_config(find_home(tmp_path), {})

    def test_byte_order_mark_and_bad_bytes(self, tmp_path: Path) -> None:
        file = tmp_path / "config.toml"
        file.write_bytes(b"\xef\xbb\xbf[chunk]\r\ntokens = 100\r\noverlap = 0\r\n")
        assert load_config(find_home(tmp_path), {}).chunk.tokens == 100
        file.write_bytes(b"[chunk]\n# \xff\n")
        with pytest.raises(ConfigError, match=r"config\.toml:2: not valid UTF-8"):
            load_config(find_home(tmp_path), {})


@given(st.text(alphabet=string.ascii_lowercase + '[]="\n .#01', max_size=60))
def test_any_text_is_a_configuration_or_a_config_error(text: str) -> None:
    with contextlib.suppress(ConfigError):
        assert isinstance(parse(text), Config)


def test_every_setting_has_a_variable_and_a_doc() -> None:
    kinds: list[tuple[str, type[Any]]] = [("", SourceConfig), *SECTIONS]
    for section, kind in kinds:
        for field in fields(kind):
            if field.name != "below":  # what is cut out of a source is no setting
                assert field.metadata["doc"].endswith("."), field.name
            if section:
                text = str(getattr(kind(), field.name)) or "x"
                found = from_environment({f"VAULT_INDEX_{section}_{field.name}".upper(): text})
                assert list(found[section]) == [field.name]
