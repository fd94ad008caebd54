"""Random calls of a caller that guesses hidden items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from tests.serve.scenes import COMMON, Item, Scene
from vault_index.fields import FILTERS, STATES

ALL = 1000
_ROOT = "{root}"


@dataclass(frozen=True)
class Call:
    method: str
    params: dict[str, Any]

    @property
    def everything(self) -> bool:
        """Whether a search covers all documents."""
        return self.params.get("limit") == ALL and not self.params.get("offset")

    def within(self, folder: Path) -> dict[str, Any]:
        """The params, with the folder of a scene in them."""
        return {key: _placed(value, str(folder)) for key, value in self.params.items()}

    def crosses(self, scene: Scene) -> bool:
        """Whether it asks for the past of an item that changed sides."""
        if self.method not in ("history", "diff"):
            return False
        crossers = scene.crossers()
        names = [name for item in scene.items() if item.key in crossers for name in (item.id[:4], item.stem) if name]
        return any(name in str(self.params["ref"]) for name in names)


def _placed(value: Any, folder: str) -> Any:
    if isinstance(value, str):
        return value.replace(_ROOT, folder)
    return [_placed(one, folder) for one in value] if isinstance(value, list) else value


_IN_QUERIES = [declared.key for declared in FILTERS.values() if declared.key and declared.kind != "moment"]

# --- parts of calls --------------------------------------------------------------------------------------------------


class Asker:
    """Knows both sides, and asks for either."""

    def __init__(self, random: Random, scene: Scene) -> None:
        self.random, self.scene = random, scene
        self.seen = [item for n in range(len(scene.stages)) for item in scene.visible(n)]
        self.unseen = scene.hidden()
        self.never = [_like(random, item, scene) for item in self.unseen[:3]]

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def item(self) -> Item:
        sides = [side for side in (self.seen, self.unseen, self.unseen, self.never) if side]
        return self.random.choice(self.random.choice(sides))

    def word(self) -> str:
        if self.chance(0.3):
            return self.random.choice(COMMON)
        words = [word for word in self.item().said.replace("\n", " ").replace("-", " ").split() if word.isalpha()]
        word = self.random.choice(words or COMMON)
        if self.chance(0.25):  # in another case or form
            at = self.random.randrange(len(word))
            word = word[:at] + self.random.choice(("", "s", word[at] * 2)) + word[at + 1 :]
        return word

    def value(self, field: str) -> str:
        item = self.item()
        of_item = {
            "tag": item.names[1:2], "alias": item.names[:1], "entered_by": item.names[2:3], "by": item.names[2:3],
            "property": item.names[3:4], "concept": item.names[4:5], "bead": item.names[5:6], "file": (item.stem,),
            "project": (item.project,) if item.project else (), "source": (item.source,), "path": self.globs(item),
            "title": (item.title,) if item.title else (), "session": (item.id[:13],) if item.id else (),
            "confidence": ("high",), "type": ("decision",), "kind": (item.kind,), "client": ("claude-code",),
            "is": STATES, "state": STATES, "model": ("claude*",),
        }.get(field, ())  # fmt: skip
        return str(self.random.choice(of_item)) if of_item else self.word()

    def globs(self, item: Item) -> tuple[str, ...]:
        folder = item.path.rpartition("/")[0]
        return item.path, f"{folder}/**", f"{item.path[:9]}*", f"*{item.stem[2:]}*", folder or "*", f"**/{item.stem}*"

    def ref(self) -> str:
        item = self.item()
        stem, path, id_ = item.stem, item.path, item.id or item.stem
        return self.random.choice(
            (
                id_, id_[:4], id_[:5], id_[:9], f"{id_}:1-3", path, path.removesuffix(".md"), f"{path}:2-4", stem,
                f"{item.source}:{path}", f"[[{stem}]]", f"[[{item.title or stem}]]", f"[[{(*item.names, stem)[0]}]]",
                f"[[{stem}#{self.word()}]]", f"[[{stem}#^{self.word()}]]", f"[[{path}]]",
                f"{_ROOT}/{item.source}/{path}",
                path.rpartition("/")[0] or ".", f"../{item.source}/{path}", f"./{path}", path.upper(), "#12", "12",
                f"work/../{path}", f".trash/{path}", path.partition("/")[2] or path, item.title or stem,
            )
        )  # fmt: skip

    def query(self) -> str:
        terms = []
        for _ in range(self.random.randint(1, 4)):
            word = self.word()
            field = self.random.choice(_IN_QUERIES)
            terms.append(
                self.random.choice(
                    (word, word, word, word, f"{word[:4]}*", f'"{word} {self.word()}"', f"-{word}", f"NOT {word}",
                     f"({word} OR {self.word()})", f"{field}:{self.value(field)}", f"[{self.value('property')}]",
                     f"after:2026-0{self.random.randint(1, 9)}-01", f"-tag:{self.value('tag')}")
                )
            )  # fmt: skip
        return " ".join(terms)

    def filters(self, *names: str) -> dict[str, Any]:
        """Some filters, of these or of all."""
        fields = names or tuple(FILTERS)
        found: dict[str, Any] = {}
        for name in fields:
            if not self.chance(0.9 if len(names) == 1 else 0.08):
                continue
            if name in ("after", "before"):
                found[name] = f"2026-0{self.random.randint(1, 9)}-01"
            else:
                value = self.value({"tags": "tag", "any_tag": "tag"}.get(name, name))
                found[name] = value
        return found

    def project(self) -> str:
        name = self.value("project")
        return self.random.choice((name, name, f"/home/user/{name}", f"{_ROOT}/{self.scene.vaults[1]}", name.upper()))

    # --- calls ---------------------------------------------------------------------------------------------------

    def search(self) -> Call:
        params: dict[str, Any] = {"query": self.query(), **self.filters()}
        params |= {"limit": ALL, "per_document": ALL, "all": True} if self.chance(0.7) else {
            "limit": self.random.randint(1, 5), "offset": self.random.choice((0, 0, 1, 3)),
        }  # fmt: skip
        params |= {"mode": self.random.choice(("text", "hybrid", "vector"))} if self.chance(0.4) else {}
        params |= {"match": self.random.choice(("any", "all"))} if self.chance(0.2) else {}
        params |= {"as_of": f"2026-0{self.random.randint(1, 9)}-15"} if self.chance(0.2) else {}
        for flag in ("explain", "include_expired", "include_superseded"):
            params |= {flag: True} if self.chance(0.3) else {}
        params |= {"threshold": 0.5} if self.chance(0.3) else {"fuzzy": False} if self.chance(0.1) else {}
        return Call("search", params)

    def why(self) -> Call:
        return Call("why", {"query": self.query(), "ref": self.ref(), "limit": ALL})

    def get(self) -> Call:
        refs = self.ref() if self.chance(0.6) else [self.ref() for _ in range(3)]
        params: dict[str, Any] = {"ref": refs, "full": self.chance(0.5), "neighbors": self.random.choice((0, 0, 2))}
        return Call("get", params | self.filters("source") if self.chance(0.2) else params)

    def list(self) -> Call:
        params: dict[str, Any] = {"limit": self.random.choice((2, ALL)), "offset": self.random.choice((0, 0, 1))}
        sort = ("created", "updated", "access", "expires", "title", "content")
        return Call("list", params | {"sort": self.random.choice(sort)} | self.filters())

    def sessions(self) -> Call:
        params: dict[str, Any] = {"since": "2020-01-01"} | self.filters("source" if self.chance(0.2) else "client")
        params |= {"project": self.project()} if self.chance(0.4) else {}
        params |= {"file": f"{self.word()}.py"} if self.chance(0.3) else {}
        params |= {"subagents": True} if self.chance(0.5) else {}
        if self.chance(0.4):
            params = {**params, "summary": True}
            params.pop("subagents", None)
        elif self.chance(0.3):
            params = {**params, "days": True}
            params.pop("file", None)
        return Call("sessions", params)

    def related(self) -> Call:
        return Call("related", {"ref": self.ref(), "limit": ALL, **self.filters()})

    def timeline(self) -> Call:
        around = {"ref": self.ref()} if self.chance(0.8) else {"query": self.query()}
        return Call(
            "timeline", {**around, "depth_before": self.random.randint(0, 9), **self.filters("kind", "project")}
        )

    def recall(self) -> Call:
        params: dict[str, Any] = {"query": self.query()} if self.chance(0.5) else {}
        params |= {"project": self.project()} if self.chance(0.5) else {}
        return Call("recall", params | ({"budget": 100_000} if self.chance(0.5) else {}))

    def review(self) -> Call:
        reasons = ("unreviewed", "contradiction", "duplicate", "expired", "outdated", "unopened")
        params: dict[str, Any] = {"reason": self.random.choice(reasons)} if self.chance(0.5) else {}
        params |= {"project": self.project()} if self.chance(0.2) else {}
        return Call("review", params | {"limit": self.random.choice((1, ALL))})

    def tags(self) -> Call:
        return Call("tags", self.filters("kind", "source", "path"))

    def stats(self) -> Call:
        return Call("stats", {"agents": self.chance(0.5)} | self.filters("source"))

    def history(self) -> Call:
        return Call("history", {"ref": self.ref()})

    def diff(self) -> Call:
        params: dict[str, Any] = {"ref": self.ref()}
        return Call(
            "diff", params | ({"before": 1} if self.chance(0.3) else {}) | ({"after": 2} if self.chance(0.3) else {})
        )


_READING = [
    *["search"] * 4, *["get"] * 2, *["related"] * 2, *["recall"] * 2, "why", "list", "sessions", "timeline", "review",
    "tags", "stats", "history", "diff",
]  # fmt: skip


def reading_calls(random: Random, scene: Scene, number: int = 40) -> Iterator[Call]:
    asker = Asker(random, scene)
    for _ in range(number):
        call: Call = getattr(asker, random.choice(_READING))()
        yield call


def _like(random: Random, item: Item, scene: Scene) -> Item:
    """An item with names that no other has."""
    word, id_ = scene.words(), item.id[:6] + "0" * 7 + item.id[13:]
    path, names = item.path.replace(item.stem, word), tuple(scene.words() for _ in item.names)
    return replace(item, path=path, id=id_, title=word, data=word.encode(), names=names)
