"""What a caller with a token may not see, no answer tells: each is that of an index without it.

A random vault is indexed as it is, and once more without what the caller may not see. The same calls are asked of both.
VAULT_INDEX_LEAKS=N tries N vaults instead of a few.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.serve.calls import Call, reading_calls, writing_calls
from tests.serve.worlds import Item, World, files_below, home_of, make_world, place, sees, write_stage
from vault_index import VaultIndex
from vault_index.api.json_api import dispatch
from vault_index.api.methods import WRITING
from vault_index.api.served import served_params
from vault_index.callers import Caller, Scope
from vault_index.errors import VaultIndexError
from vault_index.runtime import Runtime

EXAMPLES = int(os.environ.get("VAULT_INDEX_LEAKS", "12"))

Told = dict[str, Any]

_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b")
_NOW = re.compile(rf"\b{datetime.now().year}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?[^\s\"',]*)|\b{date.today()}\b")


@dataclass
class Side:
    """An index over what there is, and the caller's view of it."""

    folder: Path
    index: VaultIndex
    view: VaultIndex
    known: set[str]
    """Ids that were there before anything was written."""
    new: list[str] = field(default_factory=list)
    """Those that came since."""

    def ask(self, call: Call, caller: Caller, *, whole: bool = False) -> Told:
        """The answer or the error, without what differs from call to call and from folder to folder."""
        index = self.index if whole else self.view
        try:
            params = served_params(caller, call.method, call.within(self.folder, self.new[-1] if self.new else "5f0c"))
            told = {"answer": dispatch(index, call.method, params)}
        except VaultIndexError as error:
            told = {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
        return json.loads(self.plain(json.dumps(told, ensure_ascii=False)))  # type: ignore[no-any-return]

    def plain(self, text: str) -> str:
        """Without new ids, the time of today and the folder."""
        for id_ in _ID.findall(text):
            if id_ not in self.known and id_ not in self.new:
                self.new.append(id_)
        for number, id_ in enumerate(self.new):
            text = text.replace(id_, f"NEW-{number}").replace(id_[:13], f"NEW-{number}")
        return _NOW.sub("NOW", text.replace(str(self.folder), "{root}"))


@contextmanager
def built(folder: Path, world: World, *, part: bool) -> Iterator[Side]:
    """The index of all of the world, or of the part that is seen, as it became what it is."""
    home = home_of(folder, world, sources=world.scope.sources or None if part else None)
    for vault in world.vaults:
        (folder / vault / "keep.txt").write_text("A vault that has lost its notes is not taken for one that is gone.")
    with VaultIndex.open(home) as index:
        before: list[Any] = []
        for number, stage in enumerate(world.stages):
            seen = [item for item in stage if sees(world.scope, item)]
            if part or (world.pending and number == len(world.stages) - 1):
                left = [item for item in before if not sees(world.scope, item)]
                write_stage(folder, world.vaults, before, [*seen, *left] if not part else seen)
                assert "source_vanished" not in {problem.code for problem in index.sync().problems}
                before = [*seen, *left] if not part else seen
            if not part:
                write_stage(folder, world.vaults, before, stage)
                index.sync(embed=not world.pending)
                before = stage
            for item in before:
                if item.key in world.opened and item.kind in ("note", "memory"):
                    index.get(f"{item.source}:{item.path}")
        view = VaultIndex(view_of(index._runtime, world.scope))
        yield Side(folder, index, view, {item.id for item in world.items()})


def view_of(runtime: Runtime, scope: Scope) -> Runtime:
    return runtime.within(scope)  # type: ignore[attr-defined, no-any-return]


# --- what must be the same -------------------------------------------------------------------------------------------

_TIMES = ("took_ms", "indexed")
_SCORES = ("score", "weak", "newer", "explain", "confidence")
_OF_DOCUMENT = re.findall(
    r"\w+", "id kind source path title archived unreviewed tags type digest created updated entered_by project"
)


def alike(call: Call, told: Told, *, same_scope: bool = True) -> Any:
    """The part of an answer that does not depend on scores."""
    answer = told.get("answer")
    if answer is None:
        return told
    answer = {key: value for key, value in answer.items() if key not in _TIMES}
    if call.method == "search":
        return _search(call, answer)
    if call.method == "why":
        return _why(answer)
    if call.method == "recall" and call.params.get("query"):
        return {key: answer[key] for key in ("degraded", "waiting")}
    if call.method == "timeline" and call.params.get("query"):
        return "found"
    if call.method == "recall":
        answer |= {"text": re.sub(r"\b[0-9a-f]{16}\b", "MARK", answer["text"]), "tokens": None}
    if call.method == "history":
        answer["results"] = [{**one, "seen": None} for one in answer["results"]]
    if call.method == "delete":
        for one in answer["results"]:
            one["details"].pop("purge_seconds", None)
    if call.method == "stats" and not same_scope:
        answer.pop("bytes", None)
    return answer


def _search(call: Call, answer: Told) -> Any:
    answer = {key: value for key, value in answer.items() if key != "confidence"}
    answer["reading"] = _reading(answer)
    hits = answer.pop("results")
    if not call.everything:  # which ones come first depends on scores
        return {**answer, "hits": len(hits) if call.params.get("per_document", 3) > 99 else bool(hits)}
    paths = sorted({path for hit in hits for path in (hit["path"], *hit["also"])})
    told = {hit["id"]: {key: hit.get(key) for key in _OF_DOCUMENT} for hit in hits if not hit["also"]}
    return {**answer, "paths": paths, "told": told}


def _reading(answer: Told) -> Any:
    reading = answer.get("reading")
    if not reading:
        return None
    words = [{**word, "rarity": None} if word["texts"] else word for word in reading["words"]]
    return {**reading, "words": words}


def _why(answer: Told) -> Any:
    told = {key: answer[key] for key in ("id", "source", "path", "title", "lines", "degraded", "corrections")}
    return {**told, "reading": _reading(answer)}


# --- what must not be there ------------------------------------------------------------------------------------------


def check(world: World, secrets: set[str], whole: Side, part: Side, caller: Caller, call: Call) -> Iterator[str]:
    """What is wrong with the answers to one call; what the caller says itself is no secret from then on."""
    asked = json.dumps(call.params, ensure_ascii=False).lower()
    secrets -= {word for word in secrets if word in asked}
    told, without = whole.ask(call, caller), part.ask(call, caller)
    said = json.dumps(told, ensure_ascii=False).lower()
    if words := sorted(word for word in secrets if word in said):
        yield f"tells {words}: {_short(told)}"
    if call.crosses(world):
        return
    if alike(call, told) != alike(call, without):
        yield f"differs from a vault without it:\n{_difference(alike(call, told), alike(call, without))}"
    elif call.method not in {*WRITING, "get"} and not call.of_disk:  # `get` is counted
        alone = part.ask(call, Caller(caller.name, caller.writes), whole=True)
        one, other = (alike(call, one, same_scope=False) for one in (without, alone))
        if one != other:
            yield f"differs from an index of that part:\n{_difference(one, other)}"


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:1500]


def _difference(one: Any, other: Any, at: str = "") -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = {**one, **other}
        return "\n".join(
            _difference(one.get(key), other.get(key), f"{at}.{key}") for key in keys if one.get(key) != other.get(key)
        )
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return "\n".join(_difference(a, b, f"{at}[{n}]") for n, (a, b) in pairs if a != b)
    return f"  {at}: {_short(one)}\n  {'without it':>{len(at) + 2}}: {_short(other)}"


def faults(world: World, random: Random, folder: Path) -> Iterator[tuple[Call, str]]:
    """Everything that the answers of random calls give away."""
    caller, secrets = Caller("phone", writes=True, scope=world.scope), world.canaries()
    with built(folder / "whole", world, part=False) as whole, built(folder / "part", world, part=True) as part:
        for call in reading_calls(random, world):
            for fault in check(world, secrets, whole, part, caller, call):
                yield call, fault
        before = files_below(whole.folder)
        for call in writing_calls(random, world):
            for fault in check(world, secrets, whole, part, caller, call):
                yield call, fault
            if call.takes(world):
                return
        for fault in spilt(world, whole, part, before):
            yield Call("files", {}), fault


def spilt(world: World, whole: Side, part: Side, before: Mapping[str, bytes]) -> Iterator[str]:
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
        {side.plain(name): side.plain(repr(files[name])) for name in files if name.startswith(world.vaults)}
        for side, files in ((whole, left), (part, alone))
    )
    if one != other:
        yield f"files differ:\n{_difference(one, other)}"


@pytest.mark.skipif(not hasattr(Runtime, "within"), reason="no part of an index is served yet")
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
@given(st.randoms(use_true_random=False))
def test_no_answer_tells_of_what_a_caller_may_not_see(random: Random) -> None:
    world = make_world(random)
    with tempfile.TemporaryDirectory() as folder:
        for call, fault in faults(world, random, Path(folder)):
            raise AssertionError(f"{world.scope}\n{call}\n{fault}")
