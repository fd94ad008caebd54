"""Find regular expressions of the package whose time may grow faster than the text.

    python tools/patterns.py

A pattern is read as an automaton (by `re`'s own parser). If two loops can read the same text, one
after the other, the time grows faster than the text. A search is such a loop too, because it starts
at every character. tests/test_patterns.py checks all patterns.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations, product
from pathlib import Path
from typing import Any, Literal

import vault_index

PACKAGE = Path(vault_index.__file__).parent
NOT_OURS = frozenset({"vault_index.tokens"})
"""Its pattern is for tiktoken's own engine."""
CALLS = frozenset(
    {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
)
ANCHORED = frozenset({"match", "fullmatch"})
IN_A_LOOP = {"STATEMENTS": {"match"}, "_FILES": {"fullmatch"}, "_FOLDERS": {"fullmatch"}}
"""How the patterns are asked that another name holds, too: a tuple, an attribute of a class."""

parser: Any = importlib.import_module("re._parser")
constants: Any = importlib.import_module("re._constants")


# --- which patterns there are ---------------------------------------------------------------------


@dataclass(frozen=True)
class Pattern:
    """One pattern, its place, and whether it only matches at a given position (`match`)."""

    where: str
    pattern: str
    flags: int
    anchored: bool
    whole: bool = False
    """Asked by `fullmatch` alone."""


@dataclass
class Collected:
    """The patterns of the package."""

    patterns: list[Pattern] = field(default_factory=list)
    made_while_running: list[str] = field(default_factory=list)
    """Places of patterns that are put together from what is known only then."""


def modules() -> Iterator[tuple[str, ast.Module, Mapping[str, Any]]]:
    """Yield the modules of the package: name, syntax tree and namespace."""
    names = [
        "vault_index",
        *(found.name for found in pkgutil.walk_packages(vault_index.__path__, "vault_index.")),
    ]
    for name in names:
        if name in NOT_OURS or name.endswith("__main__"):
            continue
        module = importlib.import_module(name)
        if module.__file__ and module.__file__.endswith(".py"):
            yield name, ast.parse(Path(module.__file__).read_text("utf-8")), vars(module)


def collect() -> Collected:
    """Return every pattern of the package: module constants, and literals in calls of `re`."""
    everything = list(modules())
    inside = {name: _uses([tree]) for name, tree, _ in everything}
    anywhere = _uses(tree for _, tree, _ in everything)
    found = Collected()
    seen: set[tuple[str, int]] = set()

    def add(where: str, pattern: re.Pattern[Any], methods: set[str]) -> None:
        text = pattern.pattern
        text = text if isinstance(text, str) else text.decode("latin-1")
        if (text, pattern.flags) not in seen:
            seen.add((text, pattern.flags))
            anchored, whole = bool(methods) and methods <= ANCHORED, methods == {"fullmatch"}
            found.patterns.append(Pattern(where, text, pattern.flags, anchored, whole))

    for name, _, values in everything:
        for key, value in sorted(values.items()):
            for pattern in _held(value):
                used = (inside[name] if key.startswith("_") else anywhere).get(key, set())
                add(f"{name.removeprefix('vault_index.')}.{key}", pattern, IN_A_LOOP.get(key, used))
    for name, tree, values in everything:
        asked: dict[int, str] = {}
        for node in ast.walk(tree):  # outside in: `re.compile(...).match` before `re.compile`
            if isinstance(node, ast.Attribute):
                asked[id(node.value)] = node.attr
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                asked.setdefault(id(node), node.func.attr)
            if isinstance(node, ast.Call) and _is_call_of_re(node.func):
                asked.setdefault(id(node), "compile")
                where = f"{name.removeprefix('vault_index.')}:{node.lineno}"
                try:
                    text = _value(node.args[0], values)
                    pattern = re.compile(text, _flags(node, values))
                    add(where, pattern, {asked[id(node)]} - {"compile"})
                except (NameError, TypeError):
                    found.made_while_running.append(where)
    return found


def _is_call_of_re(called: ast.expr) -> bool:
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        return called.value.id == "re" and called.attr in CALLS
    return isinstance(called, ast.Name) and called.id == "compiled"


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "", "eval"), dict(values))


def _flags(node: ast.Call, values: Mapping[str, Any]) -> int:
    written = [one.value for one in node.keywords if one.arg == "flags"]
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    place = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(method, 2)
    written += node.args[place : place + 1]
    return int(_value(written[0], values)) if written else 0


def _held(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _held(one)
    elif isinstance(value, tuple | list | frozenset | set):
        for one in value:
            yield from _held(one)
    elif hasattr(value, "cache_info") and callable(value) and not getattr(value, "__code__", None):
        wrapped = getattr(value, "__wrapped__", None)
        if (
            wrapped is not None
            and wrapped.__code__.co_argcount == 0
            and wrapped.__annotations__.get("return") in (re.Pattern[str], "re.Pattern[str]")
        ):
            yield value()


def _uses(trees: Iterable[ast.Module]) -> dict[str, set[str]]:
    """The methods by which each name is asked; another use of it counts as a search."""
    used: dict[str, set[str]] = {}
    for tree in trees:
        asked = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used.setdefault(node.value.id, set()).add(node.attr)
                asked.add(id(node.value))
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Load)
                and id(node) not in asked
            ):
                used.setdefault(node.id, set()).add("search")
    return used


# --- a pattern as an automaton --------------------------------------------------------------------

_COMMON = "aZ0_ \n\t-.,:;!?\"'`*#/\\()[]{}<>=&%$@^|~+\u00e9\u4e2d\u3002\u00a0\x00\u2028\ud83d"
_MANY = 2_000
_COPIES = 3
"""Copies of a part with a bounded number of repetitions. More copies slow a pattern down by a
constant, whatever the length of the text.
"""


@dataclass(frozen=True)
class _Edge:
    target: int
    before: frozenset[int]
    reads: frozenset[int]


class Automaton:
    """The states of a pattern; characters that no part of it distinguishes form one class."""

    def __init__(self, pattern: Pattern) -> None:
        parsed = parser.parse(pattern.pattern, pattern.flags)
        self._flags = parsed.state.flags
        atoms: list[Any] = []
        _atoms(parsed, atoms)
        letters = sorted({*_COMMON, *(one for op, value in atoms for one in _letters(op, value))})
        kinds: dict[tuple[bool, ...], list[str]] = {}
        for letter in letters:
            sign = tuple(_reads(op, value, letter, self._flags) for op, value in atoms)
            kinds.setdefault((*sign, _is_word(letter), letter == "\n"), []).append(letter)
        self.letters = [group[0] for group in kinds.values()]
        self.read = frozenset(range(len(self.letters)))
        self.edge = len(self.letters)
        """Where the text begins or ends: stands before or after, but is not read."""
        self.all = self.read | {self.edge}
        self._quiet: list[list[tuple[int, frozenset[int], frozenset[int]]]] = []
        self._loud: list[list[tuple[int, frozenset[int]]]] = []
        self._groups: dict[int, Any] = {}
        self.within_loops: set[int] = set()
        self.start = self._state()
        end = self._sequence(parsed, self.start)
        if pattern.whole:
            last = self._state()
            self._join(end, last, after=frozenset({self.edge}))
            end = last
        self._end = end
        if not pattern.anchored:
            first = self._state()
            self.within_loops.add(first)
            self._loud[first].append((first, self.read))
            self._join(first, self.start)
            self.start = first
        self.edges = [self._edges_of(state) for state in range(len(self._quiet))]
        self._ends = [
            [(p, a) for at, p, a in self._closure(state) if at == self._end]
            for state in range(len(self._quiet))
        ]

    def accepts(self, state: int, before: int, after: int) -> bool:
        """Whether the pattern may end here, between two characters."""
        return any(before in p and after in a for p, a in self._ends[state])

    def ends(self, states: Iterable[int], before: int, after: int) -> bool:
        """Whether the pattern may end in one of the states."""
        return any(self.accepts(state, before, after) for state in states)

    def leaving(
        self, state: int, before: int, within: frozenset[int] | None = None
    ) -> list[tuple[int, _Edge]]:
        """Return the numbered edges of a state that are open behind a character."""
        return [
            (number, edge)
            for number, edge in enumerate(self.edges[state])
            if before in edge.before and (within is None or edge.target in within)
        ]

    def never_fails(self, state: int, before: int) -> bool:
        """Whether the pattern ends from here on sooner or later, whatever follows."""
        begin = (frozenset({state}), before)
        seen = {begin}
        waiting = [begin]
        for states, last in waiting:
            for letter in self.all:
                if self.ends(states, last, letter):
                    continue
                edges = [edge for one in states for edge in self.edges[one] if last in edge.before]
                then = (frozenset(edge.target for edge in edges if letter in edge.reads), letter)
                if not then[0] or len(seen) > _MANY:
                    return False
                if then not in seen:
                    seen.add(then)
                    waiting.append(then)
        return True

    def _state(self) -> int:
        self._quiet.append([])
        self._loud.append([])
        return len(self._quiet) - 1

    def _join(
        self,
        one: int,
        other: int,
        before: frozenset[int] | None = None,
        after: frozenset[int] | None = None,
    ) -> None:
        self._quiet[one].append(
            (other, self.all if before is None else before, self.all if after is None else after)
        )

    def _closure(self, state: int) -> list[tuple[int, frozenset[int], frozenset[int]]]:
        """Return the states that a state reaches without reading, and the conditions.

        A state is listed twice if two ways lead to it.
        """
        found: list[tuple[int, frozenset[int], frozenset[int]]] = []
        waiting = [(state, self.all, self.all)]
        met: dict[object, int] = {}
        while waiting:
            at, before, after = one = waiting.pop()
            met[one] = met.get(one, 0) + 1
            if before and met[one] <= 2:
                found.append(one)
                waiting += ((target, before & p, after & a) for target, p, a in self._quiet[at])
        return found

    def _edges_of(self, state: int) -> list[_Edge]:
        return [
            _Edge(target, before, reads & after)
            for at, before, after in self._closure(state)
            for target, reads in self._loud[at]
            if reads & after
        ]

    def _class(self, op: Any, value: Any) -> frozenset[int]:
        return frozenset(
            n for n, one in enumerate(self.letters) if _reads(op, value, one, self._flags)
        )

    def _sequence(self, parsed: Any, at: int) -> int:
        for op, value in parsed:
            at = self._part(op, value, at)
        return at

    def _part(self, op: Any, value: Any, at: int) -> int:
        name = str(op)
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            end = self._state()
            self._loud[at].append((end, self._class(op, value)))
            return end
        if name == "BRANCH":
            end = self._state()
            for branch in value[1]:
                self._join(self._sequence(branch, at), end)
            return end
        if name == "SUBPATTERN":
            self._groups[value[0]] = value[3]
            return self._sequence(value[3], at)
        if name == "ATOMIC_GROUP":
            return self._sequence(value, at)
        if name == "GROUPREF":
            return self._sequence(self._groups[value], at)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeat(at, *value)
        if name in ("ASSERT", "ASSERT_NOT"):
            return self._assertion(at, name == "ASSERT", *value)
        if name == "AT":
            return self._place(str(value), at)
        raise NotImplementedError(name)

    def _repeat(self, at: int, least: int, most: int, body: Any) -> int:
        for _ in range(min(least, _COPIES)):
            at = self._sequence(body, at)
        if most == constants.MAXREPEAT:
            loop, end = self._state(), self._state()
            self._join(at, loop)
            self._join(self._sequence(body, loop), loop)
            self.within_loops.update(range(loop, len(self._quiet)))
            self._join(loop, end)
            return end
        end = self._state()
        for _ in range(min(most - least, _COPIES)):
            self._join(at, end)
            at = self._sequence(body, at)
        self._join(at, end)
        return end

    def _assertion(self, at: int, positive: bool, direction: int, body: Any) -> int:
        end = self._state()
        single = self._single(body)
        if single is not None:
            wanted = single if positive else self.all - single
            self._join(at, end, after=wanted) if direction > 0 else self._join(
                at, end, before=wanted
            )
            return end
        if direction < 0:  # of a fixed length: no loop in it
            last = self._single(list(body)[-1:]) if positive else None
            self._join(at, end, before=last)
            return end
        inside = self._state()
        self._join(at, inside)
        dead = self._sequence(body, inside)
        self._join(dead, self._state())
        first: frozenset[int] = frozenset().union(*(edge.reads for edge in self._edges_of(inside)))
        nullable = any(state == dead for state, _, _ in self._closure(inside))
        self._join(at, end, after=first if positive and not nullable else None)
        return end

    def _single(self, body: Any) -> frozenset[int] | None:
        parts = list(body)
        if len(parts) != 1:
            return None
        op, value = parts[0]
        if str(op) == "SUBPATTERN":
            return self._single(value[3])
        if str(op) == "BRANCH":
            sets = [self._single(branch) for branch in value[1]]
            return (
                None
                if any(one is None for one in sets)
                else frozenset().union(*(one or () for one in sets))
            )
        return (
            self._class(op, value) if str(op) in ("LITERAL", "NOT_LITERAL", "ANY", "IN") else None
        )

    def _place(self, place: str, at: int) -> int:
        end = self._state()
        word = frozenset(n for n, one in enumerate(self.letters) if _is_word(one))
        line = frozenset(n for n, one in enumerate(self.letters) if one == "\n")
        edge = frozenset({self.edge})
        many = self._flags & re.MULTILINE
        if place == "AT_BEGINNING":
            self._join(at, end, before=line | edge if many else edge)
        elif place == "AT_BEGINNING_STRING":
            self._join(at, end, before=edge)
        elif place == "AT_END":
            self._join(at, end, after=line | edge)
        elif place == "AT_END_STRING":
            self._join(at, end, after=edge)
        elif place == "AT_BOUNDARY":
            self._join(at, end, word, self.all - word)
            self._join(at, end, self.all - word, word)
        else:
            raise NotImplementedError(place)
        return end


def _atoms(parsed: Any, found: list[Any]) -> None:
    for op, value in parsed:
        if str(op) in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            found.append((op, value))
        for body in _bodies(str(op), value):
            _atoms(body, found)


def _bodies(op: str, value: Any) -> Iterable[Any]:
    if op == "BRANCH":
        return list(value[1])
    if op == "SUBPATTERN":
        return [value[3]]
    if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return [value[2]]
    if op in ("ASSERT", "ASSERT_NOT"):
        return [value[1]]
    return [value] if op == "ATOMIC_GROUP" else []


def _letters(op: Any, value: Any) -> Iterator[str]:
    if str(op) in ("LITERAL", "NOT_LITERAL"):
        yield chr(value)
    elif str(op) == "IN":
        for kind, one in value:
            if str(kind) == "LITERAL":
                yield chr(one)
            elif str(kind) == "RANGE":
                yield from (
                    chr(code)
                    for code in (one[0] - 1, one[0], one[1], one[1] + 1)
                    if 0 <= code < 0x110000
                )


_KINDS = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}


def _reads(op: Any, value: Any, letter: str, flags: int) -> bool:
    name = str(op)
    if flags & re.IGNORECASE and name != "ANY":
        forms = {letter, letter.lower(), letter.upper()}
        return any(_reads(op, value, one, flags & ~re.IGNORECASE) for one in forms if len(one) == 1)
    if name == "ANY":
        return bool(flags & re.DOTALL) or letter != "\n"
    if name in ("LITERAL", "NOT_LITERAL"):
        return bool(ord(letter) == value) == (name == "LITERAL")
    negated = bool(value) and str(value[0][0]) == "NEGATE"
    return negated is not any(_in_set(str(kind), one, letter) for kind, one in value)


def _in_set(kind: str, one: Any, letter: str) -> bool:
    if kind == "LITERAL":
        return bool(ord(letter) == one)
    if kind == "RANGE":
        return bool(one[0] <= ord(letter) <= one[1])
    if kind == "CATEGORY":
        _, _, name = str(one).partition("CATEGORY_")
        return bool(re.match(_KINDS[name.removeprefix("NOT_")], letter)) != name.startswith("NOT_")
    return False


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


# --- where its time may grow faster than its text -------------------------------------------------


Growth = Literal["exponential", "square"]


def ambiguity(pattern: Pattern) -> Growth | None:
    """Return how the time of a pattern may grow if it is not linear.

    The criterion is two loops that read the same text one after the other (Weber and Seidl), if the
    second one can fail. One character before a state is known, for word boundaries and lookbehind.
    """
    machine = Automaton(pattern)
    loops = _loops(machine)
    sounds = [
        {one for at in loop for e in machine.edges[at] if e.target in loop for one in e.reads}
        for loop in loops
    ]
    for loop, letters in zip(loops, sounds, strict=True):
        if any(_twice(machine, min(loop), letter, loop) for letter in letters):
            return "exponential"
    for one, other in permutations(range(len(loops)), 2):
        pair = loops[one], loops[other]
        ends = _ends(machine, pair, sounds[one] & sounds[other])
        if any(_both(machine, *end, pair) for end in ends):
            return "square"
    return None


def _ends(
    machine: Automaton, loops: tuple[frozenset[int], frozenset[int]], letters: set[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield a state of each loop, and a letter behind which the second one can fail."""
    for first, second in product(*loops):
        if second in _reach(machine, first):
            for letter in letters:
                if not machine.never_fails(second, letter):
                    yield first, second, letter


def _loops(machine: Automaton) -> list[frozenset[int]]:
    """States that lie on a circle, by circle."""
    live = _reach(machine, machine.start) | {machine.start}
    reach = {state: _reach(machine, state) for state in machine.within_loops & live}
    on = [state for state in reach if state in reach[state]]
    return list(
        {
            frozenset(other for other in on if other in reach[one] and one in reach[other])
            for one in on
        }
    )


def _reach(machine: Automaton, state: int) -> set[int]:
    found: set[int] = set()
    waiting = [state]
    for at in waiting:
        for edge in machine.edges[at]:
            if edge.target not in found:
                found.add(edge.target)
                waiting.append(edge.target)
    return found


def _twice(machine: Automaton, state: int, letter: int, loop: frozenset[int]) -> bool:
    """Whether a text leads from a state back to it in two ways."""
    begin = (state, state, letter, False)
    seen, waiting = {begin}, [begin]
    for one, other, before, apart in waiting:
        for i, e in machine.leaving(one, before, loop):
            for j, f in machine.leaving(other, before, loop):
                for read in e.reads & f.reads:
                    to = (e.target, f.target, read, apart or i != j)
                    if to not in seen and not machine.ends((one, other), before, read):
                        seen.add(to)
                        waiting.append(to)
    return (state, state, letter, True) in seen


def _both(
    machine: Automaton,
    first: int,
    second: int,
    letter: int,
    loops: tuple[frozenset[int], frozenset[int]],
) -> bool:
    """Whether a text leads from the first state to itself, to the second, and around that."""
    begin = (first, first, second, letter)
    seen, waiting = {begin}, [begin]
    for one, between, two, before in waiting:
        for _, e in machine.leaving(one, before, loops[0]):
            for _, g in machine.leaving(two, before, loops[1]):
                for _, f in machine.leaving(between, before) if e.reads & g.reads else ():
                    for read in e.reads & f.reads & g.reads:
                        to = (e.target, f.target, g.target, read)
                        if to not in seen and not machine.ends((one, two), before, read):
                            seen.add(to)
                            waiting.append(to)
    return (first, second, second, letter) in seen


if __name__ == "__main__":
    for one in collect().patterns:
        if growth := ambiguity(one):
            print(f"{one.where}: {growth}: {one.pattern}")
