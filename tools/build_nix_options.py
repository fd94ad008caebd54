"""Write the table of options in docs/nix.md: `python tools/build_nix_options.py`.

It evaluates the module with nix-instantiate. Neither nixpkgs nor a network is needed:
tests/nix/stand-ins has the parts of them that the flake uses.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "nix.md"
BEGIN = "<!-- Made by tools/build_nix_options.py from nix/home-manager.nix; edit that. -->\n"
END = "<!-- The end of the table. -->\n"

NAMES = """map (one: builtins.concatStringsSep "." one.path) (home { }).declared"""
_OPTIONS = """
map (one: {
  name = builtins.concatStringsSep "." one.path;
  type = one.option.type.name;
  default = one.option.defaultText or (builtins.toJSON one.option.default);
  inherit (one.option) description;
}) (home { }).declared
"""


def evaluate(expression: str) -> Any:
    """Return the value of a Nix expression with `outputs` and `home` of the stand-ins.

    Raises CalledProcessError if it throws.
    """
    whole = f"with import {ROOT}/tests/nix/stand-ins/flake.nix; {expression}"
    command = [
        "nix-instantiate",
        "--store",
        "dummy://",
        "--eval",
        "--strict",
        "--json",
        "-E",
        whole,
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return json.loads(ended.stdout)


def page() -> str:
    """The page with the table as it should be."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    return f"{before}{BEGIN}{_table()}{END}{after}"


def _table() -> str:
    rows = [
        f"| `{option['name']}` | {option['type']} | `{option['default']}` | "
        f"{option['description']} |"
        for option in evaluate(_OPTIONS)
    ]
    return "\n".join(["\n| option | type | default | meaning |", "|---|---|---|---|", *rows, "\n"])


if __name__ == "__main__":
    try:
        PAGE.write_text(page(), encoding="utf-8")
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is needed: apt install nix-bin, or https://nixos.org/download")
