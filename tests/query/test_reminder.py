"""A reminder quotes the memory about the file or the command of a tool call, once per session."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import indexed
from vault_index import VaultIndex, tokens
from vault_index.query.reminder import action_of, relevance

CASES = [
    ("`src/cart.py` rounds half to even.", {"file_path": "/shop/src/cart.py"}, True),
    ("`src/cart.py` rounds half to even.", {"file_path": "/shop/src/admin/cart.py"}, False),
    ("`/shop/src/cart.py` rounds half to even.", {"file_path": "src/cart.py"}, True),
    ("Everything in `api/generated/` is written by a tool.", {"file_path": "/shop/api/generated/a/b.ts"}, True),
    ("`*.pb.go` are generated.", {"file_path": "/shop/api/v1/frame.pb.go"}, True),
    ("README.md is mirrored.", {"file_path": "/shop/packages/a/README.md"}, False),
    ("The cart rounds half to even.", {"file_path": "/shop/src/cart.py"}, False),
    ("Never `terraform apply` without `-target`.", {"command": "cd live && terraform apply -auto-approve"}, True),
    ("Never `terraform apply` without `-target`.", {"command": "terraform apply -target=module.a"}, False),
    ("Never `terraform apply` without `-target`.", {"command": "terraform fmt"}, False),
    ("`git push --force` is forbidden.", {"command": "git push --force-with-lease origin a"}, True),
    ("`git push --force` is forbidden.", {"command": "git push origin a"}, False),
    ("Run the tests by `make test`.", {"command": "make test"}, False),
    ("Run `go test -race ./hub`.", {"command": "sudo go test ./hub"}, True),
    ("Do not use `python -m unittest`.", {"command": "python -m unittest discover"}, True),
    ("`systemctl restart hub` causes a fault.", {"command": "ssh hub3 sudo systemctl restart hub"}, True),
    ("rsync to the NAS needs `--no-perms`.", {"command": "rsync -av a nas:"}, True),
    ("`bin/deploy.sh` runs only at Jonas' machine.", {"command": "bash bin/deploy.sh staging"}, True),
    ("`bin/deploy.sh` runs only at Jonas' machine.", {"command": "cat bin/deploy.sh"}, False),
    ("`make flash` writes to any probe.", {"command": "echo 'an open quote"}, False),
    ("`` ` ` `-` `a=` / * . ~", {"command": "\n;; '' \"\" && a"}, False),
]


@pytest.mark.parametrize(("text", "tool_input", "about"), CASES)
def test_relevance_finds_the_file_or_the_command(text: str, tool_input: dict[str, Any], about: bool) -> None:
    assert (relevance(text, action_of(tool_input, "/shop")) > 0) is about


def memory(text: str, front: str = "") -> str:
    return f"---\nid: 5f0c1a2b-1111-4000-8000-00000000000{len(front) % 10}\n{front}---\n{text}\n"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[VaultIndex]:
    long = "Prices are whole cents. " * 40
    memories = {
        "80-memory/a.md": memory(f"# Cart\n{long}In `src/cart.py`, <b> stays. {long}", "project: shop\n"),
        "80-memory/b.md": memory("`src/cart.py` is old.", "project: web\n"),
        "80-memory/c.md": memory("`src/cart.py` is gone.", "project: shop\nexpires: 2020-01-01\n"),
        "notes/d.md": "`src/cart.py` in a note.\n",
    }
    with indexed(tmp_path, memories) as opened:
        yield opened


def test_remind_quotes_one_current_memory_of_the_project_once_per_session(
    index: VaultIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_index.api.index._HOOK_SECONDS", -1)
    late = {"session_id": "s", "tool_input": {"file_path": "src/cart.py"}, "cwd": "/home/u/shop"}
    assert index.remind(late).text == index.remind(late).text != ""
    monkeypatch.setattr("vault_index.api.index._HOOK_SECONDS", 60)
    event: dict[str, Any] = {"session_id": "s", "cwd": "/home/u/shop", "tool_input": {"file_path": "src/cart.py"}}
    reminder = index.remind(event)
    assert reminder.path == "80-memory/a.md"
    assert reminder.text.startswith("Quoted from memory 5f0c1a2b, as data: In `src/cart.py`, &lt;b> stays.")
    assert "\n" not in reminder.text
    assert tokens.count(reminder.text) <= 60
    assert index.remind(event).text == ""
    assert index.remind({**event, "session_id": "t"}).text
    for other in ({"file_path": "src/other.py"}, {"command": "git status"}, {}, "text"):
        assert index.remind({"tool_input": other}).text == ""
