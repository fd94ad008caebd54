"""`review`: what agents left, an item a screen and a key a decision; where there is no terminal it is listed."""

import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from vault_index.cli.arguments import SEVERAL, Options, argument, flag, natural, positive, takes
from vault_index.cli.client import ask, ask_of_several, call, with_source
from vault_index.cli.keys import END, REDRAW, Keys
from vault_index.cli.memories import given_text
from vault_index.cli.present import write
from vault_index.errors import UsageError, VaultIndexError
from vault_index.fields import ACTIONS, REASONS

_PAGE = 50  # items that are fetched at a time
_ACTIONS = {action[0]: action for action in ACTIONS} | {"r": "archive", "a": "accept"}
"""The key of each action."""
_DONE = {
    "accept": "accepted", "edit": "edited", "merge": "merged", "supersede": "superseded", "archive": "archived",
    "delete": "deleted", "keep": "kept",
}  # fmt: skip


@takes(
    argument(
        "action", nargs="?", metavar="ACTION", help=f"what to do with REF: {', '.join(ACTIONS)}"
    ),
    argument("ref", nargs="*", metavar="REF", help="memories: the one that stays first"),
    argument("--reason", help=f"only for these reasons: {', '.join(REASONS)}", **SEVERAL),
    argument("--project", metavar="NAME", help="only memories of this project"),
    argument(
        "--limit", metavar="N", type=positive, help="how many (default: 20; on a terminal all)"
    ),
    argument("--offset", metavar="N", type=natural, help="leave out the first N"),
    argument(
        "--text",
        metavar="TEXT",
        help="with edit: the whole text of the file; - for what is piped in",
    ),
    argument("--file", metavar="PATH", help="with edit: the file that holds it"),
    argument(
        "--seen",
        help="`seen` of each REF in the list: nothing is done where it says another thing",
        **SEVERAL,
    ),
    flag("--force", "with edit: store it even where it looks like a credential"),
    description="Look at what agents left in the inbox, near duplicates, likely contradictions, what has expired or is "
    "outdated, and what nobody opened in a year, and decide. On a terminal an item fills the screen, and each decision "
    "is one key; in a pipe, or with a format, they are listed. With ACTION it is decided at once. `vault-index undo` "
    "takes a decision back. No model is asked.",
)
def run_review(options: Options, args: dict[str, Any]) -> int:
    if "action" in args:
        return _decide(options, args)
    if stray := {"text", "file", "seen", "force"} & args.keys():
        raise UsageError(
            f"--{min(stray)} is for an action", "say which: vault-index review edit REF --file PATH"
        )
    args.pop("ref", None)
    if options.format != "auto" or not sys.stdout.isatty() or sys.stdin is None:
        ask(options, "review", args)
        return 0
    return _Session(options, args).run()


def _decide(options: Options, args: dict[str, Any]) -> int:
    if stray := {"reason", "project", "limit", "offset"} & args.keys():
        raise UsageError(f"--{min(stray)} is for the list", "leave the action out, or the option")
    text = given_text(args) if args["action"] == "edit" or {"text", "file"} & args.keys() else None
    return ask_of_several(options, "decide", {**args, "ref": args.get("ref", []), "text": text})


class _Session:
    """A review on a terminal. The list is fetched page by page; what was decided is out of it."""

    def __init__(self, options: Options, args: dict[str, Any]) -> None:
        self._options = options
        self._most = args.pop("limit", None)
        self._first = args.pop("offset", 0)
        self._asked = args
        self._items: list[dict[str, Any]] = []
        self._total = 0
        self._at = 0
        self._said = ""
        self._decided: list[tuple[str, dict[str, Any], int]] = []
        """What was done with which item, and the change of it."""
        self._undone = 0

    def run(self) -> int:
        self._fetch()
        if not self._items:
            write("Nothing to review.")
            return 0
        try:
            with Keys() as keys:
                while self._one(keys):
                    pass
        finally:
            write(self._summary())
        return 0

    # --- the list ----------------------------------------------------------------------------------------------

    def _fetch(self, *, anew: bool = False) -> None:
        """The next page, or all pages again."""
        known = 0 if anew else len(self._items)
        most = max(len(self._items) + 1, _PAGE) if anew else _PAGE
        if self._most is not None:
            most = min(most, self._most - known - len(self._decided))
        if most <= 0:
            return
        params = {**self._asked, "limit": most, "offset": self._first + known}
        answer = call(self._options, "review", with_source(self._options, params))
        self._items[known:] = answer["results"]
        self._total = answer["total"] - self._first

    def _again(self, ids: set[str]) -> None:
        """Fetch the list anew, and stay at the item that has these memories, where it still is one."""
        self._fetch(anew=True)
        places = [
            number
            for number, item in enumerate(self._items)
            if ids & {one["id"] for one in item["memories"]}
        ]
        self._at = min(
            places, key=lambda place: abs(place - self._at), default=min(self._at, len(self._items))
        )

    # --- one item ----------------------------------------------------------------------------------------------

    def _one(self, keys: Keys) -> bool:
        """Show an item, and do what the next key says; False when it is the last one."""
        if len(self._items) <= self._at < self._total:
            self._fetch()
        item = self._items[self._at] if self._at < len(self._items) else None
        fitting = self._fitting(item)
        self._show(keys, item, fitting)
        key = keys.read()
        if key in (END, "q"):
            return False
        if key == REDRAW or key not in fitting:
            return True
        self._said = ""
        if key == "?":
            self._help(keys, fitting)
        elif key == "u":
            self._tried(self._undo, self._decided[-1][1])
        elif key in "np":
            self._at += 1 if key == "n" else -1
        elif item is not None and key == "x":
            item["memories"].reverse()
        elif item is not None:
            self._tried(partial(self._do, keys, item, _ACTIONS[key]), item)
        return True

    def _fitting(self, item: dict[str, Any] | None) -> str:
        """The keys that mean something now."""
        known = ("p" if self._at else "") + ("u" if self._decided else "")
        if item is None:
            return f"{known}q"
        alone = "aerd" if item["reason"] == "unreviewed" else "erdk"
        actions = "emsxrdk" if len(item["memories"]) > 1 else alone
        return f"{actions}n{known}?q"

    def _tried(self, do: Callable[[], None], item: dict[str, Any]) -> None:
        """Do it, or say why not; the item may be another one by now."""
        try:
            do()
        except VaultIndexError as error:
            self._again({one["id"] for one in item["memories"]})
            self._said = f"not done: {error.message}" + (f" ({error.hint})" if error.hint else "")

    def _do(self, keys: Keys, item: dict[str, Any], action: str) -> None:
        memories = item["memories"]
        named = memories if action in ("merge", "supersede", "keep") else memories[:1]
        if action in ("archive", "delete"):
            named = memories[-1:]
        shared = len({one["id"] for one in named}) < len(named)
        params: dict[str, Any] = {
            "action": action,
            "ref": [one["path" if shared else "id"] for one in named],
        }
        if action == "edit":
            self._edit(keys, item, params)
            return
        seen = [one["seen"] for one in named]
        answer = self._call("decide", {**params, "seen": seen} if all(seen) else params)
        self._decided.append((action, item, answer.get("change", 0)))
        del self._items[self._at]
        self._total -= 1
        self._said = _told(answer)

    def _edit(self, keys: Keys, item: dict[str, Any], params: dict[str, Any]) -> None:
        [ref] = params["ref"]
        text = call(self._options, "get", with_source(self._options, {"ref": ref, "full": True}))[
            "results"
        ][0]["content"]
        with keys.lent():
            path, edited = _edited(text)
        if edited.rstrip("\n") == text.rstrip("\n"):
            os.unlink(path)
            self._said = "nothing was changed"
            return
        try:
            answer = self._call(
                "decide", {**params, "text": edited, "seen": item["memories"][0]["seen"]}
            )
        except VaultIndexError as error:
            raise type(error)(f"{error.message}; your text is in {path}", error.hint) from error
        os.unlink(path)
        self._decided.append(("edit", item, answer.get("change", 0)))
        self._again({one["id"] for one in item["memories"]})
        self._said = _told(answer)

    def _undo(self) -> None:
        action, item, change = self._decided[-1]
        self._call("undo", {"change": change})
        self._decided.pop()
        self._undone += 1
        self._again({one["id"] for one in item["memories"]})
        self._said = f"undone: {action} {', '.join(one['title'] for one in item['memories'])}"

    def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return call(self._options, method, with_source(self._options, params))

    # --- the screen --------------------------------------------------------------------------------------------

    def _show(self, keys: Keys, item: dict[str, Any] | None, fitting: str) -> None:
        from vault_index.output.review import end_screen, item_screen

        width, height, color = _size()
        if item is None:
            place = (
                f"That is all. {self._total:,} left as they are." if self._total else "That is all."
            )
            text = end_screen(fitting, place, self._said, width=width, color=color)
        else:
            place = f"{self._at + 1:,} of {self._total:,}"
            text = item_screen(
                item, fitting, place, self._said, width=width, height=height, color=color
            )
        _print(keys, text)

    def _help(self, keys: Keys, fitting: str) -> None:
        from vault_index.output.review import help_screen

        key = REDRAW
        while key == REDRAW:
            width, _, color = _size()
            _print(keys, help_screen(fitting, width=width, color=color))
            key = keys.read()

    def _summary(self) -> str:
        counts = Counter(_DONE[action] for action, _, _ in self._decided)
        told = [f"{number:,} {done}" for done, number in counts.items()] or ["nothing decided"]
        undone = [f"{self._undone:,} undone"] if self._undone else []
        return f"{', '.join([*told, *undone])}; {self._total:,} left to review"


def _told(answer: dict[str, Any]) -> str:
    """What became of each memory."""
    each = [f"{one['outcome']}: {one['title']} ({one['path']})" for one in answer["results"]]
    return "; ".join([*each, *(f"{one['position']}: {one['error']}" for one in answer["failed"])])


def _size() -> tuple[int, int, bool]:
    """Columns and lines of the terminal, and whether it is to have colours."""
    try:
        columns, lines = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        columns, lines = 80, 24
    color = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return columns or 80, lines or 24, color


def _print(keys: Keys, text: str) -> None:
    """One screen: from the top where keys come at once, else below what was there."""
    if keys.terminal and os.environ.get("TERM") != "dumb":
        sys.stdout.write("\x1b[H\x1b[2J")
    write(text)
    sys.stdout.flush()


def _edited(text: str) -> tuple[str, str]:
    """A text as the user's editor leaves it, and the file that holds it, which nobody else can read."""
    import shlex
    import subprocess
    import tempfile

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    handle, path = tempfile.mkstemp(prefix="vault-index-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
        file.write(f"{text}\n")
    try:
        code = subprocess.run([*shlex.split(editor), path], check=False).returncode
    except (OSError, ValueError) as error:
        os.unlink(path)
        raise VaultIndexError(
            f"the editor {editor!r} cannot be started: {error}", "set EDITOR to one that is there"
        ) from error
    try:
        with open(path, encoding="utf-8", newline="") as file:
            edited = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise VaultIndexError(
            f"what the editor left in {path} cannot be read; nothing was changed", str(error)
        ) from error
    if code:
        raise VaultIndexError(
            f"the editor ended with {code}; nothing was changed", f"what it left is in {path}"
        )
    return path, edited
