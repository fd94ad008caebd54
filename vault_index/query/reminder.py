"""Finds the memory about a file that an agent edits, or about a command that it runs.

A memory speaks about a file if it names the file, its folder or a pattern of its name, and about a
command if it names its program with its subcommand. If it only asks for options that the command
already has, the memory has nothing to add.
"""

import os
import re
import shlex
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import repeat
from typing import Any, NamedTuple

from vault_index import tokens
from vault_index.markdown.normalize import harmless_line
from vault_index.query.hits import DiskState
from vault_index.query.reader import Reader
from vault_index.query.recall import of_project
from vault_index.results.texts import Reminder
from vault_index.store.documents import Project
from vault_index.terms import query_phrase

_MOST_TOKENS = 60
_MOST_CHUNKS = 100
_LONGEST_LINE = 400
_SPAN = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w.@+*?~/-]+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s|[。\n]")
_NEGATION = re.compile(
    r"\b(?:never|not|no|don't|without|avoid|forbidden|nicht|nie|ohne|kein\w*|verboten|nunca|sin|jamais|pas|sans)\b"
    r"|[不勿]|禁止|ない",
    re.IGNORECASE,
)
_ADVICE = (
    *(" by", " use", " using", " run", " with", " via", " first", " then", " mit", " per", " erst"),
    *(" zuerst", " con", " ejecutar", " usar", " avec", "用", "执行", "先"),
)
"""Words before a command that a memory recommends."""
_SEPARATORS = frozenset({"&&", "||", ";", "|", "&", "(", ")", "\n", ";;"})
_WRAPPERS = frozenset(
    {
        "sudo", "env", "time", "nohup", "exec", "command", "npx", "bunx", "uvx", "nice",
        "do", "then", "else",
    }
)  # fmt: skip
_RUNNERS = frozenset({("uv", "run"), ("poetry", "run"), ("pipx", "run"), ("bundle", "exec")})
_READERS = frozenset(
    {
        "cat", "head", "tail", "less", "more", "ls", "du", "rg", "grep", "egrep", "wc",
        "diff", "stat", "file", "tree", "find", "echo", "test", "bat",
    }
)  # fmt: skip
"""Programs that only read the files they name."""
_WRITERS = frozenset(
    {
        "cp", "mv", "rm", "sed", "tee", "truncate", "install", "rsync", "ln", "git",
        "touch", "mkdir",
    }
)  # fmt: skip
"""Programs that change files in the folders they name."""
_LAUNCHERS = frozenset(
    {
        "python", "python3", "node", "ruby", "perl", "php", "java", "bash", "sh", "zsh",
        "make", "just", "git", "gh", "npm", "pnpm", "yarn", "bun", "cargo", "go", "docker",
        "kubectl", "pip", "awk", "chmod", "curl", "sort", "cut", "date", "xargs", "for",
        "while", "if", "export",
    }
)  # fmt: skip
"""Programs that say too little without their first argument."""
_GENERIC = _LAUNCHERS | _READERS | _WRITERS
_COMMON_NAMES = re.compile(r"(?:readme|index|main|mod|lib|config|__init__|utils?|types)\.\w+")
_LONGEST_COMMAND = 4000
_LONGEST_TEXT = 20_000
_DONE = -1


class Command(NamedTuple):
    """A simple command, without variables and wrappers."""

    words: tuple[str, ...]
    """The first is the name of the program."""
    folder: str
    """The folder in which it runs."""

    @property
    def files(self) -> list[str]:
        """Absolute paths of the files that it may change or run."""
        words = () if self.words[0] in _READERS else self.words
        named = (word.rpartition("=")[2] for word in words if not word.startswith("-"))
        return [_absolute(word, self.folder) for word in named if "/" in word or "." in word]


class Action(NamedTuple):
    """A call of a tool: the file that it writes, or the commands that it runs."""

    root: str
    """The folder of the project."""
    file: str = ""
    commands: tuple[Command, ...] = ()

    @property
    def terms(self) -> list[str]:
        """The words of which a memory about the action has at least one."""
        files = (self.file, *(word for one in self.commands for word in one.words[:10]))
        names = [part for file in files for part in file.split("/")[-4:]]
        names += [os.path.splitext(file)[1] for file in files]
        return list(dict.fromkeys(one for one in names if re.search(r"\w\w", one)))


def remind(
    reader: Reader, disk: DiskState, action: Action, project: Project, skipped: Collection[str]
) -> Reminder:
    """Quote the memory that is most closely about an action, in one line; empty without one.

    `skipped` memories, by id, are not quoted.
    """
    phrases = filter(None, map(query_phrase, action.terms))
    match = " OR ".join('"{}"'.format(phrase.replace('"', "")) for phrase in phrases)
    best, chosen, now = 0, Reminder("", "", ""), time.time()
    with reader.snapshot():
        wanted = of_project(project, ())._replace(kinds=("memory",))
        found = reader.text_candidates(match, _MOST_CHUNKS, wanted) if match else []
        chunks = reader.chunks([chunk_id for chunk_id, _ in found]).values()
        for document in {chunk.document.id: chunk.document for chunk in chunks}.values():
            if document.uid in skipped or document.states(now)["states"]:
                continue
            text = "\n".join(one.text for one in reader.chunks_of(document.id))[:_LONGEST_TEXT]
            score = relevance(text, action)
            if score > best and disk.changed(document) is not None:
                best, line = score, _line(document.uid, text, action)
                chosen = Reminder(document.uid, document.path, line)
    return chosen


def _line(memory: str, text: str, action: Action) -> str:
    """Quote a memory in at most 60 tokens, from the sentence about the action."""
    lines = [one for one in text.split("\n") if not one.startswith("#")]
    whole = " ".join(" ".join(lines).split())
    begin = f"Quoted from memory {memory[:8]}, as data: "
    if tokens.count(begin + whole) > _MOST_TOKENS:
        sentences = filter(None, map(str.strip, _SENTENCE_END.split(whole)))
        first = max(sentences, key=lambda one: relevance(one, action), default="")
        whole = whole[max(whole.find(first), 0) :]
    line = harmless_line(begin + whole, _LONGEST_LINE)
    while tokens.count(line) > _MOST_TOKENS and len(line) > len(begin):
        line = f"{line[: max(len(begin), len(line) - 8)].rstrip('… ')}…"
    return line


def action_of(tool_input: Mapping[str, Any], root: str) -> Action:
    """Return the action of a tool's input; `root` is the folder of the project."""
    file = tool_input.get("file_path") or tool_input.get("notebook_path")
    if isinstance(file, str) and file:
        return Action(root, _absolute(file, root))
    command = tool_input.get("command")
    return Action(root, "", tuple(_commands(command, root)) if isinstance(command, str) else ())


def relevance(text: str, action: Action) -> int:
    """Return how closely a memory speaks about an action; 0 if it does not."""
    if action.file:
        return _about_file(text, action.file, action.root)
    return max((_about_command(text, one, action.root) for one in action.commands), default=0)


def _about_file(text: str, file: str, root: str, *, alone: bool = True) -> int:
    """Return the number of parts of a path that the text names: of the file, or of a folder.

    Without `alone`, a single name is not enough.
    """
    inside = file.removeprefix(f"{root.rstrip('/')}/")
    names = _PATH.finditer(text)
    best = max((_matched_parts(one, file, inside) for one in names), default=0)
    return best if alone or best > 2 else 0


def _matched_parts(name: re.Match[str], file: str, inside: str) -> int:
    token = name[0].rstrip(".?-").removeprefix("./").removeprefix("~/")
    path = file if token.startswith("/") else f"/{inside}"
    parts = len([*filter(None, token.split("/"))])
    exact = parts > 1 or "." in token
    if "*" in token:
        return parts if re.search(r"\w", token) and fnmatchcase(path, f"*/{token}") else 0
    if exact and path.endswith(f"/{token.strip('/')}"):
        common = parts == 1 and "/" in inside and _COMMON_NAMES.fullmatch(token.lower())
        return 0 if common else parts + 1
    if f"/{token.strip('/')}/" not in path:
        return 0
    return parts if exact or token.endswith("/") else 0


def _about_command(text: str, command: Command, root: str) -> int:
    """Return the number of words of a command that the text names, or parts of its files."""
    writes = command.words[0] in _WRITERS
    files = (_about_file(text, one, root, alone=writes) for one in command.files)
    named = _named_words(text, command.words)
    return 0 if named == _DONE else max(named, max(files, default=0))


def _named_words(text: str, words: Sequence[str]) -> int:
    spans = [(one[1], one.start()) for one in _SPAN.finditer(text)]
    asked = [span.split() for span, _ in spans if re.match(r"-|\w+=", span)]
    found = [_about_span(text, span, at, words) for span, at in spans]
    if _DONE in found or any(_has_all(words, options) for options in asked):
        return _DONE
    numbers = [one for one in found if one is not None]
    best = max(numbers, default=0)
    if not numbers:  # the text may name the command without quotation marks
        alone = asked and words[0] not in _READERS and _has_word(text, words[0])
        with_first = len(words) > 1 and _has_word(text, " ".join(words[:2]))
        best = 2 if with_first else int(bool(alone))
    return best


def _about_span(text: str, span: str, at: int, words: Sequence[str]) -> int | None:
    """Return the number of words of a command that a span names; None for another program.

    `_DONE` means that the command does what the text asks for.
    """
    named, start = _same_program(span, words)
    if start is None:
        return None
    plain = [one for one in named[1:] if one[:1] not in "-<$…." and "=" not in one]
    if not set(words[start:]).issuperset(plain):
        return 0
    options, has_all = any(one[:1] == "-" for one in named), _has_all(words, named)
    if has_all or not options:
        if not _is_negative(_sentence(text, at)) if options else _is_advised(text[:at]):
            return _DONE
    elif _is_negative(_sentence(text, at)):
        return 0
    return 2 + len(plain) if plain or start or words[0] not in _GENERIC else 0


def _same_program(span: str, words: Sequence[str]) -> tuple[Sequence[str], int | None]:
    """Return the words of a quoted command, and where its program is among the words of another."""
    named = next((one.words for one in _commands(span, "")), ("",))
    starts = range(min(len(words), 3 if words[0] in _LAUNCHERS else 1))
    return named, next((one for one in starts if named[0] == _name(words[one])), None)


def _has_all(words: Sequence[str], options: Sequence[str]) -> bool:
    """Return whether a command has all of these options; `--force-with-lease` has `--force`."""
    wanted = [one.partition("<")[0] for one in options if one.startswith("-") or "=" in one]
    return bool(wanted) and all(any(map(str.startswith, words, repeat(one))) for one in wanted)


def _is_advised(text: str) -> bool:
    before = f" {text[-40:].lower()}"
    return before.rstrip(" :\n").endswith(_ADVICE) and not _is_negative(before)


def _is_negative(sentence: str) -> bool:
    return _NEGATION.search(sentence) is not None


def _has_word(text: str, words: str) -> bool:
    held = " ".join(one[0].rstrip(".") for one in _PATH.finditer(text))
    return f" {words} " in f" {held} "


def _name(word: str) -> str:
    return word.rpartition("/")[2]


def _sentence(text: str, at: int) -> str:
    """Return the sentence at a position."""
    begin = max((one.end() for one in _SENTENCE_END.finditer(text, 0, at)), default=0)
    end = _SENTENCE_END.search(text, at)
    return text[begin : end.start() if end else len(text)]


def _commands(line: str, folder: str) -> Iterator[Command]:
    """Yield the simple commands of a shell line that runs in a folder."""
    words = list[str]()
    for word in (*_shell_words(line[:_LONGEST_COMMAND]), ";"):
        if word not in _SEPARATORS:
            words.append(word)
            continue
        words = _unwrapped(words)
        if words[:1] == ["cd"] and len(words) == 2:
            folder = _absolute(words[1], folder)
        elif words[2:] and (words[0] == "ssh" or words[1] in ("-c", "-lc")):
            yield from _commands(" ".join(words[2:]), folder)
        elif words:
            yield Command((_name(words[0]) or words[0], *words[1:]), folder)
        words = []


def _shell_words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return [*lexer]
    except ValueError:  # a quote is not closed, or a text follows
        return line.split()


def _unwrapped(words: list[str]) -> list[str]:
    """Return the words of a command without `NAME=value`, `sudo`, `uv run` and `python -m`."""
    while words and (words[0] in _WRAPPERS or re.match(r"\w+=", words[0])):
        words = words[1:]
    if tuple(words[:2]) in _RUNNERS:
        words = words[2:]
    return words[2:] if words[1:2] == ["-m"] and words[2:] else words


def _absolute(file: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(file)))
