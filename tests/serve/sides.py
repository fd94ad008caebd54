"""A random scene, indexed completely or without the hidden part; the answers of both, made comparable."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from tests.serve.calls import Call
from tests.serve.scenes import SESSIONS, Item, Scene, home_of, sees, write_stage
from vault_index import VaultIndex
from vault_index.api.json_api import dispatch
from vault_index.api.served import served_params
from vault_index.callers import Caller
from vault_index.errors import VaultIndexError

Told = dict[str, Any]

_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b")


@dataclass
class Side:
    """An index over the scene after its history, and the calls to it."""

    folder: Path
    scene: Scene
    part: bool
    index: VaultIndex
    stage: int = -1
    there: list[Item] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    """Ids that are in no file."""

    def advance(self) -> None:
        """Advance the files and the index to the next time."""
        self.stage += 1
        now, scope = self.scene.stages[self.stage], self.scene.scope
        seen = [item for item in now if sees(scope, item)]
        rest = [] if self.part else [item for item in self.there if not sees(scope, item)]
        self._sync([*seen, *rest], embed=True)
        if not self.part:  # hidden items have no vectors yet
            self._sync(now, embed=not self.scene.pending)
        for item in self.there:
            if item.key in self.scene.opened and item.kind in ("note", "memory"):
                self.index.get(f"{item.source}:{item.path}")
        if self.stage == len(self.scene.stages) - 1:
            self._end()

    def _end(self) -> None:
        """The actions of the user before the first call."""
        ids = {item.id for item in self.there}
        for kept in self.scene.kept:
            if ids.issuperset(kept):
                with suppress(VaultIndexError):  # no objection, or a session
                    self.index.decide("keep", kept)
        for vault in self.scene.vaults:
            if self.scene.unmounted and self.scene.scope.sources and vault not in self.scene.scope.sources:
                (self.folder / vault).rename(self.folder / f"{vault} unmounted")
                self.index.sync()

    def _sync(self, now: list[Item], *, embed: bool) -> None:
        write_stage(self.folder, self.there, now)
        self.there = now
        lost = [problem for problem in self.index.sync(embed=embed).problems if problem.code == "source_vanished"]
        assert not lost, lost

    def ask(self, call: Call, caller: Caller) -> Told:
        """The answer or the error, without parts that differ between calls and folders."""
        index = self.index if caller.scope.whole else VaultIndex(self.index._runtime.within(caller.scope))
        try:
            given = served_params(caller, call.method, call.within(self.folder))
            told = {"answer": dispatch(index, call.method, given)}
        except VaultIndexError as error:
            told = {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
        return json.loads(self.plain(json.dumps(told, ensure_ascii=False)))  # type: ignore[no-any-return]

    def plain(self, text: str) -> str:
        """Without new ids, the current time and the folder."""
        known = {item.id for item in self.scene.items()}
        self.new += [one for one in dict.fromkeys(_ID.findall(text)) if one not in known and one not in self.new]
        for number, id_ in enumerate(self.new):
            text = text.replace(id_, f"NEW-{number}").replace(id_[:13], f"NEW-{number}")
        text = re.sub(r"-\d{8}(?=\b|-)", "", text)  # tell equal names apart, and must reveal nothing
        days = "|".join(str(date.today() + timedelta(days)) for days in (-1, 0, 1))
        now = rf"\b({days})([T ]\d\d:\d\d(:\d\d)?([.+-][\d:.]+)?)?"
        return re.sub(now, "NOW", text.replace(str(self.folder), "{root}"))


@contextmanager
def built(folder: Path, scene: Scene, *, part: bool) -> Iterator[Side]:
    """The index of the whole scene, or of the visible part, at the first time."""
    scope, every = scene.scope, (*scene.vaults, SESSIONS)
    sources = scope.sources or every if part else every
    home = home_of(folder, scene, sources)
    with VaultIndex.open(home) as index:
        side = Side(folder, scene, part, index)
        side.advance()
        yield side


# --- comparable parts ------------------------------------------------------------------------------------------------

_OF_DOCUMENT = re.findall(
    r"\w+", "id kind source path title archived unreviewed tags type digest created updated entered_by project"
)


def alike(call: Call, told: Told) -> Any:
    """The part of an answer that does not depend on scores or time."""
    answer = told.get("answer")
    if answer is None:
        return told
    answer = {key: value for key, value in answer.items() if key not in ("took_ms", "indexed")}
    if call.method in _BY_METHOD:
        return _BY_METHOD[call.method](call, answer)
    if call.params.get("query"):  # recall, timeline
        return {key: answer.get(key) for key in ("degraded", "waiting")}
    return answer


def _why(call: Call, answer: Told) -> Any:
    told = {key: answer[key] for key in ("id", "source", "path", "title", "lines", "degraded", "corrections")}
    return {**told, "reading": _reading(answer)}


def _recall(call: Call, answer: Told) -> Any:
    if call.params.get("query"):
        return {key: answer[key] for key in ("degraded", "waiting")}
    return answer | {"text": re.sub(r"\b[0-9a-f]{16}\b", "MARK", answer["text"]), "tokens": None}


def _review(call: Call, answer: Told) -> Any:
    for item in answer["results"]:  # differs with new ids
        item |= {"id": None, "memories": [{**one, "seen": None} for one in item["memories"]]}
    return answer


def _search(call: Call, answer: Told) -> Any:
    answer = {key: value for key, value in answer.items() if key != "confidence"} | {"reading": _reading(answer)}
    hits = answer.pop("results")
    if not call.everything:  # their order depends on scores
        return {**answer, "hits": bool(hits)}
    paths = sorted({path for hit in hits for path in (hit["path"], *hit["also"])})
    told = {hit["id"]: {key: hit.get(key) for key in _OF_DOCUMENT} for hit in hits if not hit["also"]}
    return {**answer, "paths": paths, "told": told}


def _reading(answer: Told) -> Any:
    reading = answer.get("reading")
    if not reading:
        return None
    words = [{**word, "rarity": None} if word["texts"] else word for word in reading["words"]]
    return {**reading, "words": words}


_BY_METHOD: Mapping[str, Callable[[Call, Told], Any]] = {
    "search": _search,
    "why": _why,
    "recall": _recall,
    "review": _review,
    "history": lambda _, answer: {**answer, "results": [{**one, "seen": None} for one in answer["results"]]},
}


def difference(one: Any, other: Any, at: str = "") -> str:
    """The differences of two answers, in lines."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
        return "\n".join(difference(one.get(key), other.get(key), f"{at}.{key}") for key in keys)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return "\n".join(difference(a, b, f"{at}[{n}]") for n, (a, b) in pairs if a != b)
    return f"  {at}: {short(one)}\n  {'without it':>{len(at) + 2}}: {short(other)}"


def short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:1500]
