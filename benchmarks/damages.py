"""Show how `sync`, `doctor --fix` and `doctor --deep --fix` repair every known damage.

    python benchmarks/damages.py

For each damage it copies the home of a small vault, damages the copy, and runs one command after
the other until the index answers and has the rows of a fresh one. It prints which command repaired
it. If none did, it follows the advice of the last one.
"""

import argparse
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.damage_forms import CACHE, INDEX, NOTES, Damage, clear, schema, wrong
from tests.api.vaults import indexed, rows
from vault_index import VaultIndex
from vault_index.errors import VaultIndexError


def mended_by(home: Path, damage: Damage, fresh: Mapping[str, Sequence[object]]) -> tuple[str, str]:
    """The command that mends it and what it says; or nothing, and what is left wrong."""
    damage(home)
    said = ""
    for name in ("sync", "doctor --fix", "doctor --deep --fix"):
        try:
            with VaultIndex.open(home) as index:
                problems = (
                    index.sync().problems
                    if name == "sync"
                    else index.repair(deep="deep" in name).problems
                )
            found = [
                problem for problem in problems if problem.code != "frontmatter"
            ]  # of the note that is broken
            said = " ".join(
                "; ".join(f"{one.code}: {one.message}; {one.hint}" for one in found).split()
            )
        except VaultIndexError as error:
            said = f"{error.code}: {error.message}; {error.hint}"
        except Exception as error:  # noqa: BLE001 - to be seen in the table
            said = f"A DEFECT: {type(error).__name__}: {error}"
            if ARGS.trace:
                traceback.print_exc()
        left = wrong(home, fresh)
        if not left:
            return name, said
    named = re.search(r"(\S+\.db(-wal)?)\b.*move (it|\S+) away and run `vault-index sync`", said)
    if named:
        Path(named[1]).rename(home / "away")
        with VaultIndex.open(home) as index:
            index.sync()
        if not (left := wrong(home, fresh)):
            return "what it names", said
    return "", f"{left} | {said}"


def main() -> None:
    """Run the benchmark."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with indexed(folder, NOTES, provider="local") as _:
            pass
        index_db = folder / "home" / "index.db"
        fresh = rows(index_db) | {"schema": schema(index_db)}
        (folder / "home" / "other-wal").write_bytes(b"\x37\x7f\x06\x82" + bytes(28))
        print(f"{'damage':34}  {'mended by':20}  {'s':>5}  said")
        for name, damage in (INDEX | CACHE).items():
            if ARGS.only not in name:
                continue
            home = folder / "damaged"
            shutil.copytree(folder / "home", home)
            started = time.perf_counter()
            command, said = mended_by(home, damage, fresh)
            counts[command or "NOTHING"] += 1
            seconds = time.perf_counter() - started
            print(
                f"{name:34}  {command or 'NOTHING':20}  {seconds:5.1f}  {said[: ARGS.width]}",
                flush=True,
            )
            clear(home)
    print(
        f"\n{sum(counts.values())} forms: "
        f"{', '.join(f'{count} {name}' for name, count in counts.most_common())}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="those whose name holds this")
    parser.add_argument("--width", type=int, default=100, help="characters of what was said")
    parser.add_argument("--trace", action="store_true", help="tracebacks of defects")
    ARGS = parser.parse_args()
    main()
