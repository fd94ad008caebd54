import pytest

from tests.tables import tables
from vault_index.config import EmbeddingConfig
from vault_index.embeddings.access import base_url, endpoint, find_key, proxy_for
from vault_index.errors import ConfigError, EmbedderRefused

CASES = tables(__file__)

OLLAMA = "http://localhost:11434/v1"


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("", "https://api.openai.com/v1"),
        (OLLAMA, OLLAMA),
        ("https://me:secret@gate.example:8443/v1?key=secret#x", "https://gate.example:8443/v1"),
    ],
)
def test_endpoint_hides_secrets_of_the_url(setting: str, expected: str) -> None:
    assert endpoint(EmbeddingConfig(base_url=setting)) == expected


@pytest.mark.parametrize("setting", ["localhost:11434", "ftp://x/v1", "http://", "http://[::1", "http://x:999999/v1"])
def test_base_url_refuses_an_invalid_address(setting: str) -> None:
    with pytest.raises(ConfigError) as caught:
        base_url(EmbeddingConfig(base_url=setting))
    assert "http://localhost:11434/v1" in caught.value.hint


@pytest.mark.parametrize(
    ("config", "environ", "key"),
    [
        (EmbeddingConfig(api_key="sk-set", api_key_command="echo sk-cmd"), {"OPENAI_API_KEY": "sk-env"}, "sk-set"),
        (EmbeddingConfig(api_key_command="echo sk-cmd"), {"OPENAI_API_KEY": "sk-env\n"}, "sk-env"),
        (EmbeddingConfig(api_key_env="MY_KEY"), {"MY_KEY": "sk-mine", "OPENAI_API_KEY": "sk-env"}, "sk-mine"),
        (EmbeddingConfig(api_key_env="", base_url=OLLAMA), {"OPENAI_API_KEY": "sk-env"}, "none"),
        (EmbeddingConfig(base_url=OLLAMA), {}, "none"),
    ],
)
def test_find_key_prefers_the_setting(config: EmbeddingConfig, environ: dict[str, str], key: str) -> None:
    assert find_key(config, environ) == key


@pytest.mark.parametrize("url", ["", "https://eu.api.openai.com/v1/"])
def test_find_key_without_a_key_names_the_variable_for_openai(url: str) -> None:
    with pytest.raises(EmbedderRefused, match="no API key") as caught:
        find_key(EmbeddingConfig(base_url=url, api_key_env="MY_KEY"), {})
    assert "MY_KEY" in caught.value.hint


@pytest.mark.parametrize("key", ["sk-a b", "sk-ä", "sk-a\nX-Header: 1"])
def test_find_key_refuses_an_invalid_key_without_showing_it(key: str) -> None:
    with pytest.raises(EmbedderRefused) as caught:
        find_key(EmbeddingConfig(api_key=key), {})
    assert key not in caught.value.message


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.", "x.localhost", "127.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"]
)
def test_proxy_for_skips_the_proxy_for_local_servers(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert proxy_for(EmbeddingConfig(base_url=f"http://{host}:11434/v1")) == ""


@pytest.mark.parametrize(("environ", "expected"), CASES["proxy_for_uses_the_proxy_of_the_environment"])
def test_proxy_for_uses_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], expected: str
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        for spelled in (name, name.lower()):
            monkeypatch.delenv(spelled, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(EmbeddingConfig()) == expected
