"""What `make release` refuses, and the Homebrew formula that it fills."""

import hashlib
import re
import subprocess
import zipfile
from pathlib import Path


def refusals(root: Path, version: str, tag: str = "") -> list[str]:
    """Return the reasons why this tree must not be released; empty if there are none.

    `tag` is the tag that started the release, if any.
    """
    found = []
    status = ["git", "status", "--porcelain"]
    changes = subprocess.run(status, cwd=root, capture_output=True, text=True, check=True).stdout
    if changes:
        found.append(f"the tree has changes; commit or remove them:\n{changes.rstrip()}")
    heading = rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$"
    if not re.search(heading, (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE):
        found.append(f"CHANGELOG.md has no section: ## {version} - YYYY-MM-DD")
    if tag not in ("", f"v{version}"):
        found.append(f"the tag is {tag}, but the version is {version}: tag v{version}")
    return found


def commit_time(root: Path) -> str:
    """Return the time of the commit as SOURCE_DATE_EPOCH has it: seconds since 1970."""
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


def differences(one: Path, other: Path) -> list[str]:
    """Return the names of the members in which two wheels differ; empty if they are equal."""
    if one.read_bytes() == other.read_bytes():
        return []
    with zipfile.ZipFile(one) as first, zipfile.ZipFile(other) as second:
        members = {(item.filename, item.CRC) for item in first.infolist()}
        others = {(item.filename, item.CRC) for item in second.infolist()}
    return sorted({name for name, _ in members ^ others}) or ["times, modes or order of members"]


def formula(template: str, version: str, sdist: Path) -> str:
    """Return the Homebrew formula of a release, with the checksum of its sdist."""
    checksum = hashlib.sha256(sdist.read_bytes()).hexdigest()
    return template.replace("@VERSION@", version).replace("@SHA256@", checksum)
