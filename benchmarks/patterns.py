"""Time every regular expression of the package on the worst texts for it, of growing length.

Run `python -m benchmarks.patterns`; it takes some minutes. A pattern is read as an automaton (by
`re`'s own parser). If two loops can read the same text, one after the other, the time grows faster
than the text. A search is such a loop too, because it starts at every character.
tests/test_patterns.py checks `ambiguity` of all patterns. This program also times them, on the
texts found in this way and on the beginnings of each pattern.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import pkgutil
import re
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
        text = (
            pattern.pattern
            if isinstance(pattern.pattern, str)
            else pattern.pattern.decode("latin-1")
        )
        if (text, pattern.flags) not in seen:
            seen.add((text, pattern.flags))
            found.patterns.append(
                Pattern(
                    where,
                    text,
                    pattern.flags,
                    bool(methods) and methods <= ANCHORED,
                    methods == {"fullmatch"},
                )
            )

    for name, _, values in everything:
        for key, value in sorted(values.items()):
            for pattern in _held(value):
                used = (inside[name] if key.startswith("_") else anywhere).get(key, set())
                add(f"{name.removeprefix('vault_index.')}.{key}", pattern, IN_A_LOOP.get(key, used))
    for name, tree, values in everything:
        asked: dict[int, str] = {}
        for node in ast.walk(
            tree
        ):  # from the outside inwards: `re.compile(...).match` is met before `re.compile`
            if isinstance(node, ast.Attribute):
                asked[id(node.value)] = node.attr
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                asked.setdefault(id(node), node.func.attr)
            if _is_call_of_re(node):
                asked.setdefault(id(node), "compile")
                assert isinstance(node, ast.Call)
                where = f"{name.removeprefix('vault_index.')}:{node.lineno}"
                try:
                    value = [
                        eval(compile(ast.Expression(one), "", "eval"), dict(values))
                        for one in node.args[:1]
                    ]
                    pattern = re.compile(value[0], _flags(node, values))
                    add(where, pattern, {asked[id(node)]} - {"compile"})
                except (NameError, TypeError):
                    found.made_while_running.append(where)
    return found


def _is_call_of_re(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "compiled"
    ) or (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in CALLS
    )


def _flags(node: ast.Call, values: Mapping[str, Any]) -> int:
    written = [one.value for one in node.keywords if one.arg == "flags"]
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    place = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(method, 2)
    written += node.args[place : place + 1]
    return (
        int(eval(compile(ast.Expression(written[0]), "", "eval"), dict(values))) if written else 0
    )


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
            and wrapped.__annotations__.get("return")
            in (
                re.Pattern[str],
                "re.Pattern[str]",
            )
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
        self.letters = [
            "".join(sorted(group, key=lambda one: (one not in _COMMON, one)))
            for group in kinds.values()
        ]
        self.read = frozenset(range(len(self.letters)))
        self.edge = len(
            self.letters
        )  # where the text begins or ends: stands before or after, but is not read
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

    def never_fails(self, state: int, before: int) -> bool:
        """Whether the pattern ends from here on sooner or later, whatever follows."""
        begin = (frozenset({state}), before)
        seen = {begin}
        waiting = [begin]
        for states, last in waiting:
            for letter in self.all:
                if any(self.accepts(one, last, letter) for one in states):
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
            n for n, one in enumerate(self.letters) if _reads(op, value, one[0], self._flags)
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
        word = frozenset(n for n, one in enumerate(self.letters) if _is_word(one[0]))
        line = frozenset(n for n, one in enumerate(self.letters) if one[0] == "\n")
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


@dataclass(frozen=True)
class Attack:
    """A text that a pattern can read in many ways: `begin`, repeated `pump`, and a failing end."""

    begin: str
    pump: str
    endless: bool
    """Time doubles with every `pump`, instead of growing with its square."""


def ambiguity(pattern: Pattern) -> Attack | None:
    """Return a text on which the time of a pattern may grow faster than the text, else None.

    The criterion is two loops that read the same text one after the other (Weber and Seidl), if the
    second one can fail. One character before a state is known, for word boundaries and lookbehind.
    """
    machine = Automaton(pattern)
    loops = _loops(machine)
    home = {state: number for number, loop in enumerate(loops) for state in loop}
    sounds = [
        frozenset(
            one
            for state in loop
            for e in machine.edges[state]
            if e.target in loop
            for one in e.reads
        )
        for loop in loops
    ]
    for number, loop in enumerate(loops):
        for letter in sounds[number]:
            first = min(loop)
            if pump := _twice(machine, first, letter, loop):
                return _attack(machine, first, pump, endless=True)
    for first in home:
        reached = _reach(machine, first)
        for second in home:
            if home[second] == home[first] or second not in reached:
                continue  # within one loop it would have been found above
            for letter in sounds[home[first]] & sounds[home[second]]:
                if machine.never_fails(second, letter):
                    continue
                if pump := _both(
                    machine, first, second, letter, loops[home[first]], loops[home[second]]
                ):
                    return _attack(machine, first, pump, endless=False)
    return None


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


def _twice(machine: Automaton, state: int, letter: int, loop: frozenset[int]) -> list[int]:
    """A text that leads from a state back to it in two ways."""
    begin = (state, state, letter, False)
    came: dict[Any, tuple[Any, int]] = {}
    waiting = deque([begin])
    while waiting:
        at = waiting.popleft()
        one, other, before, apart = at
        for i, e in enumerate(machine.edges[one]):
            if e.target not in loop or before not in e.before:
                continue
            for j, f in enumerate(machine.edges[other]):
                if f.target not in loop or before not in f.before:
                    continue
                for read in e.reads & f.reads:
                    if machine.accepts(one, before, read) or machine.accepts(other, before, read):
                        continue  # that is where it ends
                    to = (e.target, f.target, read, apart or i != j)
                    if to not in came:
                        came[to] = (at, read)
                        if to == (state, state, letter, True):
                            return _way(came, to, begin)
                        waiting.append(to)
    return []


def _both(
    machine: Automaton,
    first: int,
    second: int,
    letter: int,
    one: frozenset[int],
    two: frozenset[int],
) -> list[int]:
    """Return a text that leads from the first state to itself, to the second, and around that."""
    begin = (first, first, second, letter)
    goal = (first, second, second, letter)
    came: dict[Any, tuple[Any, int]] = {}
    waiting = deque([begin])
    while waiting:
        at = waiting.popleft()
        before = at[3]
        for e in machine.edges[at[0]]:
            if e.target not in one or before not in e.before:
                continue
            for g in machine.edges[at[2]]:
                if (
                    g.target not in two
                    or before not in g.before
                    or not (shared := e.reads & g.reads)
                ):
                    continue
                for f in machine.edges[at[1]]:
                    if before not in f.before:
                        continue
                    for read in shared & f.reads:
                        if machine.accepts(at[2], before, read) or machine.accepts(
                            at[0], before, read
                        ):
                            continue  # that is where it ends
                        to = (e.target, f.target, g.target, read)
                        if to not in came:
                            came[to] = (at, read)
                            if to == goal:
                                return _way(came, to, begin)
                            waiting.append(to)
    return []


def _way(came: Mapping[Any, tuple[Any, int]], at: Any, begin: Any) -> list[int]:
    way: list[int] = []
    while True:
        at, read = came[at]
        way.append(read)
        if at == begin:
            return way[::-1]


def _attack(machine: Automaton, state: int, pump: list[int], *, endless: bool) -> Attack:
    came: dict[Any, tuple[Any, int]] = {}
    waiting = deque([machine.start])
    while waiting and state not in came and state != machine.start:
        at = waiting.popleft()
        for edge in machine.edges[at]:
            if edge.target not in came and edge.reads and edge.target != machine.start:
                came[edge.target] = (at, min(edge.reads))
                waiting.append(edge.target)
    begin = [] if state == machine.start or state not in came else _way(came, state, machine.start)
    return Attack(
        "".join(machine.letters[one][0] for one in begin),
        "".join(machine.letters[one][0] for one in pump),
        endless,
    )


# --- its time -------------------------------------------------------------------------------------

_SMALLEST = 2_000
_LEAST_SECONDS = 0.02
_MOST_TEXTS = 100
_MOST_CHARACTERS = 1 << 20


@dataclass(frozen=True)
class Growth:
    """The slowest text of a pattern: its length, its seconds, and those of twice its length."""

    text: str
    characters: int
    seconds: float
    doubled: float

    @property
    def ratio(self) -> float:
        """The factor of the time for a text twice as long."""
        return self.doubled / self.seconds


def texts_for(pattern: Pattern) -> list[str]:
    """Return texts to repeat: the characters that a pattern distinguishes, and its beginnings."""
    machine = Automaton(pattern)
    attack = ambiguity(pattern)
    pumps = [attack.pump] if attack else []
    pumps += [group[0] for group in machine.letters]
    for state, edges in enumerate(machine.edges):
        if edges and state in machine.within_loops:
            begin = _attack(machine, state, [min(edges[0].reads)], endless=False)
            pumps += [begin.begin, begin.begin + begin.pump]
    return list(dict.fromkeys(pump for pump in pumps if pump))


def growth(pattern: Pattern) -> Growth:
    """How the time of a pattern grows on the worst of its texts."""
    compiled = re.compile(pattern.pattern, pattern.flags)
    pumps = sorted(
        texts_for(pattern)[:_MOST_TEXTS],
        key=lambda one: -_seconds(compiled, pattern, one, _SMALLEST),
    )
    worst = Growth("", 1, 0.0, 0.0)
    for pump in pumps[:2]:
        size = _SMALLEST
        while (
            taken := _seconds(compiled, pattern, pump, size)
        ) < _LEAST_SECONDS and size < _MOST_CHARACTERS:
            size *= 2
        doubled = min(_seconds(compiled, pattern, pump, size * 2) for _ in range(3))
        taken = min(taken, *(_seconds(compiled, pattern, pump, size) for _ in range(2)))
        if taken / size > worst.seconds / worst.characters:
            worst = Growth(pump, size, taken, doubled)
    return worst


def _seconds(compiled: re.Pattern[str], pattern: Pattern, pump: str, size: int) -> float:
    """The time of one search through a text that the pattern does not match at its end."""
    text = pump * (size // len(pump)) + "\x01\n\x01"
    begun = time.process_time()
    if pattern.anchored:
        compiled.fullmatch(text) if pattern.whole else compiled.match(text)
    else:
        deque(compiled.finditer(text), maxlen=0)
    return max(time.process_time() - begun, 1e-9)


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    options = argparse.ArgumentParser(
        description="How the time of every pattern grows on its worst texts."
    )
    options.add_argument("--only", default="", help="patterns whose place holds this text")
    asked = options.parse_args(arguments)
    slowest: dict[str, float] = {}
    print(
        "| pattern | grows | ns a character | time of twice the text |\n|---|---|---|---|",
        flush=True,
    )
    for one in collect().patterns:
        if asked.only in one.where:
            attack, worst = ambiguity(one), growth(one)
            slowest[one.where] = worst.seconds / worst.characters * 1e9
            kind = "exponential" if attack and attack.endless else "square" if attack else "linear"
            print(
                f"| `{one.where}` | {kind} | {slowest[one.where]:.1f} | {worst.ratio:.1f} x |",
                flush=True,
            )
    name = max(slowest, key=lambda where: slowest[where], default="")
    print(
        f"\n{len(slowest)} patterns; the slowest, {name}, "
        f"takes {slowest.get(name, 0):.0f} ns a character"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
