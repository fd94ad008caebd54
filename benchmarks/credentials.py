"""Measure the false alarms of the credential detector in ordinary lines.

    python -m benchmarks.credentials [FOLDER...] [--stdlib] [--logs N] [--worst 20] [--skip NAME]

The folders hold ordinary notes, code and logs; every text file in them is read. A changed line
counts as redacted, an unchanged line with a finding as warned. `--stdlib` also reads Python's
standard library. `--logs` generates N lines of logs, hashes and ids. A reader must judge which
findings are right, because documentation contains passwords too. `tests/secrets/test_samples.py`
counts missed samples.
"""

import random
import re
import string
import sysconfig
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.machine import arguments, describe
from vault_index.secrets.find import find_secrets, redact

_LARGEST = 4_000_000
"""Characters that are read at once."""
_GOES_ON = "(the rest of it)"
_SKIPPED = {".git", ".venv", "__pycache__", "node_modules", "site-packages"}


class Counted(NamedTuple):
    """Counts of lines, and the findings."""

    lines: int
    redacted: list[str]
    warned: list[str]

    def __add__(self, other: "Counted") -> "Counted":  # type: ignore[override]
        return Counted(
            self.lines + other.lines, self.redacted + other.redacted, self.warned + other.warned
        )


def judge(text: str, name: str) -> Counted:
    """Yield place and kind of changed lines, and of unchanged lines with a finding."""
    text = "\n".join(text.splitlines())  # as editors count them, and one way
    redacted, _ = redact(text)
    before, after = text.split("\n"), redacted.split("\n")
    kinds = {secret.line: secret.kind for secret in find_secrets(text)}
    changed = {at for at, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new}

    def shown(at: int) -> str:
        return f"{name}:{at}: {kinds.get(at, _GOES_ON)}: {before[at - 1].strip()[:160]}"

    warned = [shown(at) for at in sorted(kinds) if at not in changed]
    return Counted(len(before), [shown(at) for at in sorted(changed)], warned)


def texts(folder: Path, skipped: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield every UTF-8 file with its path; a long file in parts."""
    for file in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
        if (
            not {*_SKIPPED, *skipped}.isdisjoint(file.parts)
            or not file.is_file()
            or file.is_symlink()
        ):
            continue
        try:
            text = file.read_text("utf-8")
        except (UnicodeDecodeError, OSError):
            continue
        if "\0" not in text:
            for at in range(0, len(text), _LARGEST):
                yield str(file), text[at : at + _LARGEST]


_LOGS = r"""
2026-03-02T10:11:12.<d3>Z INFO [req <h8>-<h4>-<h4>-<h4>-<h12>] GET /v1/items/<d6> 200 7ms
commit <h40>
index <h7>..<h7> 100644
10.0.<d2>.<d2> - - "GET /assets/app.<h20>.js HTTP/1.1" 304 0 "-"
      "integrity": "sha512-<e86>==",
    --hash=sha256:<h64> \
github.com/acme/<l8> v1.<d1>.0 h1:<e43>=
Digest: sha256:<h64>
<h12>   nginx:1.27   "/entry…"   <d1> hours ago   Up   web_<d1>
traceparent: 00-<h32>-<h16>-01
ETag: W/"<h32>"
session ses_<m26> of user usr_<m16> ended
input_tokens=<d5> output_tokens=<d4> cached_tokens: <d6> max_tokens=<d4>
token <d3> of <d4>: <l7> (key <d2>)
cache key: <l6>-<h16>-v<d1>, hit
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<e43> ann@host
Public-Key: RSA <d4> bit, SHA256:<e43>
data:image/png;base64,iVBORw0KGgoAAAANSUhEUg<e200>
pod/api-<h10>-<p5> 1/1 Running 0 <d2>d
arn:aws:iam::<d12>:role/deploy-<l6>
https://www.youtube.com/watch?v=<m11>&list=PL<m32>
https://example.org/p/<m22>?utm_id=<d9>&page=<d1>
0x<h16> in main (argc=1, argv=0x<h12>) at main.c:<d2>
E/<m8>( <d4>): Failed to authenticate user <d4>: password expired
password attempts: <d1>, token refreshes: <d2>, api keys: <d1>
"""
_ALPHABETS = {
    "d": string.digits,
    "h": "0123456789abcdef",
    "l": string.ascii_lowercase,
    "m": string.ascii_letters + string.digits,
    "e": string.ascii_letters + string.digits + "+/",
    "p": "bcdfghjklmnpqrstvwxz2456789",
}


def logs(count: int) -> str:
    """Return lines of logs, lock files and tools, with random strings that are no secrets."""
    draw, kinds = random.Random(count), _LOGS.strip("\n").splitlines()

    def drawn(mark: re.Match[str]) -> str:
        return "".join(draw.choices(_ALPHABETS[mark[1]], k=int(mark[2])))

    lines = (kinds[at % len(kinds)] for at in range(count))
    return "\n".join(re.sub(r"<([dhlmep])(\d+)>", drawn, line) for line in lines)


def per(count: int, lines: int, unit: int) -> str:
    """Format a count with its rate per `unit` lines."""
    return f"{count:5} ({count * unit / max(lines, 1):.2f} of {unit:,})"


def report(name: str, counted: Counted, worst: int) -> None:
    """Print the counts and the worst findings."""
    redacted, warned = len(counted.redacted), len(counted.warned)
    print(f"{name}: {counted.lines:,} lines, redacted {per(redacted, counted.lines, 10_000)}, "
          f"warned of {per(warned, counted.lines, 1_000)}")  # fmt: skip
    for what, found in (("redacted", counted.redacted), ("warned of", counted.warned)):
        heads = [line for line in found if _GOES_ON not in line]
        for line in heads[:: max(1, len(heads) // worst)][:worst] if worst else ():
            print(f"    {what} {line}")


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("folder", nargs="*", type=Path)
    parser.add_argument("--stdlib", action="store_true", help="also Python's own library")
    parser.add_argument("--logs", type=int, default=50_000, help="so many made-up lines of logs")
    parser.add_argument(
        "--skip", action="append", default=[], help="a folder or file of this name is not read"
    )
    parser.add_argument(
        "--worst", type=int, default=20, help="so many lines, forms and wrappers each"
    )
    given = parser.parse_args()
    print(describe())
    library = [Path(sysconfig.get_path("stdlib"))] if given.stdlib else []
    total = Counted(0, [], [])
    for folder in (*given.folder, *library):
        started, counted = time.perf_counter(), Counted(0, [], [])
        for name, text in texts(folder, given.skip):
            counted += judge(text, name)
        report(f"{folder} ({time.perf_counter() - started:.1f} s)", counted, given.worst)
        total += counted
    made = judge(logs(given.logs), "logs")
    report("made-up logs", made, given.worst)
    report("together", total + made, 0)


if __name__ == "__main__":
    main()
