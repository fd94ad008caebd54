"""Choose a document or a session from a list that follows the typed words, with a preview."""

import asyncio
import os
import shlex
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from vault_index.cli.arguments import Options
from vault_index.cli.client import ask, call, home_of, with_source
from vault_index.errors import NotFoundError, VaultIndexError
from vault_index.output.text import clean, clean_line, place

_ROWS = 10
_AT_LINE = {
    "code": "-g {path}:{line}", "codium": "-g {path}:{line}", "hx": "{path}:{line}",
    "subl": "{path}:{line}", "zed": "{path}:{line}",
}  # fmt: skip
"""The arguments of editors that do not understand `+LINE PATH`."""


class Choice(NamedTuple):
    """A row of the list, and the text that is shown below it."""

    row: str
    preview: str
    record: dict[str, Any]


def choose(
    find: Callable[[str], Sequence[Choice]], words: str = ""
) -> tuple[str, dict[str, Any]] | None:
    """Let the user choose a row; return the last key (`enter` or `c-o`) and its record.

    `find` returns the rows for the typed words; it runs in a thread. Return None if the user
    leaves. Raises NotFoundError if prompt_toolkit is not installed.
    """
    try:
        from prompt_toolkit import Application
        from prompt_toolkit.buffer import Buffer
        from prompt_toolkit.document import Document
        from prompt_toolkit.formatted_text import StyleAndTextTuples
        from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
        from prompt_toolkit.layout import (
            BufferControl,
            FormattedTextControl,
            HSplit,
            Layout,
            Window,
        )
        from prompt_toolkit.layout.processors import BeforeInput
    except ImportError as error:
        from vault_index.embeddings.packages import install

        raise NotFoundError(
            "choosing on the terminal needs prompt_toolkit, which is not installed",
            f"install it: {install('prompt-toolkit')}",
        ) from error

    rows: list[Choice] = []
    at = 0
    searching = asyncio.Lock()
    keys = KeyBindings()

    async def refresh(words: str) -> None:
        nonlocal at
        async with searching:
            if words == typed.text:  # else a later search waits
                with suppress(VaultIndexError):  # the query is not complete
                    rows[:], at = await asyncio.to_thread(find, words), 0
        application.invalidate()

    def begin(_: object = None) -> None:
        application.create_background_task(refresh(typed.text))

    def listed() -> StyleAndTextTuples:
        return [
            ("reverse" if number == at else "", f"{clean_line(one.row)}\n")
            for number, one in enumerate(rows[:_ROWS])
        ]

    @keys.add("up")
    @keys.add("down")
    @keys.add("c-p")
    @keys.add("c-n")
    def move(event: KeyPressEvent) -> None:
        nonlocal at
        step = 1 if event.key_sequence[0].key in ("down", "c-n") else -1
        at = min(max(at + step, 0), max(min(len(rows), _ROWS) - 1, 0))

    @keys.add("enter")
    @keys.add("c-o")
    def take(event: KeyPressEvent) -> None:
        if rows:
            key = "c-o" if event.key_sequence[0].key == "c-o" else "enter"
            event.app.exit(result=(key, rows[at].record))

    @keys.add("escape", eager=True)
    @keys.add("c-c")
    @keys.add("c-d")
    def leave(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    typed = Buffer(document=Document(words), multiline=False, on_text_changed=begin)
    application: Application[tuple[str, dict[str, Any]] | None] = Application(
        Layout(
            HSplit(
                [
                    Window(BufferControl(typed, [BeforeInput("> ")]), height=1),
                    Window(FormattedTextControl(listed), height=_ROWS),
                    Window(height=1, char="─"),
                    Window(
                        FormattedTextControl(lambda: clean(rows[at].preview) if rows else ""),
                        wrap_lines=True,
                    ),
                    Window(
                        FormattedTextControl("Enter open · Ctrl+O Obsidian · Esc quit"), height=1
                    ),
                ]
            )
        ),
        key_bindings=keys,
        full_screen=True,
    )
    return application.run(pre_run=begin)


def search(options: Options, args: dict[str, Any], words: str) -> None:
    """Search while the user types, and open the chosen document."""

    def find(words: str) -> list[Choice]:
        params = {**args, "query": words} if words.strip() else {"sort": "updated"}
        answer = call(
            options,
            "search" if words.strip() else "list",
            with_source(options, {**params, "limit": _ROWS}),
        )
        return [_choice(one) for one in answer["results"]]

    if (chosen := choose(find, words)) is None:
        return
    key, record = chosen
    if key == "c-o" and record.get("link"):
        import webbrowser

        webbrowser.open(record["link"])
    elif record["kind"] == "session":
        ask(options, "get", {"ref": [record["id"]]})
    else:
        _edit(options, record)


def _choice(record: dict[str, Any]) -> Choice:
    where = place({**record, "lines": record["focus"]} if "focus" in record else record)
    text = record.get("snippet") or record["digest"] or ""
    return Choice(f"{record['title']} · {where}", f"{where}\n\n{text}", record)


def _edit(options: Options, record: dict[str, Any]) -> None:
    """Open a document in the user's editor, at the first matching line."""
    from vault_index.config import load_config

    folder = load_config(home_of(options)).source(record["source"]).path
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    form = _AT_LINE.get(os.path.basename(editor[0]), "+{line} {path}")
    values = {"path": str(folder / record["path"]), "line": record.get("focus", (1, 1))[0]}
    try:
        subprocess.run([*editor, *(one.format(**values) for one in form.split())], check=False)
    except OSError as error:
        raise VaultIndexError(
            f"cannot start the editor {editor[0]!r}: {error}", "set EDITOR to an installed editor"
        ) from error
