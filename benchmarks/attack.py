"""Shared code of the attack programs: seeds, a folder in memory, findings and a table."""

import argparse
import contextlib
import ctypes
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import arguments, describe

_CAPABILITY_VERSION_3, _PR_CAPBSET_DROP = 0x20080522, 24
_LONGEST_SECONDS = 120
"""Of CPU time, which a busy machine does not change."""
_UNDER_WAY = 6
_OVERRIDING = (1, 2)
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""


@dataclass(slots=True)
class Story:
    """One random run: the steps and the findings. The same seed repeats it."""

    seed: int
    steps: list[str] = field(default_factory=list)
    findings: list[tuple[str, str]] = field(default_factory=list)
    """A kind, by which they are counted, and the details."""
    counts: Counter[str] = field(default_factory=Counter)

    def did(self, step: str) -> None:
        """Record a step."""
        self.steps.append(step)

    def found(self, kind: str, detail: str) -> None:
        """Record a finding: a kind, and the details."""
        self.findings.append((kind, detail))
        self.steps.append(f"FOUND {kind}: {detail}")


@dataclass(frozen=True, slots=True)
class Attack:
    """A random run as a function; it may use the folder freely, which is removed afterwards."""

    tell: Callable[[Story, Path, frozenset[str]], None]
    without: frozenset[str] = frozenset()
    """Actions that are left out."""

    def __call__(self, seed: int) -> Story:
        """Run the story with this seed and return it."""
        story, environment = Story(seed), dict(os.environ)
        with scratch() as folder:
            signal.signal(signal.SIGPROF, _too_long)
            signal.setitimer(signal.ITIMER_PROF, _LONGEST_SECONDS)
            try:
                self.tell(story, folder, self.without)
            except Exception as error:  # noqa: BLE001 - every error is a finding
                frames = "".join(traceback.format_exception(error)[-6:])
                story.found(f"raised {type(error).__name__}", frames)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                os.environ.clear()
                os.environ.update(environment)
        return story


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Return a folder in memory if possible, because thousands of runs sync many files to disk."""
    memory = Path("/dev/shm")
    base = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="vx-attack-", dir=base))
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Folders that a story closed are opened first."""
    for path, folders, _ in os.walk(folder):
        for name in folders:
            with contextlib.suppress(OSError):
                os.chmod(os.path.join(path, name), 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def obey_permissions() -> None:
    """Give up root's right to ignore permissions, also for child processes. Linux only."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None)
    header, sets = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    for place in range(3):
        sets[place] &= ~sum(1 << right for right in _OVERRIDING)
    for right in _OVERRIDING:
        libc.prctl(_PR_CAPBSET_DROP, right, 0, 0, 0)
    libc.capset(header, sets)


def options(description: str | None, count: int, actions: Sequence[str]) -> argparse.Namespace:
    """Parse the options that all attack programs share."""
    parser = arguments(description)
    parser.add_argument("--seed", type=int, default=1, help="the first seed (default: 1)")
    parser.add_argument("--count", type=int, default=count, help=f"runs (default: {count})")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start none later")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="parallel runs")
    parser.add_argument(
        "--without", default="", metavar="A,B", help=f"left out, of: {', '.join(actions)}"
    )
    parser.add_argument("--steps", action="store_true", help="print the steps of every run")
    return parser.parse_args()


def run(attack: Attack, chosen: argparse.Namespace) -> int:
    """Run the stories and print a table of their steps; return 1 if anything was found."""
    started, done, counts = time.monotonic(), 0, Counter[str]()
    found: dict[str, list[Story]] = {}
    print(describe(), flush=True)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(chosen.jobs, context, obey_permissions) as pool:
        begun = range(chosen.seed, chosen.seed + chosen.count)
        for story in _told(pool, attack, begun, started + chosen.seconds):
            done += 1
            counts += story.counts
            for kind in dict.fromkeys(kind for kind, _ in story.findings):
                stories = found.setdefault(kind, [])
                stories.append(story)
                if len(stories) == 1 and kind == story.findings[0][0]:
                    print(f"\nseed {story.seed} found {kind}; its steps:", *story.steps, sep="\n  ")
            if chosen.steps and not story.findings:
                print(f"\nseed {story.seed}", *story.steps, sep="\n  ")
    print(f"\n{done} in {time.monotonic() - started:.0f} s, seeds from {chosen.seed}")
    for name, number in sorted(counts.items()):
        print(f"  {name:<40}{number:>8}")
    print("findings" if found else "no findings")
    for kind, stories in sorted(found.items(), key=lambda item: -len(item[1])):
        seeds = sorted(story.seed for story in stories)
        print(f"  {kind:<40}{len(seeds):>8}   seeds {', '.join(map(str, seeds[:8]))}")
    return 1 if found else 0


def _told(pool: Executor, attack: Attack, seeds: Iterable[int], deadline: float) -> Iterator[Story]:
    """The stories as they end, begun in time; a few are always under way."""
    waiting: set[futures.Future[Story]] = set()
    for seed in seeds:
        if time.monotonic() > deadline:
            break
        waiting.add(pool.submit(attack, seed))
        if len(waiting) >= _UNDER_WAY:
            ended, waiting = futures.wait(waiting, return_when=futures.FIRST_COMPLETED)
            yield from (one.result() for one in ended)
    for one in futures.as_completed(waiting):
        yield one.result()


def _too_long(*_: object) -> None:
    raise TimeoutError(f"not over after {_LONGEST_SECONDS} s of CPU time")


def exit_with(code: int) -> None:
    """Exit with the result of `run`."""
    sys.stdout.flush()
    sys.exit(code)
