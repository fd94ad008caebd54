"""Print the suites with changed files since they last passed: `python tools/changed.py`.

`make test-changed` and CI run them. tools/ci_paths.toml has the suites, their files, and the
digest of these files when the suite last passed.

    python tools/changed.py --run              # run them
    python tools/changed.py --run SUITE…       # run these suites, whatever changed
    python tools/changed.py --record [SUITE…]  # store the digests of passed suites, or all
"""

import argparse
import ast
import hashlib
import subprocess
import sys
from pathlib import Path

import tomlkit

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tools/ci_paths.toml"


class _WithoutDocstrings(ast.NodeTransformer):
    """Remove docstrings, also those of attributes."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        return None if isinstance(node.value, ast.Constant) else node


def content(file: Path) -> bytes:
    """Return what decides how a file behaves.

    Of Python files this is the code without docstrings, comments and layout.
    """
    if not file.is_file():
        return b""
    if file.suffix != ".py":
        return file.read_bytes()
    tree = _WithoutDocstrings().visit(ast.parse(file.read_bytes()))
    return ast.unparse(tree).encode()


def digest(paths: list[str]) -> str:
    """Return a digest of the names and the content of the files that Git tracks at these paths."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *paths], cwd=ROOT, capture_output=True, check=True
    ).stdout
    whole = hashlib.sha256()
    for name in sorted(filter(None, listed.split(b"\0"))):
        whole.update(name + b"\0" + hashlib.sha256(content(ROOT / name.decode())).digest())
    return whole.hexdigest()[:16]


def commands(names: list[str], table: tomlkit.TOMLDocument) -> list[list[str]]:
    """Return the make commands that run these suites; attacks run in one pytest."""
    attacks = [path for name in names for path in table[name].get("attacks", ())]
    found = [["make", str(table[name]["make"])] for name in names if "make" in table[name]]
    return found + ([["make", "test-attacks", f"ATTACKS={' '.join(attacks)}"]] if attacks else [])


def main() -> int:
    """List, run or record suites."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args()
    table = tomlkit.parse(TABLE.read_text("utf-8"))
    if unknown := set(chosen.suites) - table.keys():
        parser.error(
            f"no suite {', '.join(sorted(unknown))} in tools/ci_paths.toml; "
            f"it has {', '.join(table)}"
        )
    now = {name: digest(list(suite["files"])) for name, suite in table.items()}
    if chosen.record:
        for name in chosen.suites or now:
            table[name]["passed"] = now[name]
        TABLE.write_text(tomlkit.dumps(table), "utf-8")
        return 0
    changed = chosen.suites or [name for name in now if table[name]["passed"] != now[name]]
    print("suites to run:", ", ".join(changed) or "none", flush=True)
    if not chosen.run:
        return 0
    # All of them run, so that one log names everything that is red.
    return max(
        (
            subprocess.run(command, cwd=ROOT, check=False).returncode
            for command in commands(changed, table)
        ),
        default=0,
    )


if __name__ == "__main__":
    sys.exit(main())
