"""`review`: decide about memories with one key each on a terminal; list them elsewhere."""

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

_PAGE = 50
"""Items per request."""
_ACTIONS = {action[0]: action for action in ACTIONS} | {"r": "archive", "a": "accept"}
"""The action of each key."""
_DONE = {
    "accept": "accepted", "edit": "edited", "merge": "merged", "supersede": "superseded",
    "archive": "archived", "delete": "deleted", "keep": "kept",
}  # fmt: skip


@takes(
    argument("action", nargs="?", metavar="ACTION", help=f"action on REF: {', '.join(ACTIONS)}"),
    argument("ref", nargs="*", metavar="REF", help="memories; the one to keep comes first"),
    argument("--reason", help=f"list only these reasons: {', '.join(REASONS)}", **SEVERAL),
    argument("--project", metavar="NAME", help="list only memories of this project"),
    argument(
        "--limit",
        metavar="N",
        type=positive,
        help="maximum number (default: 20; on a terminal: all)",
    ),
    argument("--offset", metavar="N", type=natural, help="skip the first N (default: 0)"),
    argument(
        "--text",
        metavar="TEXT",
        help="with edit: whole new text of the file; - reads stdin",
    ),
    argument("--file", metavar="PATH", help="with edit: read the new text from this file"),
    argument(
        "--seen",
        help="value of `seen` in the list for each REF; if it has changed, nothing is done",
        **SEVERAL,
    ),
    flag("--force", "with edit: store text that looks like a credential"),
    description="Review memories: new ones in the inbox, near duplicates, likely contradictions, "
    "expired and outdated ones, and those not opened for a year. On a terminal, each item fills "
    "the screen, and each decision is one key. In a pipe, or with --format, the items are listed. "
    "With ACTION, the command carries out this action. `vault-index undo` undoes a decision. No "
    "language model is used.",
)
def run_review(options: Options, args: dict[str, Any]) -> int:
    """Review on a terminal, list the items elsewhere, or carry out one action."""
    if "action" in args:
        return _decide(options, args)
    if stray := {"text", "file", "seen", "force"} & args.keys():
        raise UsageError(
            f"--{min(stray)} needs an action",
            "for example: vault-index review edit REF --file PATH",
        )
    args.pop("ref", None)
    if options.format != "auto" or not sys.stdout.isatty() or sys.stdin is None:
        ask(options, "review", args)
        return 0
    return _Session(options, args).run()


def _decide(options: Options, args: dict[str, Any]) -> int:
    if stray := {"reason", "project", "limit", "offset"} & args.keys():
        raise UsageError(
            f"--{min(stray)} cannot be used with an action", "remove the option or the action"
        )
    text = given_text(args) if args["action"] == "edit" or {"text", "file"} & args.keys() else None
    return ask_of_several(options, "decide", {**args, "ref": args.get("ref", []), "text": text})


class _Session:
    """A review on a terminal.

    The list is fetched page by page; decided items leave it.
    """

    def __init__(self, options: Options, args: dict[str, Any]) -> None:
        self._options = options
        self._limit = args.pop("limit", None)
        self._first = args.pop("offset", 0)
        self._params = args
        self._items: list[dict[str, Any]] = []
        self._total = 0
        self._at = 0
        self._message = ""
        self._decided: list[tuple[str, dict[str, Any], int]] = []
        """Action, item and id of the change for each decision."""
        self._undone = 0

    def run(self) -> int:
        """Show items until the user quits; return the exit code."""
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

    # --- List -------------------------------------------------------------------------------------

    def _fetch(self, *, refresh: bool = False) -> None:
        """Fetch the next page, or all pages again."""
        kept = 0 if refresh else len(self._items)
        limit = max(len(self._items) + 1, _PAGE) if refresh else _PAGE
        if self._limit is not None:
            limit = min(limit, self._limit - kept - len(self._decided))
        if limit <= 0:
            return
        params = {**self._params, "limit": limit, "offset": self._first + kept}
        answer = call(self._options, "review", with_source(self._options, params))
        self._items[kept:] = answer["results"]
        self._total = answer["total"] - self._first

    def _refresh(self, ids: set[str]) -> None:
        """Fetch the list again, and stay at the item with these memories if it still exists."""
        self._fetch(refresh=True)
        places = [
            number
            for number, item in enumerate(self._items)
            if ids & {one["id"] for one in item["memories"]}
        ]
        self._at = min(
            places, key=lambda place: abs(place - self._at), default=min(self._at, len(self._items))
        )

    # --- One item ---------------------------------------------------------------------------------

    def _one(self, keys: Keys) -> bool:
        """Show an item and handle the next key; return False to quit."""
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
        self._message = ""
        if key == "?":
            self._help(keys, fitting)
        elif key == "u":
            self._try(self._undo, self._decided[-1][1])
        elif key in "np":
            self._at += 1 if key == "n" else -1
        elif item is not None and key == "x":
            item["memories"].reverse()
        elif item is not None:
            self._try(partial(self._do, keys, item, _ACTIONS[key]), item)
        return True

    def _fitting(self, item: dict[str, Any] | None) -> str:
        """Return the keys that are valid now."""
        always = ("p" if self._at else "") + ("u" if self._decided else "")
        if item is None:
            return f"{always}q"
        alone = "aerd" if item["reason"] == "unreviewed" else "erdk"
        actions = "emsxrdk" if len(item["memories"]) > 1 else alone
        return f"{actions}n{always}?q"

    def _try(self, do: Callable[[], None], item: dict[str, Any]) -> None:
        """Call `do`; after an error, fetch the list again, because the item may have changed."""
        try:
            do()
        except VaultIndexError as error:
            self._refresh({one["id"] for one in item["memories"]})
            self._message = f"not done: {error.message}" + (
                f" ({error.hint})" if error.hint else ""
            )

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
        self._message = _outcomes(answer)

    def _edit(self, keys: Keys, item: dict[str, Any], params: dict[str, Any]) -> None:
        [ref] = params["ref"]
        text = call(self._options, "get", with_source(self._options, {"ref": ref, "full": True}))[
            "results"
        ][0]["content"]
        with keys.lent():
            path, edited = _edited(text)
        if edited.rstrip("\n") == text.rstrip("\n"):
            os.unlink(path)
            self._message = "nothing was changed"
            return
        try:
            answer = self._call(
                "decide", {**params, "text": edited, "seen": item["memories"][0]["seen"]}
            )
        except VaultIndexError as error:
            raise type(error)(f"{error.message}; your text is in {path}", error.hint) from error
        os.unlink(path)
        self._decided.append(("edit", item, answer.get("change", 0)))
        self._refresh({one["id"] for one in item["memories"]})
        self._message = _outcomes(answer)

    def _undo(self) -> None:
        action, item, change = self._decided[-1]
        self._call("undo", {"change": change})
        self._decided.pop()
        self._undone += 1
        self._refresh({one["id"] for one in item["memories"]})
        self._message = f"undone: {action} {', '.join(one['title'] for one in item['memories'])}"

    def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return call(self._options, method, with_source(self._options, params))

    # --- Screen -----------------------------------------------------------------------------------

    def _show(self, keys: Keys, item: dict[str, Any] | None, fitting: str) -> None:
        from vault_index.output.review import end_screen, item_screen

        width, height, color = _size()
        if item is None:
            place = (
                f"End of the list. {self._total:,} undecided."
                if self._total
                else "Review finished."
            )
            text = end_screen(fitting, place, self._message, width=width, color=color)
        else:
            place = f"{self._at + 1:,} of {self._total:,}"
            text = item_screen(
                item, fitting, place, self._message, width=width, height=height, color=color
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
        decided = [f"{number:,} {done}" for done, number in counts.items()] or ["nothing decided"]
        undone = [f"{self._undone:,} undone"] if self._undone else []
        return f"{', '.join([*decided, *undone])}; {self._total:,} left to review"


def _outcomes(answer: dict[str, Any]) -> str:
    """Return the outcome of each memory on one line."""
    each = [f"{one['outcome']}: {one['title']} ({one['path']})" for one in answer["results"]]
    return "; ".join([*each, *(f"{one['position']}: {one['error']}" for one in answer["failed"])])


def _size() -> tuple[int, int, bool]:
    """Return columns and lines of the terminal, and whether to use colours."""
    try:
        columns, lines = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        columns, lines = 80, 24
    color = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return columns or 80, lines or 24, color


def _print(keys: Keys, text: str) -> None:
    """Print one screen: on a cleared terminal, or below the previous output."""
    if keys.terminal and os.environ.get("TERM") != "dumb":
        sys.stdout.write("\x1b[H\x1b[2J")
    write(text)
    sys.stdout.flush()


def _edited(text: str) -> tuple[str, str]:
    """Open a text in the user's editor; return the path of its private file and the new text.

    Raises VaultIndexError if the editor fails.
    """
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
            f"cannot start the editor {editor!r}: {error}", "set EDITOR to an installed editor"
        ) from error
    try:
        with open(path, encoding="utf-8", newline="") as file:
            edited = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise VaultIndexError(
            f"cannot read {path} after the edit; nothing was changed", str(error)
        ) from error
    if code:
        raise VaultIndexError(
            f"the editor exited with code {code}; nothing was changed", f"your text is in {path}"
        )
    return path, edited
