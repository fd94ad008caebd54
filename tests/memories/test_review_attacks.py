"""A review on a terminal changes nothing when the editor fails."""

from pathlib import Path

from tests.api.vaults import indexed
from tests.terminal import Terminal

EDITORS = {
    'echo "half" > "$1"; exit 1': "the editor exited with code 1",
    ': > "$1"': "not done: ",
    'sed -i -e "s/^id: [0-7]/id: f/" -e t -e "s/^id: ./id: 0/" "$1"': "not done: ",
    'printf "caf\\351\\n" >> "$1"': "cannot read",
    ":": "nothing was changed",
    'echo Mine. >> "$1"; echo Theirs. >> "$MEMORY"': "changed since it was shown",
    'rm "$1"; rm "$0"': "cannot read",
    "is not there": "cannot start the editor",
}
"""The effect of an editor on the file `$1`, and the message of the review."""


def test_review_changes_nothing_after_a_failed_edit(tmp_path: Path) -> None:
    memory, editor = tmp_path / "vault/80-memory/inbox/heron.md", tmp_path / "editor"
    with indexed(tmp_path, {}) as index:
        index.add("The heron is shy.", path="inbox/heron")
    before = memory.read_bytes()
    cases = "\n".join(f"{number}) {script} ;;" for number, script in enumerate(list(EDITORS)[:-1]))
    editor.write_text(f'#!/bin/sh\nn=$(cat "$0.n" || echo 0); echo $((n + 1)) > "$0.n"; case $n in\n{cases}\nesac\n')
    editor.chmod(0o755)
    environment = {
        "VAULT_INDEX_HOME": str(tmp_path / "home"), "VAULT_INDEX_DAEMON": "off", "VISUAL": str(editor),
        "MEMORY": str(memory), "TMPDIR": str(tmp_path),
    }  # fmt: skip
    with Terminal("review", size=(160, 40), environ=environment) as review:
        review.until("q quit")
        for script, said in EDITORS.items():
            review.type("e")
            assert said in review.until("q quit"), script
            if "Theirs" in script:
                before += b"Theirs.\n"
            assert memory.read_bytes() == before, script
            assert list(memory.parent.iterdir()) == [memory], script
