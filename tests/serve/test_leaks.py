"""What a caller with a token may not see, no answer tells: each is that of an index without it.

A random world is indexed as it is, and once more without what the caller may not see. The same calls are asked of both.
VAULT_INDEX_LEAKS=N tries N worlds instead of a few.
"""

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from tests.daemon.test_run import Place
from tests.serve import servers
from tests.serve.calls import Call, calls_of_clients, reading_calls, writing_calls
from tests.serve.sides import Ask, Side, alike, built, by_tools, difference, exact, in_process, short
from tests.serve.worlds import Item, World, files_below, make_world, place, sees
from vault_index import VaultIndex
from vault_index.api.json_api import dispatch
from vault_index.api.methods import READING, WRITING
from vault_index.api.served import served_params
from vault_index.callers import Caller, Scope, caller_to_json
from vault_index.daemon.isolated import PartRuntime
from vault_index.daemon.protocol import error_from

EXAMPLES = int(os.environ.get("VAULT_INDEX_LEAKS", "8"))
# A smaller world is another one: what is told names its seed, which is quicker to look at than a hundred more worlds.
QUICK: dict[str, Any] = {
    "derandomize": "VAULT_INDEX_LEAKS" not in os.environ,
    "phases": (Phase.explicit, Phase.generate),
    "suppress_health_check": list(HealthCheck),
}

_BY_TIME = ("list", "timeline", "recall")
"""What is told by the time at which it was written."""

Serve = Callable[[Side], AbstractContextManager[Ask]]
"""Has the whole of a world served by another way than a call in this process."""


class Watch:
    """Asks two sides, and keeps what the caller must not be told."""

    def __init__(self, world: World, whole: Side, part: Side, ask: Ask) -> None:
        self.world, self.whole, self.part = world, whole, part
        self.caller, self.secrets = Caller("phone", writes=True, scope=world.scope), world.canaries()
        self._of_whole, self._of_part = ask, in_process(part.index)
        self._written = False

    def faults(self, call: Call, way: Callable[[Ask], Ask] = lambda ask: ask) -> Iterator[str]:
        """What is wrong with the answer to one call; what the caller says itself is no secret from then on."""
        asked = json.dumps(call.params, ensure_ascii=False).lower()
        self.secrets -= {word for word in self.secrets if word in asked}
        told, without = (
            side.ask(call, self.caller, way(ask))
            for side, ask in ((self.whole, self._of_whole), (self.part, self._of_part))
        )
        said = json.dumps(told, ensure_ascii=False).lower()
        if words := sorted(word for word in self.secrets if word in said):
            yield f"tells {words}: {short(told)}"
        self._written |= call.method in WRITING
        if call.crosses(self.world) or (self._written and call.method in _BY_TIME):
            return
        one, other = alike(call, told), alike(call, without)
        if one != other:
            yield f"differs from a world without it:\n{difference(one, other)}"
        elif call.method in READING - {"get"} and not call.of_disk and not call.names_source:
            alone = self.part.ask(call, self.caller._replace(scope=Scope()))
            one, other = (alike(call, told, same_scope=False) for told in (without, alone))
            if one != other:
                yield f"differs from an index of that part:\n{difference(one, other)}"


def faults(world: World, random: Random, folder: Path, serve: Serve | None = None) -> Iterator[tuple[Call, str]]:
    """Everything that the answers of random calls give away."""
    with ExitStack() as stack:
        whole = stack.enter_context(built(folder / "whole", world, part=False))
        part = stack.enter_context(built(folder / "part", world, part=True))
        if serve:
            whole.advance_to_last()
            part.advance_to_last()
        watch = Watch(world, whole, part, stack.enter_context(serve(whole)) if serve else in_process(whole.index))
        while part.stage < len(world.stages) - 1:
            yield from _asked(watch, reading_calls(random, world, 10))
            whole.advance()
            part.advance()
        yield from _asked(watch, reading_calls(random, world, 40))
        for call in calls_of_clients(random, world):
            for fault in watch.faults(call, by_tools):
                yield call, fault
        before = files_below(whole.folder)
        for call in writing_calls(random, world):
            yield from _asked(watch, [call])
        spilt = [(Call("files", {}), fault) for fault in spilt_by(world, whole, part, before)]
        yield from spilt or _asked(watch, reading_calls(random, world, 10))


def _asked(watch: Watch, calls: Iterable[Call]) -> Iterator[tuple[Call, str]]:
    for call in calls:
        for fault in watch.faults(call):
            yield call, fault


def spilt_by(world: World, whole: Side, part: Side, before: Mapping[str, bytes]) -> Iterator[str]:
    """What writing did to files that the caller may not see, and that it did otherwise because of them."""
    hidden = {str(place(Path(), item)) for item in world.last if not sees(world.scope, item)}
    after, alone = files_below(whole.folder), files_below(part.folder)
    for name in hidden & before.keys():
        if after.get(name) != before[name]:
            yield f"{name} says {after.get(name)!r} instead of {before[name]!r}"
    for name in after.keys() - hidden:
        source, _, path = name.partition("/")
        if after[name] == before.get(name) or source not in world.vaults or path.startswith(".trash/"):
            continue
        said = re.search(rb"^project: (.*)$", after[name], re.MULTILINE)
        item = Item(0, source, path, after[name], project=said[1].decode() if said else None)
        if not sees(world.scope, item):
            yield f"{name} is outside, and says {after[name]!r}"
    left = {name: data for name, data in after.items() if name not in hidden}
    one, other = (
        {side.plain(name): side.plain(repr(files[name])) for name in files if name.split("/")[0] in world.vaults}
        for side, files in ((whole, left), (part, alone))
    )
    if one != other:
        yield f"files differ:\n{difference(one, other)}"


@settings(max_examples=EXAMPLES, **QUICK)
@given(st.integers(0, 2**32), st.sampled_from(("none", "none", "local")))
def test_no_answer_tells_of_what_a_caller_may_not_see(seed: int, provider: str) -> None:
    random = Random(seed)
    world = make_world(random, provider=provider)
    with tempfile.TemporaryDirectory() as folder:
        for call, fault in faults(world, random, Path(folder)):
            raise AssertionError(f"{world.scope}\n{call}\n{fault}")


@settings(max_examples=max(3, EXAMPLES // 3), **QUICK)
@given(st.integers(0, 2**32), st.sampled_from(("none", "local")))
def test_an_isolated_scope_answers_as_an_index_of_it_alone(seed: int, provider: str) -> None:
    random = Random(seed)
    world = make_world(random, provider=provider)
    with tempfile.TemporaryDirectory() as folder:
        for call, fault in isolated_faults(world, random, Path(folder)):
            raise AssertionError(f"{world.scope}\n{call}\n{fault}")


def isolated_faults(world: World, random: Random, folder: Path) -> Iterator[tuple[Call, str]]:
    """Whatever is otherwise, scores and order included."""
    folders = world.scope.folders or (() if world.scope.sources else ("work",))
    world.scope = Scope(world.scope.sources, folders, isolated=True)
    world.opened = world.kept = ()  # what the user does in the whole is not counted in the part
    caller = Caller("phone", scope=world.scope)
    with built(folder / "whole", world, part=False) as whole, built(folder / "part", world, part=True) as part:
        own = PartRuntime(whole.index._runtime, world.scope)
        own.prepare()
        with closing(own):
            VaultIndex(own).sync()
            while part.stage < len(world.stages) - 1:
                whole.advance()
                part.advance()
                VaultIndex(own).sync()

            def ask(caller: Caller, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
                index = VaultIndex(own.within(caller.scope, caller.name))
                return dispatch(index, method, served_params(caller, method, params))

            for call in reading_calls(random, world, 50):
                if not call.of_disk:
                    alone = part.ask(call, caller._replace(scope=Scope()))
                    one, other = (exact(told) for told in (whole.ask(call, caller, ask), alone))
                    if one != other:
                        yield call, difference(one, other)


@contextmanager
def by_daemon(side: Side) -> Iterator[Ask]:
    """By its socket, as `serve` asks."""
    place = Place(side.index.home, side.folder / side.world.vaults[0], side.folder / "log")

    def ask(caller: Caller, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        with place.connected() as client:  # type: ignore[union-attr]
            said = {"caller": caller_to_json(caller), "method": method, "params": dict(params)}
            return client.call("served", said)  # type: ignore[return-value]

    try:
        place.started()
        yield ask
    finally:
        place.end()
    log = place.log()
    assert not [word for word in side.world.words.given - {*side.world.vaults} if word in log]


class Here(servers.Place):
    """The home of a side."""

    def __init__(self, side: Side) -> None:
        self.vault, self.home, self._processes = side.folder, side.index.home, []


@contextmanager
def by_http(side: Side) -> Iterator[Ask]:
    here = Here(side)
    try:
        here.daemon()
        served, token = here.serve(), here.token("phone", writes=True, scope=side.world.scope)

        def ask(caller: Caller, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
            answer = served.call(method, token, **params)
            told: dict[str, Any] = answer.json
            if answer.status != 200:
                assert answer.status < 500, told
                raise error_from(told["error"])
            return told

        yield ask
    finally:
        here.close()


@pytest.mark.parametrize("serve", [by_daemon, by_http])
@pytest.mark.parametrize("seed", range(max(2, EXAMPLES // 50)))
def test_nor_does_a_process(tmp_path: Path, serve: Serve, seed: int) -> None:
    random = Random(seed)
    world = make_world(random)
    for call, fault in faults(world, random, tmp_path, serve):
        raise AssertionError(f"{world.scope}\n{call}\n{fault}")
