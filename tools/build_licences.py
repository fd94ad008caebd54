"""Write the licences of all dependencies into docs/security.md: `make licences`.

The packages are those of uv.lock that this platform needs, the licences those that the installed
packages declare. A licence that is not in `KNOWN` stops the program: decide whether it fits.
"""

import re
import shutil
import subprocess
from importlib.metadata import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
UV = shutil.which("uv") or str(ROOT / ".venv-uv/bin/uv")
PAGE = ROOT / "docs/security.md"
TABLE = re.compile(r"(?<=\| licence \| packages \|\n\|---\|---\|\n)(?:\|.*\n)+")
KNOWN = {
    "MIT": ("MIT", "MIT License", "MIT-0"),
    "Apache-2.0": ("Apache-2.0", "Apache Software License"),
    "BSD": ("BSD-2-Clause", "BSD-3-Clause", "BSD License", "3-Clause BSD License"),
    "Apache-2.0 or another": (
        "Apache-2.0 OR BSD-2-Clause",
        "Apache-2.0 OR BSD-3-Clause",
        "Apache Software License; MIT License",
        "MIT License, Apache License, Version 2.0",
    ),
    "several like these": (
        "Apache-2.0 AND CNRI-Python",
        "BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0",
    ),
    "MPL-2.0": ("MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)"),
    "PSF-2.0": ("PSF-2.0",),
    "any open-source licence": ("any-OSI",),
}
"""The licences that fit this project, and how packages write them."""


def dependencies() -> list[str]:
    """Return the names of the packages in uv.lock that this platform needs."""
    command = [UV, "export", "--quiet", "--no-emit-project", "--no-hashes", "--no-annotate"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    needs = [Requirement(line) for line in listed.splitlines() if not line.startswith("#")]
    return [need.name for need in needs if need.marker is None or need.marker.evaluate()]


def declared(name: str) -> str:
    """Return the licence that an installed package declares."""
    found = metadata(name)
    kinds = [
        one.rpartition(" :: ")[2] for one in found.get_all("Classifier") or () if "License" in one
    ]
    return str(
        found["License-Expression"] or "; ".join(sorted(kinds)) or found["License"]
    ).splitlines()[0]


def table(names: list[str]) -> str:
    """Return the rows of the table. Raises SystemExit for a licence that is not known."""
    rows: dict[str, list[str]] = {kind: [] for kind in KNOWN}
    kinds = {text: kind for kind, texts in KNOWN.items() for text in texts}
    for name in names:
        licence = declared(name)
        if licence not in kinds:
            raise SystemExit(f"{name}: {licence} is not in KNOWN of tools/build_licences.py")
        rows[kinds[licence]].append(name)
    return "".join(
        f"| {kind} | {', '.join(sorted(rows[kind]))} |\n" for kind in KNOWN if rows[kind]
    )


def page() -> str:
    """Return docs/security.md with the table as it should be."""
    return TABLE.sub(lambda _: table(dependencies()), PAGE.read_text("utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
