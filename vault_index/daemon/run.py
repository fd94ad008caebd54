"""The daemon, one per home: it listens, reconciles and watches until a signal ends it."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from vault_index import memories
from vault_index.api import VaultIndex, bind, call, to_json
from vault_index.api.methods import WRITING
from vault_index.api.served import redact_path, redact_paths, served_params
from vault_index.callers import Caller, caller_from_json
from vault_index.config import Home, private_folder
from vault_index.daemon import protocol
from vault_index.daemon.changes import Changes
from vault_index.daemon.debounce import Debounce
from vault_index.daemon.embedding_queue import Stepper
from vault_index.daemon.log import log_event, logging_to
from vault_index.daemon.publication import Publication
from vault_index.daemon.server import Request, Server
from vault_index.daemon.signals import EventQueue
from vault_index.daemon.system import (
    DaemonLock,
    notify,
    share_heap,
    take_turns,
    trim_memory,
    watchdog_interval,
)
from vault_index.daemon.watcher import Watcher
from vault_index.daemon.workers import Workers, open_index
from vault_index.daemon.writer import Settings, Writer
from vault_index.errors import UsageError, VaultIndexError
from vault_index.health import index_status
from vault_index.progress import CancelToken, Progress
from vault_index.results.base import Problem
from vault_index.results.status import DaemonStatus
from vault_index.runtime import Runtime
from vault_index.store.spaces import serving_space
from vault_index.times import iso_time
from vault_index.version import __version__

if TYPE_CHECKING:
    from vault_index.output import Format

log = logging.getLogger(__name__)

Tools = Callable[[Callable[[str, Mapping[str, Any]], dict[str, Any]], Mapping[str, Any]], str]
"""Answers an agent's tool call (`tool`), given a function that runs a method, and the request's
params.
"""

_TEND_SECONDS = 5.0
_TELL_SECONDS = 30.0
"""Seconds between log lines about long work."""
_WRITER_SECONDS = 1.3
"""Seconds for the current job after SIGTERM; the daemon promises to end within two."""
_POLL_SECONDS = 15.0
"""Seconds after which the pool is asked for changed memories, if they are mirrored, and after which
the daemon looks for remote sources that are due."""
_WATCHES_SECONDS = 0.3
"""Seconds for a running poll to end."""


def run(home: Home, *, log_level: str = "info", tools: Tools | None = None) -> int:
    """Serve until SIGTERM or SIGINT and return the exit code. Call it from the main thread.

    Raises BusyError if a daemon already runs for this home, and the errors of opening the index.
    """
    share_heap()
    take_turns()
    private_folder(home.data_dir)
    private_folder(home.runtime_dir)
    lock = DaemonLock(home.daemon_lock)
    try:
        with logging_to(home.daemon_log, log_level), EventQueue() as inbox:
            try:
                runtime = Runtime.open(home)
            except VaultIndexError as error:  # the user may not see stderr
                log_event(
                    log,
                    logging.CRITICAL,
                    "not started",
                    code=error.code,
                    message=error.message,
                    hint=error.hint,
                )
                raise
            with closing(runtime):
                return Daemon(runtime, inbox, tools).serve()
    finally:
        lock.release()


class Daemon:
    """The main thread and all components of one daemon.

    The main thread waits for events in the inbox and triggers most of the work.
    """

    def __init__(self, runtime: Runtime, inbox: EventQueue, tools: Tools | None = None) -> None:
        self._runtime = runtime
        self._tools = tools
        self._index = index = VaultIndex(runtime)
        self._inbox = inbox
        self._tell_at = time.monotonic() + _TELL_SECONDS
        self._renew_at = 0.0
        self._interval = min(_TEND_SECONDS, watchdog_interval() or _TEND_SECONDS)
        self._since = iso_time(time.time())
        self._changes = Changes()
        self._publication = Publication(
            self._publish,
            lambda: (
                _POLL_SECONDS
                if runtime.config.pool.mirror or any(one.remote for one in runtime.config.sources)
                else None
            ),
        )
        self._due: dict[str, float] = {}
        """When a remote source is exchanged next, by name and `time.monotonic`."""
        self._writer = Writer(
            index, self._call, self._settings(), on_missed=lambda: inbox.put("renew")
        )
        self._watcher = self._new_watcher()
        self._workers = Workers(open_index, runtime.home)
        self._server = Server(runtime.home.socket_path, self.answer)

    def serve(self) -> int:
        """Start all threads, wait for a signal, stop, and return the exit code."""
        self._server.start()
        self._watcher.start()
        self._writer.start()
        self._publication.start()
        log_event(
            log, logging.INFO, "ready", pid=os.getpid(), socket=self._runtime.home.socket_path
        )
        notify(f"READY=1\nSTATUS={self._state()}")
        code = self._wait()
        notify("STOPPING=1")
        self._stop(code)
        return code

    def _wait(self) -> int:
        while True:
            event = self._inbox.get(self._interval)
            if event == "stop":
                return 0
            if event == "reload":
                self._writer.call(self._reload)
            elif event == "reloaded":
                self._apply()
                notify("READY=1")
            elif event == "renew":
                self._renew()
            else:
                self._watcher.tend()
                self._release()
            if not (self._writer.is_alive() and self._server.is_alive()):
                log_event(log, logging.CRITICAL, "a thread died; the daemon exits to be restarted")
                return 1
            self._report()

    def _renew(self) -> None:
        """Renew the watches, but not repeatedly: a persistent fault is left to `tend`."""
        if time.monotonic() >= self._renew_at:
            self._renew_at = time.monotonic() + _TEND_SECONDS
            self._watcher.renew()

    def _release(self) -> None:
        idle = self._runtime.config.embedding.idle_minutes * 60
        if idle:
            self._workers.release(idle)
        if idle and self._runtime.release(idle):
            trim_memory()
            log_event(log, logging.INFO, "model released", idle_minutes=idle / 60)

    def _report(self) -> None:
        notify(f"STATUS={self._state()}\nWATCHDOG=1")
        if (work := self._writer.state().work) is None:
            self._tell_at = time.monotonic() + _TELL_SECONDS
        elif time.monotonic() >= self._tell_at:
            self._tell_at = time.monotonic() + _TELL_SECONDS
            log_event(log, logging.INFO, "working", **asdict(work))

    def _state(self) -> str:
        state = self._writer.state()
        counts = (
            f"{state.waiting} waiting, {state.pending} without a vector, "
            f"{state.watch.missed} missed"
        )
        work = state.work
        return (
            counts
            if work is None
            else f"{work.stage}: {work.done} of {work.total}, {work.rate}/s; {counts}"
        )

    def _call(
        self, method: str, params: dict[str, Any], progress: Progress, cancel: CancelToken
    ) -> Any:
        """Run a method in the writer's thread."""
        if method == "reload":
            return self._reload()
        if method != "served":
            return call(self._index, method, params, progress, cancel)
        index = self._index_for(params["caller"])
        return call(index, params["method"], params["params"], progress, cancel)

    def _index_for(self, caller: Caller) -> VaultIndex:
        """Return the index as this caller sees it."""
        return VaultIndex(self._runtime.within(caller.scope, caller.name))

    def _reload(self) -> dict[str, Any]:
        """Reload in the writer's thread.

        An invalid configuration is reported and the old one stays.
        """
        # Only now, because systemd treats a long reload as failed.
        notify(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")
        try:
            self._runtime.reload()
        except BaseException:
            notify("READY=1")
            raise
        self._inbox.put("reloaded")
        return {"sources": len(self._runtime.sources)}

    def _apply(self) -> None:
        """Watch the new sources first, so that no change is missed between reconcile and watch."""
        self._watcher.stop()
        self._watcher = self._new_watcher()
        self._watcher.start()
        self._workers.stop()
        self._publication.wake()
        self._writer.call(lambda: self._writer.configure(self._settings()))
        log_event(log, logging.INFO, "reloaded", sources=len(self._runtime.sources))

    def _settings(self) -> Settings:
        runtime = self._runtime
        memory, watch = runtime.config.memory, runtime.config.watch
        run_maintenance = self._keep_house if memory.auto_prune or memory.archive_after else None
        # A server may be slow and must not delay saved files, so use another thread and index.
        if runtime.config.embedding.provider in ("local", "none"):
            stepper = Stepper(lambda: runtime)
        else:
            stepper = Stepper(lambda: Runtime.open(runtime.home), apart=True)
        return Settings(
            Debounce(watch.quiet, watch.longest),
            stepper,
            watch.reconcile * 60,
            reconciled=run_maintenance,
            rested=self._shrink,
            worked=self._publication.wake,
        )

    def _publish(self, changed: bool) -> Sequence[Problem]:
        """Exchange files with remotes, and publish to the team's pool, in a thread of its own.

        If nothing `changed` here, only exchange the memories of the pool.
        """
        pool, problems = self._runtime.config.pool, self._exchange(changed)
        if not pool.dsn or not (pool.sources or pool.mirror):
            return problems
        # Imported here because most daemons have no pool.
        from vault_index.team.publish import publish

        report = publish(self._runtime.machine(), mirror_only=not changed)
        counts = {name: getattr(report, name) for name in ("published", "removed", "vectors")}
        if any(counts.values()):
            log_event(log, logging.INFO, "published", **counts, seconds=report.seconds)
        return (*problems, *report.problems)

    def _exchange(self, changed: bool) -> Sequence[Problem]:
        """Exchange files with the remote sources that are due, or that something waits for."""
        problems: list[Problem] = []
        for source in self._runtime.config.sources:
            if source.remote and source.every:
                # Imported here because most daemons have no remote source.
                from vault_index.remotes.mirror import state_of, synchronise

                if time.monotonic() >= self._due.get(source.name, 0.0) or (
                    changed and state_of(self._runtime.config, source)["pending"]
                ):
                    self._due[source.name] = time.monotonic() + source.every * 60
                    done = synchronise(self._runtime.machine(), source)
                    problems += done.problems
                    if any(done[:3]):
                        log_event(log, logging.INFO, "exchanged", source=source.name)
        return problems

    def _shrink(self) -> None:
        self._runtime.shrink()
        trim_memory()

    def _keep_house(self) -> None:
        """Archive and prune memories, in the writer's thread."""
        for done, outcomes in memories.run_maintenance(self._runtime).items():
            if outcomes.results or outcomes.failed:
                log_event(
                    log,
                    logging.INFO,
                    done,
                    memories=len(outcomes.results),
                    failed=len(outcomes.failed),
                )

    def _new_watcher(self) -> Watcher:
        return Watcher(self._runtime.sources, self._writer.mark, self._runtime.config.watch.backend)

    def _stop(self, code: int) -> None:
        finished = self._writer.stop(_WRITER_SECONDS) and self._publication.stop(0.1)
        self._server.stop(0.2)
        self._workers.stop()
        watches = threading.Thread(target=self._watcher.stop, name="stop", daemon=True)
        watches.start()
        watches.join(_WATCHES_SECONDS)
        if not finished or self._writer.busy_apart or watches.is_alive():
            # In a network call, or on a hanging share. Transactions are atomic, so nothing is lost.
            log_event(log, logging.WARNING, "stopped in the middle of a job")
            # The lock stays held; a pid in its file would look like a crash.
            with suppress(OSError):
                os.truncate(self._runtime.home.daemon_lock, 0)
            os._exit(code)
        log_event(log, logging.INFO, "stopped")

    # --- connection threads, several at a time ----------------------------------------------------

    def answer(self, request: Request, progress: Progress) -> dict[str, Any] | str:
        """Answer a request: ping and status here, reading by the index, writing by the writer."""
        if request.method == "served":
            return self._serve(request.params, progress)
        if request.method == "changes":
            return self._answer_changes(Caller("", True), request.params)
        if request.method == "tool" and self._tools:

            def ask(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
                return to_json(self._answer(Request(method, dict(params), None), progress))  # type: ignore[no-any-return]

            return self._tools(ask, request.params)
        answer: dict[str, Any] = to_json(self._answer(request, progress))
        if request.format is None:
            return answer
        # Imported here because most clients render themselves.
        from vault_index.output import render

        return render(request.method, answer, cast("Format", request.format))

    def _serve(self, asked: dict[str, Any], progress: Progress) -> dict[str, Any]:
        """Answer a method for a caller with a token.

        A separate method, so that an older daemon refuses it instead of answering from the whole
        index.
        """
        try:
            caller, method, params = (
                caller_from_json(asked["caller"]),
                str(asked["method"]),
                dict(asked["params"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                "a served request needs caller, method and params", "see docs/protocol.md"
            ) from error
        if method == "changes":
            return self._answer_changes(caller, params)
        if method.startswith("page/"):
            # Imported here because most daemons serve no page.
            from vault_index.page.answers import answer as answer_page

            if method == "page/about":  # the page was opened, so a query will follow
                with suppress(VaultIndexError), self._runtime.pool.lend() as connections:
                    self._runtime.embedders.prepare(serving_space(connections.reader), "")
            return answer_page(self._runtime, caller, method.removeprefix("page/"), params)
        params = served_params(caller, method, params)
        try:
            answer = self._answer_caller(caller, method, params, progress)
        except VaultIndexError as error:
            if not caller.scope.whole:
                texts = error.message, error.hint
                error.message, error.hint = (
                    redact_path(one, self._runtime, str(params)) for one in texts
                )
            raise
        if method in WRITING:
            log_event(log, logging.INFO, "written by token", method=method, token=caller.name)
        return answer if caller.scope.whole else redact_paths(answer, self._runtime, str(params))

    def _answer_caller(
        self, caller: Caller, method: str, params: dict[str, Any], progress: Progress
    ) -> dict[str, Any]:
        if method in WRITING:
            job = {"caller": caller, "method": method, "params": params}
            answer = to_json(self._writer.submit("served", job).follow(progress))
        elif method in ("status", "doctor"):  # unrestricted callers also see the daemon's status
            answer = to_json(self._answer(Request(method, params, None), progress))
        else:
            answer = to_json(self._read(self._index_for(caller), method, params, caller))
        return answer  # type: ignore[no-any-return]

    def _answer_changes(self, caller: Caller, params: dict[str, Any]) -> dict[str, Any]:
        since = params.get("since", "")
        if params.keys() - {"since"} or not isinstance(since, str):
            raise UsageError(
                "changes takes only since, the serial of an earlier answer", "see docs/protocol.md"
            )
        scope, state = caller.scope, self._writer.state()
        answer = self._changes.since(since, scope, self._runtime.within(scope))
        if scope.whole:
            work = {"work": to_json(state.work), "waiting": state.waiting}
            answer["progress"] = {**work, "pending": state.pending}
        return answer

    def _answer(self, request: Request, progress: Progress) -> Any:
        if request.method == "ping":
            version = {"version": __version__, "protocol": protocol.VERSION}
            return version | {"pid": os.getpid(), "since": self._since}
        if request.method in WRITING or request.method == "reload":
            return self._writer.submit(request.method, request.params).follow(progress)
        # `status --privacy` does not depend on the daemon.
        if request.method == "status" and bind("status", request.params)[0] == "status":
            state = self._writer.state()
            daemon = DaemonStatus(True, os.getpid(), self._since, state.work)
            watch = replace(state.watch, backend=self._watcher.backend)
            return self._with_own_problems(index_status(self._runtime, daemon, watch))
        if request.method == "doctor":
            answer = self._with_own_problems(call(self._index, "doctor", request.params))
            return replace(answer, healthy=not answer.problems)
        return self._read(self._index, request.method, request.params)

    def _read(
        self, index: VaultIndex, method: str, params: dict[str, Any], caller: Caller | None = None
    ) -> Any:
        return self._workers.call(partial(call, index, method, params), method, params, caller)

    def _with_own_problems(self, answer: Any) -> Any:
        known = {problem.code for problem in answer.problems}
        own = (
            *self._watcher.problems,
            *self._writer.state().problems,
            *self._publication.problems,
        )
        return replace(
            answer, problems=(*answer.problems, *(one for one in own if one.code not in known))
        )
