"""No answer reveals hidden documents:

each equals that of an index without them. A random scene is indexed completely, and again without the hidden part. Both
get the same calls.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import pytest

from tests.seeds import seeds
from tests.serve.calls import Call, reading_calls
from tests.serve.scenes import Scene, make_scene
from tests.serve.sides import Side, alike, built, difference, short
from vault_index.callers import Caller


class Watch:
    """Calls both sides, and knows what the answers must not reveal."""

    def __init__(self, scene: Scene, whole: Side, part: Side) -> None:
        self.scene, self.whole, self.part = scene, whole, part
        self.caller, self.secrets = Caller("phone", scope=scene.scope), scene.canaries()

    def faults(self, call: Call) -> Iterator[str]:
        """Yield the faults in the answer to a call. Words of the caller are no secret from then on."""
        asked = json.dumps(call.params, ensure_ascii=False).lower()
        self.secrets -= {word for word in self.secrets if word in asked}
        told, without = (side.ask(call, self.caller) for side in (self.whole, self.part))
        said = json.dumps(told, ensure_ascii=False).lower()
        if words := sorted(word for word in self.secrets if word in said):
            yield f"tells {words}: {short(told)}"
        if call.crosses(self.scene):
            return
        one, other = alike(call, told), alike(call, without)
        if one != other:
            yield f"differs from a scene without it:\n{difference(one, other)}"


def faults(scene: Scene, random: Random, folder: Path) -> Iterator[tuple[Call, str]]:
    """Yield every leak in the answers to random calls."""
    with built(folder / "whole", scene, part=False) as whole, built(folder / "part", scene, part=True) as part:
        watch = Watch(scene, whole, part)
        while part.stage < len(scene.stages) - 1:
            yield from _call_all(watch, reading_calls(random, scene, 10))
            whole.advance()
            part.advance()
        yield from _call_all(watch, reading_calls(random, scene, 40))


def _call_all(watch: Watch, calls: Iterable[Call]) -> Iterator[tuple[Call, str]]:
    for call in calls:
        for fault in watch.faults(call):
            yield call, fault


def check(found: Iterable[tuple[Call, str]], scene: Scene) -> None:
    for call, fault in found:
        raise AssertionError(f"{scene.scope}\n{call}\n{fault}")


@pytest.mark.parametrize("seed", seeds(8))
def test_scope_answers_reveal_nothing_hidden(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    scene = make_scene(random, provider=random.choice(("none", "none", "local")))
    check(faults(scene, random, tmp_path), scene)
