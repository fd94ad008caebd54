"""Due work runs by priority, and in order within one priority, without waiting."""

from vault_index.daemon.work_queue import Priority, Timer, Work, WorkQueue


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def work(name: str, done: list[str]) -> Work:
    return lambda: done.append(name)


def carry_out_all(queue: WorkQueue) -> None:
    while (next_work := queue.take()) is not None:
        next_work()


def test_work_queue_runs_by_priority_then_order() -> None:
    queue, done = WorkQueue({}, Clock()), list[str]()
    for priority, name in (
        (Priority.REQUEST, "sync"),
        (Priority.INTERNAL, "settings"),
        (Priority.MEMORY, "add"),
        (Priority.REQUEST, "embed"),
        (Priority.MEMORY, "delete"),
    ):
        assert queue.put(priority, work(name, done))
    queue.put(Priority.REQUEST, work("rest of a sync", done), first=True)
    assert queue.count(Priority.REQUEST) == 3
    carry_out_all(queue)
    assert done == ["add", "delete", "settings", "rest of a sync", "sync", "embed"]


def test_work_queue_runs_timers_among_queued_work() -> None:
    clock, done = Clock(), list[str]()
    times: dict[Priority, float | None] = {Priority.SAVED_FILES: 100.5, Priority.VECTORS: 99.0}

    def timer(priority: Priority) -> Timer:
        def run() -> None:
            times[priority] = None
            done.append(priority.name)

        return Timer(lambda: times[priority], run)

    queue = WorkQueue({priority: timer(priority) for priority in times}, clock)
    queue.put(Priority.REQUEST, work("sync", done))
    assert queue.is_due(Priority.REQUEST)
    assert not queue.is_due(Priority.SAVED_FILES, Priority.MEMORY)
    carry_out_all(queue)
    assert done == ["sync", "VECTORS"]
    clock.now = 100.5
    assert queue.is_due(Priority.SAVED_FILES)
    queue.put(Priority.MEMORY, work("add", done))
    carry_out_all(queue)
    assert done[2:] == ["add", "SAVED_FILES"]
