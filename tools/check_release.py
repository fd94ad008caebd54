"""Build wheel, sdist and bundle, and try them in separate environments: `make package`.

The three files are left in `dist/`. With `--wheel`, only the wheel is built. `make release` passes
`--publish`: it refuses what must not be released (release_rules.py) and fills the Homebrew formula.
"""

import argparse
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import build_licences
from build_mcpb import build as build_bundle
from release_rules import commit_time, differences, formula, refusals

ROOT = Path(__file__).resolve().parent.parent
_LOOKS = 300
UV = Path(shutil.which("uv") or ROOT / ".venv-uv/bin/uv")
DATA = (
    ".onnx",
    ".sql",
    ".toml",
    ".ts",
    ".md",
    ".txt",
    ".json",
    ".tiktoken",
    ".gz",
    ".typed",
    ".xz",
    ".bin",
    ".css",
    ".html",
    ".js",
    ".svg",
)


def main() -> None:
    """Build and try the release."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", action="store_true")
    parser.add_argument("--publish", nargs="?", const="", metavar="TAG")
    options = parser.parse_args()
    if options.publish is not None and (reasons := refusals(ROOT, _version(), options.publish)):
        raise SystemExit("not released:\n" + "\n".join(reasons))
    os.environ.setdefault("SOURCE_DATE_EPOCH", commit_time(ROOT))
    target = ROOT / "dist"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="vault-index-release-") as folder:
        place = Path(folder)
        python = _environment(place / "build", "hatchling")
        if options.wheel:
            _run([python, "-m", "hatchling", "build", "-t", "wheel", "-d", target], ROOT)
            _try(_newest(target, "*.whl"), place)
            return
        if build_licences.page() != build_licences.PAGE.read_text("utf-8"):
            raise SystemExit("docs/security.md lists other licences; run: make licences")
        _run([python, "-m", "hatchling", "build", "-d", target], ROOT)
        wheel, sdist = _newest(target, "*.whl"), _newest(target, "*.tar.gz")
        _check_contents(wheel, sdist)
        _check_second_build(sdist, wheel, python, place)
        _try(wheel, place)
        bundle = build_bundle(wheel, target)
        _try_bundle(bundle, place)
        _build_by_nix(place)
    made = [wheel, sdist, bundle]
    if options.publish is not None:
        template = ROOT / "packaging/vault-indexer.rb"
        made.append(target / template.name)
        made[-1].write_text(formula(template.read_text("utf-8"), _version(), sdist), "utf-8")
    print("fine:", *(f"{path.name} ({path.stat().st_size / 1e6:.1f} MB)" for path in made))


def _version() -> str:
    return str(runpy.run_path(str(ROOT / "vault_index/version.py"))["__version__"])


def _check_contents(wheel: Path, sdist: Path) -> None:
    """Every file of the package is in both; what a wheel needs no more is in the sdist."""
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "vault_index").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    _all_in(package, _names(wheel), wheel)
    wanted = {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "NOTICE",
        "CHANGELOG.md",
        "systemd/vault-index.service",
        "flake.nix",
        "server.json",
        "mcpb/manifest.json",
        "uv.lock",
        "Dockerfile",
        ".claude-plugin/marketplace.json",
        "packaging/vault-indexer.rb",
    }
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    _all_in(package | wanted, names, sdist)
    unknown = {Path(name).suffix for name in package} - {".py", *DATA}
    if unknown - {""}:
        raise SystemExit(f"files of a new kind in the package: {', '.join(sorted(unknown))}")


def _build_by_nix(place: Path) -> None:
    """Build the package of the flake, if Nix can write its store.

    Installed packages take the place of nixpkgs.
    """
    if shutil.which("nix-build") is None or (os.geteuid() and not os.access("/nix/store", os.W_OK)):
        print("not built by Nix: there is none, or its store is another user's")
        return
    _run(
        [UV, "pip", "install", "--quiet", "--python", place / "clean/bin/python", "pip"], ROOT
    )  # the builder calls it
    given = {"source": ROOT, "build": place / "build", "run": place / "clean"}
    words = [word for name, value in given.items() for word in ("--argstr", name, str(value))]
    options = {"sandbox": "false", "build-users-group": "", "substitute": "false"}
    settings = [word for name, value in options.items() for word in ("--option", name, value)]
    expression = ROOT / "tests/nix/stand-ins/build.nix"
    built = _run(["nix-build", "--no-out-link", expression, *words, *settings], place)
    unit = Path(built.strip().splitlines()[-1], "share/vault-index/systemd/vault-index.service")
    if not unit.is_file():
        raise SystemExit(f"{unit} is missing")


def _check_second_build(sdist: Path, wheel: Path, python: Path, place: Path) -> None:
    """Build the wheel again, from the sdist: every byte must be the same."""
    with tarfile.open(sdist) as archive:
        archive.extractall(place / "sdist", filter="data")
    (source,) = (place / "sdist").iterdir()
    _run([python, "-m", "hatchling", "build", "-t", "wheel", "-d", place / "again"], source)
    if found := differences(wheel, _newest(place / "again", "*.whl")):
        raise SystemExit(f"a second build differs: {', '.join(found)}")


def _try(wheel: Path, place: Path) -> None:
    """Install the wheel alone and use it, far from the sources."""
    python = _environment(place / "clean", str(wheel))
    program = python.parent / "vault-index"
    vault, user = place / "vault", place / "user"
    vault.mkdir()
    (vault / "wal.md").write_text(
        "# Write-ahead log\n\nReaders never wait for the writer.\n", "utf-8"
    )
    environ = {
        "HOME": str(user),
        "PATH": "/usr/bin:/bin",
        "VAULT_INDEX_HOME": str(place / "home"),
        "LANG": "C.UTF-8",
    }
    user.mkdir()

    def said(*words: str) -> str:
        return _run([program, *words], place, environ)

    for words, expected in (
        (("--version",), "sqlite-vec v"),
        (("init", str(vault), "--no-sessions", "--quiet", "--json"), '"embedded": 1'),
        (("search", "nobody is kept waiting", "--mode", "vector", "--json"), "wal.md"),
        (("add", "The cellar floods in March.", "--json"), '"created": true'),
        (("recall", "cellar"), "floods in March"),
        (("doctor", "--deep", "--json"), '"healthy": true'),
        (("agent", "install", "opencode"), "opencode/plugin"),
        (("agent-context",), "vault-index"),
        (("mcp", "--print-config", "generic"), "mcp"),
        (("completions", "bash"), "complete -o bashdefault"),
    ):
        answer = said(*words)
        if expected not in answer.replace('":1', '": 1').replace('":true', '": true'):
            raise SystemExit(f"vault-index {' '.join(words)} did not say {expected!r}:\n{answer}")
        print("fine:", *words[:1])
    unit = "from vault_index.service.systemd import facts; print(facts())"
    if "notify" not in _run([python, "-c", unit], place, environ):
        raise SystemExit("the unit cannot be made")


def _try_bundle(bundle: Path, place: Path) -> None:
    """Start it as a desktop client does, on a new vault, and search until the note is found."""
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(place / "bundle")
    config = json.loads((place / "bundle/manifest.json").read_text("utf-8"))["server"]["mcp_config"]
    given = {"${__dirname}": place / "bundle", "${user_config.vault}": place / "vault"}
    words = [
        str(given.get(word, word.replace("${user_config.read_only}", "false")))
        for word in config["args"]
    ]
    environ = {
        **os.environ,
        "PATH": f"{UV.parent}:/usr/bin:/bin",
        "VAULT_INDEX_HOME": str(place / "bundled"),
    }
    environ |= {
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_CACHE_DIR": _run([UV, "cache", "dir"], ROOT).strip(),
    }
    environ.pop("VIRTUAL_ENV", None)
    _run([UV, "sync", "--quiet", "--directory", place / "bundle"], place, environ)
    environ |= {"HOME": str(place / "user"), "UV_OFFLINE": "1"}
    try:
        with subprocess.Popen(
            [config["command"], *words], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as server:
            _ask_bundle(server)
    finally:
        with suppress(OSError, ValueError):  # the daemon outlives its client
            daemon = int((place / "bundled/daemon.lock").read_text("utf-8"))
            os.kill(daemon, signal.SIGTERM)
            for _ in range(_LOOKS):  # until it has ended, because it may still write files
                os.kill(daemon, 0)
                time.sleep(0.1)
    print("fine:", bundle.name)


def _ask_bundle(server: "subprocess.Popen[bytes]") -> None:
    assert server.stdin is not None
    assert server.stdout is not None
    lines, numbers = server.stdout, count(1)

    def ask(method: str, **params: Any) -> Any:
        number = next(numbers)
        asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write(json.dumps(asked).encode() + b"\n")
        server.stdin.flush()
        for line in lines:
            if (answer := json.loads(line)).get("id") == number:
                return answer["result"]
        raise SystemExit("the server of the bundle ended")

    ask(
        "initialize",
        protocolVersion="2025-11-25",
        capabilities={},
        clientInfo={"name": "release", "version": "1"},
    )
    names = {tool["name"] for tool in ask("tools/list")["tools"]}
    asked = {"name": "memory_search", "arguments": {"query": "write-ahead"}}
    deadline = time.monotonic() + 120
    while "wal.md" not in (told := json.dumps(ask("tools/call", **asked))):
        if "memory_store" not in names or time.monotonic() > deadline:
            raise SystemExit(f"the server of the bundle has {names} and finds no note: {told}")
        time.sleep(0.2)
    server.stdin.close()


def _environment(folder: Path, *packages: str) -> Path:
    python = folder / "bin" / "python"
    _run([UV, "venv", "--quiet", "--python", sys.executable, folder], ROOT)
    _run([UV, "pip", "install", "--quiet", "--python", python, *packages], ROOT)
    return python


def _run(command: Sequence[str | Path], folder: Path, environ: dict[str, str] | None = None) -> str:
    ended = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=environ or dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def _newest(folder: Path, pattern: str) -> Path:
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime)


def _all_in(wanted: set[str], names: set[str], archive: Path) -> None:
    missing = sorted(wanted - names)
    if missing:
        raise SystemExit(f"{archive.name} lacks {', '.join(missing)}")


if __name__ == "__main__":
    main()
