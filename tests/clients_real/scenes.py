"""Prompts, and the answers of the scripted model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.clients_real.model import Step

MEND = "Bitte den Login reparieren — check() lets everybody in 🙂"
SECRET = (
    "Die Zugangsdaten für das Lager: AKIAIOSFODNN7EXAMPLE / wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY. "
    "<private>The supplier is Quagga Ltd.</private> 在庫は棚にあります。"
)
DELEGATE = "Who uses check()? Ask a helper."
SUBAGENT = "Find every use of check() in the shop."
FORK = "And what if the warehouse were closed on Mondays?"
FIRST, SECOND, OTHER = (
    "Sag, was ein Buch kostet.",
    "Say how many boxes fit on a shelf.",
    "Say how many books fit in a box.",
)
AFTER = "Where were we after the summary?"
LONG = "Tell me everything about the warehouse."
ARCHIVED = "An old question about the cash desk."
REMEMBER = "*Remember*: the warehouse counts boxes, not books."
TALK = {
    "secret": "Understood; the key goes into the environment, and not into the code.",
    "fork": "Then Tuesday's orders are packed twice as fast.",
    "first": "Ein Buch kostet 12,50 €.",
    "second": "Forty boxes fit on a shelf.",
    "other": "Twenty-four books fit in a box.",
    "after": "We had mended check() and counted the boxes.",
    "archived": "The cash desk rounds to five cents.",
    "title": "Mend the login of the shop",
}
SUMMARY = "1. check() was inverted and is mended in app.py.\n2. The warehouse counts boxes, not books."
DONE = f"Done: `check` compares with `==` now. Grüße 🙂\n\n{REMEMBER}"
THOUGHT = "check() says yes to a wrong password."
_LOOK, _FOUND = "I look at app.py first.", "The comparison is inverted."
PRINTED = "login ok\nls: cannot access '/no-such-shelf': No such file or directory"
FAILING = "python3 app.py && ls /no-such-shelf"


def asked(prompt: str, scene: str) -> str:
    return f"{prompt} [[scene:{scene}]]"


def scenes(project: Path) -> dict[str, Mapping[str, Sequence[Step]]]:
    """Scenes by client, because their tools differ."""
    app = str(project / "app.py")
    edit = {"file_path": app, "old_string": "password != stored", "new_string": "password == stored"}
    shell = {"command": FAILING, "description": "Run the shop"}
    talk: dict[str, Sequence[Step]] = {scene: [{"text": text}] for scene, text in TALK.items()}
    talk["long"] = [
        {"text": "The warehouse has four halls, and in every hall there are nine rows of shelves.", "hold": 1}
    ]
    delegate = {"description": "Find uses", "prompt": asked(SUBAGENT, "subagent"), "subagent_type": "general-purpose"}
    return {
        "claude-code": talk
        | {
            "summary": [{"text": f"<analysis>All is said.</analysis>\n<summary>{SUMMARY}</summary>"}],
            "mend": _mend(("Read", {"file_path": app}), ("Edit", edit), ("Bash", shell)),
            "delegate": [
                {
                    "text": "I ask a helper.",
                    "tools": [{"name": "Agent", "args": delegate | {"run_in_background": False}}],
                },
                {"text": "The helper found one use."},
            ],
            "subagent": [
                {"tools": [{"name": "Bash", "args": {"command": "grep -n check app.py", "description": "Search"}}]},
                {"text": "One use of check(), in app.py."},
            ],
        },
        "codex": talk
        | {
            "summary": [{"text": SUMMARY}],
            "mend": _mend(
                ("exec_command", {"cmd": "cat app.py"}), ("apply_patch", _PATCH), ("exec_command", {"cmd": FAILING})
            ),
        },
        "gemini": talk
        | {
            "summary": [{"text": f"<state_snapshot>{SUMMARY}</state_snapshot>"}],
            "mend": _mend(
                ("read_file", {"file_path": app}),
                ("replace", edit | {"instruction": "Compare with =="}),
                ("run_shell_command", shell),
            ),
        },
        "copilot": talk
        | {
            "mend": _mend(
                ("view", {"path": app}),
                ("edit", {"path": app, "old_str": "password != stored", "new_str": "password == stored"}),
                ("bash", shell | {"mode": "sync"}),
            )
        },
        "pi": talk
        | {
            "mend": _mend(
                ("read", {"path": "app.py"}),
                (
                    "edit",
                    {"path": "app.py", "edits": [{"oldText": "password != stored", "newText": "password == stored"}]},
                ),
                ("bash", {"command": FAILING}),
            )
        },
        "aider": talk | {"mend": [{"text": f"{_LOOK}\n\n{_FOUND}\n\n{_EDIT}\n\n{DONE}"}]},
        "cline": talk
        | {
            "mend": _mend(
                ("read_files", {"files": [{"path": app}]}),
                ("editor", {"path": app, "old_text": "password != stored", "new_text": "password == stored"}),
                ("run_commands", {"commands": [FAILING]}),
            )
        },
        "cline-2.18": {name: [_completed(text)] for name, text in TALK.items()}
        | {
            "mend": [
                *_mend(
                    ("read_file", {"path": "app.py"}),
                    ("replace_in_file", {"path": "app.py", "absolutePath": app, "diff": _BLOCK}),
                    ("execute_command", {"command": FAILING, "requires_approval": False}),
                )[:3],
                _completed(DONE),
            ]
        },
        "qwen": talk
        | {
            "mend": _mend(
                ("read_file", {"file_path": app}),
                ("edit", edit),
                ("run_shell_command", shell | {"is_background": False}),
            )
        },
    }


_EDIT = """app.py
```python
<<<<<<< SEARCH
    return password != stored
=======
    return password == stored
>>>>>>> REPLACE
```"""
_BLOCK = """------- SEARCH
    return password != stored
=======
    return password == stored
+++++++ REPLACE
"""
_PATCH = """*** Begin Patch
*** Update File: app.py
@@
 def check(password):
-    return password != stored
+    return password == stored
*** End Patch"""


def _completed(text: str) -> Step:
    return {"tools": [{"name": "attempt_completion", "args": {"result": text}}]}


def _mend(*tools: tuple[str, object]) -> Sequence[Step]:
    read, edit, run = ([{"name": name, "args": args}] for name, args in tools)
    return [
        {"think": THOUGHT, "text": _LOOK, "tools": read},
        {"text": _FOUND, "tools": edit},
        {"tools": run},
        {"text": DONE},
    ]
