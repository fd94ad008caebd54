"""No answer tells what a caller may not see: each is that of an index without it.

A random scene is indexed as it is, and once more without what the caller may not see. Both get the same calls.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.seeds import seeds
from tests.serve.calls import Call, reading_calls, writing_calls
from tests.serve.scenes import Item, Scene, files_below, make_scene, place, sees
from tests.serve.sides import Side, alike, built, difference, exact, short
from vault_index import VaultIndex
from vault_index.api.json_api import dispatch
from vault_index.api.methods import WRITING
from vault_index.api.served import served_params
from vault_index.callers import Caller, Scope
from vault_index.daemon.isolated import PartRuntime

_BY_TIME = ("list", "timeline", "recall")
"""Methods that order by the time of writing."""


class Watch:
    """Asks both sides, and knows what the caller must not be told."""

    def __init__(self, scene: Scene, whole: Side, part: Side) -> None:
        self.scene, self.whole, self.part = scene, whole, part
        self.caller, self.secrets = Caller("phone", writes=True, scope=scene.scope), scene.canaries()
        self._written = False

    def faults(self, call: Call) -> Iterator[str]:
        """Yield what is wrong with the answer to a call. What the caller itself says is no secret from then on."""
        asked = json.dumps(call.params, ensure_ascii=False).lower()
        self.secrets -= {word for word in self.secrets if word in asked}
        told, without = (side.ask(call, self.caller) for side in (self.whole, self.part))
        said = json.dumps(told, ensure_ascii=False).lower()
        if words := sorted(word for word in self.secrets if word in said):
            yield f"tells {words}: {short(told)}"
        self._written |= call.method in WRITING
        if call.crosses(self.scene) or (self._written and call.method in _BY_TIME):
            return
        one, other = alike(call, told), alike(call, without)
        if one != other:
            yield f"differs from a scene without it:\n{difference(one, other)}"


def faults(scene: Scene, random: Random, folder: Path) -> Iterator[tuple[Call, str]]:
    """Yield everything that the answers to random calls give away."""
    with built(folder / "whole", scene, part=False) as whole, built(folder / "part", scene, part=True) as part:
        watch = Watch(scene, whole, part)
        while part.stage < len(scene.stages) - 1:
            yield from _asked(watch, reading_calls(random, scene, 10))
            whole.advance()
            part.advance()
        yield from _asked(watch, reading_calls(random, scene, 40))
        before = files_below(whole.folder)
        yield from _asked(watch, writing_calls(random, scene))
        spilt = [(Call("files", {}), fault) for fault in spilt_by(scene, whole, part, before)]
        yield from spilt or _asked(watch, reading_calls(random, scene, 10))


def _asked(watch: Watch, calls: Iterable[Call]) -> Iterator[tuple[Call, str]]:
    for call in calls:
        for fault in watch.faults(call):
            yield call, fault


def spilt_by(scene: Scene, whole: Side, part: Side, before: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what writing did to files that the caller may not see, or did differently because of them."""
    hidden = {str(place(Path(), item)) for item in scene.last if not sees(scene.scope, item)}
    after, alone = files_below(whole.folder), files_below(part.folder)
    for name in hidden & before.keys():
        if after.get(name) != before[name]:
            yield f"{name} says {after.get(name)!r} instead of {before[name]!r}"
    for name in after.keys() - hidden:
        source, _, path = name.partition("/")
        if after[name] == before.get(name) or source not in scene.vaults or path.startswith(".trash/"):
            continue
        said = re.search(rb"^project: (.*)$", after[name], re.MULTILINE)
        item = Item(0, source, path, after[name], project=said[1].decode() if said else None)
        if not sees(scene.scope, item):
            yield f"{name} is outside, and says {after[name]!r}"
    left = {name: data for name, data in after.items() if name not in hidden}
    one, other = (
        {side.plain(name): side.plain(repr(files[name])) for name in files if name.split("/")[0] in scene.vaults}
        for side, files in ((whole, left), (part, alone))
    )
    if one != other:
        yield f"files differ:\n{difference(one, other)}"


def isolated_faults(scene: Scene, random: Random, folder: Path) -> Iterator[tuple[Call, str]]:
    """Yield every difference, also of scores and order."""
    folders = scene.scope.folders or (() if scene.scope.sources else ("work",))
    scene.scope = Scope(scene.scope.sources, folders, isolated=True)
    scene.opened = scene.kept = ()  # what the user does in the whole is not counted in the part
    caller = Caller("phone", scope=scene.scope)
    with built(folder / "whole", scene, part=False) as whole, built(folder / "part", scene, part=True) as part:
        own = PartRuntime(whole.index._runtime, scene.scope)
        own.prepare()
        with closing(own):
            VaultIndex(own).sync()
            while part.stage < len(scene.stages) - 1:
                whole.advance()
                part.advance()
                VaultIndex(own).sync()

            def ask(caller: Caller, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
                index = VaultIndex(own.within(caller.scope, caller.name))
                return dispatch(index, method, served_params(caller, method, params))

            for call in reading_calls(random, scene, 50):
                if not call.of_disk:
                    alone = part.ask(call, caller._replace(scope=Scope()))
                    one, other = (exact(told) for told in (whole.ask(call, caller, ask), alone))
                    if one != other:
                        yield call, difference(one, other)


def check(found: Iterable[tuple[Call, str]], scene: Scene) -> None:
    for call, fault in found:
        raise AssertionError(f"{scene.scope}\n{call}\n{fault}")


@pytest.mark.parametrize("seed", seeds(8))
def test_no_answer_tells_what_a_caller_may_not_see(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    scene = make_scene(random, provider=random.choice(("none", "none", "local")))
    check(faults(scene, random, tmp_path), scene)


@pytest.mark.parametrize("seed", seeds(3))
def test_isolated_scope_answers_as_an_index_of_it_alone(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    scene = make_scene(random, provider=random.choice(("none", "local")))
    check(isolated_faults(scene, random, tmp_path), scene)
