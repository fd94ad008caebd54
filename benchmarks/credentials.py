"""Measure the detection of credentials: missed samples, and false alarms in ordinary lines.

    python benchmarks/credentials.py [FOLDER...] [--samples FILE] [--stdlib] [--logs N]
                                     [--worst 20] [--skip NAME]

The folders hold ordinary notes, code and logs; every text file in them is read. A changed line
counts as redacted, an unchanged line with a finding as warned. `--stdlib` also reads Python's
standard library. `--logs` generates N lines of logs, hashes and ids. A reader must judge which
findings are right, because documentation contains passwords too. `--samples` uses another file than
fixtures/secrets/samples.json, made by `tools/build_secret_samples.py --seed`.
"""

import argparse
import random
import string
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.machine import describe
from tests.secrets.wraps import FILE, leaks, samples, wrapped
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


def logs(count: int) -> str:
    """Yield lines of logs, lock files and tools, with random strings that are no secrets."""
    draw = random.Random(count)

    def of(alphabet: str, size: int) -> str:
        return "".join(draw.choices(alphabet, k=size))

    def digits(size: int) -> str:
        return of(string.digits, size)

    def hexadecimal(size: int) -> str:
        return of("0123456789abcdef", size)

    def mixed(size: int) -> str:
        return of(string.ascii_letters + string.digits, size)

    def encoded(size: int) -> str:
        return of(string.ascii_letters + string.digits + "+/", size)

    def uuid() -> str:
        return "-".join(hexadecimal(size) for size in (8, 4, 4, 4, 12))

    kinds = (
        lambda: (
            f"2026-03-02T10:11:12.{digits(3)}Z INFO [req {uuid()}] GET "
            f"/v1/items/{digits(6)} 200 7ms"
        ),
        lambda: f"commit {hexadecimal(40)}",
        lambda: f"index {hexadecimal(7)}..{hexadecimal(7)} 100644",
        lambda: (
            f'10.0.{digits(2)}.{digits(2)} - - "GET /assets/app.{hexadecimal(20)}.js HTTP/1.1" '
            '304 0 "-"'
        ),
        lambda: f'      "integrity": "sha512-{encoded(86)}==",',
        lambda: f"    --hash=sha256:{hexadecimal(64)} \\",
        lambda: (
            f"github.com/acme/{of(string.ascii_lowercase, 8)} v1.{digits(1)}.0 h1:{encoded(43)}="
        ),
        lambda: f"Digest: sha256:{hexadecimal(64)}",
        lambda: (
            f"{hexadecimal(12)}   nginx:1.27   \"/entry…\"   {digits(1)} hours ago   "
            f"Up   web_{digits(1)}"
        ),
        lambda: f"traceparent: 00-{hexadecimal(32)}-{hexadecimal(16)}-01",
        lambda: f'ETag: W/"{hexadecimal(32)}"',
        lambda: f"session ses_{mixed(26)} of user usr_{mixed(16)} ended",
        lambda: (
            f"input_tokens={digits(5)} output_tokens={digits(4)} cached_tokens: "
            f"{digits(6)} max_tokens={digits(4)}"
        ),
        lambda: (
            f"token {digits(3)} of {digits(4)}: {of(string.ascii_lowercase, 7)} (key {digits(2)})"
        ),
        lambda: f"cache key: {of(string.ascii_lowercase, 6)}-{hexadecimal(16)}-v{digits(1)}, hit",
        lambda: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{encoded(43)} ann@host",
        lambda: f"Public-Key: RSA {digits(4)} bit, SHA256:{encoded(43)}",
        lambda: f"data:image/png;base64,iVBORw0KGgoAAAANSUhEUg{encoded(200)}",
        lambda: (
            f"pod/api-{hexadecimal(10)}-{of('bcdfghjklmnpqrstvwxz2456789', 5)} 1/1 "
            f"Running 0 {digits(2)}d"
        ),
        lambda: f"arn:aws:iam::{digits(12)}:role/deploy-{of(string.ascii_lowercase, 6)}",
        lambda: f"https://www.youtube.com/watch?v={mixed(11)}&list=PL{mixed(32)}",
        lambda: f"https://example.org/p/{mixed(22)}?utm_id={digits(9)}&page={digits(1)}",
        lambda: (
            f"0x{hexadecimal(16)} in main (argc=1, argv=0x{hexadecimal(12)}) at main.c:{digits(2)}"
        ),
        lambda: (
            f"E/{mixed(8)}( {digits(4)}): Failed to authenticate user "
            f"{digits(4)}: password expired"
        ),
        lambda: (
            f"password attempts: {digits(1)}, token refreshes: {digits(2)}, api keys: {digits(1)}"
        ),
    )  # fmt: skip
    return "\n".join(kinds[at % len(kinds)]() for at in range(count))


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


def try_samples(file: Path, worst: int) -> None:
    """Count the missed samples, by form and by wrapping."""
    found, kept, forms, wrappers, cases = samples(file), 0, Counter[str](), Counter[str](), 0
    plain = Counter[str]()
    for sample in found:
        for name, text, secret in wrapped(sample):
            cases += 1
            out = redact(text)[0]
            if leaks(secret, out) or leaks(sample.secret, out):
                kept += 1
                forms[sample.form] += 1
                wrappers[name] += 1
                plain[sample.form] += name == "as it is"
    plain = +plain
    number = len({sample.form for sample in found})
    print(
        f"{len(found)} samples of {number} forms, {cases:,} with wrappers: {kept:,} stay whole, "
        f"of {len(forms)} forms"
    )
    print(f"as they are {sum(plain.values())} stay whole, of {len(plain)} forms")
    for title, counts in (("as they are", plain), ("by form", forms), ("by wrapper", wrappers)):
        for what, count in counts.most_common(worst):
            print(f"    {title} {count:5}  {what}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="*", type=Path)
    parser.add_argument("--samples", type=Path, default=FILE)
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
    try_samples(given.samples, given.worst)
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
