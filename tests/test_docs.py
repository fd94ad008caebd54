"""The documents are correct: keys, links, and the commands and code of the README."""

import ast
import pkgutil
import re
import runpy
import tomllib
from pathlib import Path

import pytest

import vault_index
from tests.api.vaults import opened, write
from vault_index.cli import main
from vault_index.config import find_home, load_config
from vault_index.config.schema import CLIENTS, SECTIONS, Config, SourceConfig
from vault_index.health.checks import TO_BEGIN_ANEW, TO_REFILL, TO_SYNC
from vault_index.health.status import _HINTS

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

CODE = (".py", ".toml", ".ts", ".nix", ".service")


def test_docs_configuration_reference_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "build_settings.py"))["reference"]()
    assert (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8") == made, "run: make reference"


def test_docs_sample_configuration_is_the_default(tmp_path: Path) -> None:
    sample = re.search(
        r"```toml\n(.*?)```", (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert sample is not None
    assert set(tomllib.loads(sample[1])) == {"sources", *(name for name, _ in SECTIONS if "." not in name)}
    home = find_home(tmp_path)
    home.config_file.write_text(sample[1], encoding="utf-8")
    config = load_config(home, {})
    vault = SourceConfig(name="vault", path=Path("~/Vault").expanduser())
    assert config == Config(sources=(vault,), configured=frozenset({"opencode"}))


def test_docs_links_resolve() -> None:
    for page in PAGES:
        for path, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", _without_code(page)):
            target = page.parent / path if path else page
            assert target.exists(), f"{page.name}: {path}"
            assert not anchor or anchor in _anchors(target), f"{page.name}: {path}#{anchor}"


def _without_code(page: Path) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def _anchors(page: Path) -> list[str]:
    """The anchors that GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", _without_code(page), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_docs_pages_named_in_the_code_exist() -> None:
    folders = [ROOT / name for name in ("vault_index", "tools", "nix", "systemd")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in CODE]
    named = {(page, path) for path in files for page in re.findall(r"docs/[a-z-]+\.md", path.read_text("utf-8"))}
    assert len(named) > 20
    assert [f"{path}: {page}" for page, path in named if not (ROOT / page).exists()] == []


def test_readme_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    with opened(tmp_path) as index:
        write(tmp_path / "vault", {"wal.md": "The write-ahead log keeps readers going.\n"})
        monkeypatch.setenv("VAULT_INDEX_HOME", str(index.home.data_dir))
    exec(compile(code[1], "README.md", "exec"), {})
    assert "wal.md:1 The write-ahead log" in capsys.readouterr().out


def test_readme_queries_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with opened(tmp_path) as index:
        write(tmp_path / "vault", {"projects/cellar.md": "# Cellar\n\n" + "A shelf.\n" * 50})
        index.sync()
    commands = re.findall(r"^vx (.+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(commands) >= 5
    for command in commands:
        words = [double or single or bare for double, single, bare in _WORDS.findall(command.partition("   #")[0])]
        assert main([*words, "--home", str(tmp_path / "home")]) == 0, command
        capsys.readouterr()


_WORDS = re.compile(r"\"([^\"]*)\"|'([^']*)'|(\S+)")


def test_page_and_docs_name_every_client() -> None:
    names = (ROOT / "vault_index/serve/page/site/times.js").read_text("utf-8")
    listed = (ROOT / "docs/sessions.md").read_text("utf-8")
    for name, title in CLIENTS.items():
        assert re.search(rf"\b{name}\"?: \"{title}\"", names)
        assert f"| {title} | `{name}` |" in listed


def test_docs_explain_every_problem_code() -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    names = re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)
    explained = {code for cell in names for code in re.findall(r"`([a-z_0-9]+)`", cell)}
    assert sorted(_problem_codes() - explained) == []


def _problem_codes() -> set[str]:
    """Codes of problems and faults in the code, and of errors that `status` turns into problems."""
    codes = {"embedder", "index_corrupt", "index_too_new", "not_set_up", "client_schema", "failed", *_HINTS}
    for path in (ROOT / "vault_index").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Problem", "Fault"):
                codes |= {a.value for a in node.args[:1] if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return codes | TO_SYNC | TO_BEGIN_ANEW | TO_REFILL


def _names_in_the_package(text: str) -> set[str]:
    """The dotted names of modules, classes and functions below `vault_index`."""
    inside = {module.name for module in pkgutil.iter_modules(vault_index.__path__)}
    return {name for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", text) if name.partition(".")[0] in inside}


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_architecture_diagram_has_the_layers_of_the_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = contract["contracts"][0]["layers"]
    picture = re.search(r"```\n(.*?)```", ARCHITECTURE.partition("## Layers")[2], re.DOTALL)
    assert picture is not None
    lines = [(line.startswith("|"), line.strip("| ").split()[0]) for line in picture[1].splitlines()]
    assert lines == [("|" in layer, name) for layer in layers for name in layer.replace("|", " ").split()], (
        "draw the picture in docs/architecture.md as pyproject.toml has the layers"
    )


def test_architecture_names_exist() -> None:
    for walk in re.findall(r"^### .+$", ARCHITECTURE.partition("## Design")[0], re.MULTILINE):
        steps = ARCHITECTURE.partition(f"{walk}\n")[2].partition("\n#")[0]
        assert len(_names_in_the_package(steps)) > 10, walk
    for name in _names_in_the_package(ARCHITECTURE):
        assert pkgutil.resolve_name(f"vault_index.{name}")
