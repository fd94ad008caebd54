"""A progress bar on stderr, if stderr is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, int, int], None]
"""Callback of long work: the stage, the number of finished items, and the total (0 if unknown)."""

_LABELS = {
    "read": "reading",
    "import": "importing",
    "text": "indexing",
    "embed": "embedding",
    "waiting": "waiting for the daemon",
}


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Progress]:
    """Yield a callback that draws one line per stage, with rate and remaining time."""
    if quiet or not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    import rich.progress
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    with rich.progress.Progress(
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", style="dim"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
    ) as bar:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for earlier in tasks.values():
                    bar.stop_task(earlier)
                tasks[stage] = bar.add_task(_LABELS.get(stage, stage), total=total or None, rate="")
            task = next(task for task in bar.tasks if task.id == tasks[stage])
            speed = task.speed
            rate = f"{speed:,.0f}/s" if speed and speed >= 10 else f"{speed:.1f}/s" if speed else ""
            bar.update(tasks[stage], completed=done, total=total or None, rate=rate)

        yield show
