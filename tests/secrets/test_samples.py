"""Synthetic credentials of many forms, plain and after changes by programs:

none is kept whole. tools/build_secret_samples.py makes the samples; another seed makes others.
"""

import json
import runpy
import sys
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from tests.secrets.wraps import FILE, Sample, leaks, samples, wrapped
from tests.sources.opencode.stores import Client, tool
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config, set_value
from vault_index.errors import UsageError
from vault_index.secrets.find import find_secrets, redact

SAMPLES = samples()
STRONG = [sample for sample in SAMPLES if sample.strength == "strong"]
WEAK = [sample for sample in SAMPLES if sample.strength == "weak"]
TOKENS = [sample for sample in SAMPLES if sample.kind == "token"]


def test_secret_samples_equal_the_output_of_their_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Path(__file__).parents[2] / "tools" / "build_secret_samples.py"
    monkeypatch.setattr(sys, "argv", [str(program), str(tmp_path / "new.json")])
    runpy.run_path(str(program), run_name="__main__")
    assert (tmp_path / "new.json").read_bytes() == FILE.read_bytes()


def test_redact_leaves_no_sample_whole_in_any_wrapper() -> None:
    """Every second wrapper of every sample, in turn."""
    left = [
        (sample.form, name, text)
        for number, sample in enumerate(SAMPLES)
        for name, text, secret in list(wrapped(sample))[number % 2 :: 2]
        for redacted in [redact(text)[0]]
        if leaks(secret, redacted) or leaks(sample.secret, redacted)
    ]
    assert left == []
    assert len(STRONG) >= 170


def test_find_secrets_distinguishes_strong_and_weak_samples() -> None:
    def strengths(sample: Sample) -> set[bool]:
        return {secret.weak for secret in find_secrets(f"How to deploy:\n\n{sample.whole}")}

    assert [sample.form for sample in STRONG if False not in strengths(sample)] == []
    assert [sample.form for sample in WEAK if strengths(sample) != {True}] == []


def test_add_refuses_strong_samples_and_keeps_them_in_no_file(tmp_path: Path) -> None:
    some = STRONG[:: len(STRONG) // 20]
    with opened(tmp_path) as index:
        for sample in some:
            with pytest.raises(UsageError, match="looks like") as error:
                index.add(f"How to deploy:\n\n{sample.whole}")
            assert not leaks(sample.secret, f"{error.value} {error.value.hint}")
        for field in ("title", "digest", "facts", "tags", "files_read", "entered_by"):
            secret = next(sample.secret for sample in some if sample.kind == "token")
            value = [secret] if field in ("facts", "tags", "files_read") else secret
            with pytest.raises(UsageError, match="looks like"):
                index.add("Look at the board", **{field: value})  # type: ignore[arg-type]
        index.add("This one may stay")
    assert leaked(some, tmp_path) == []


def test_every_command_warns_of_a_weak_sample_and_stores_it(tmp_path: Path) -> None:
    weak = WEAK[0].whole
    (tmp_path / "memory.md").write_text(f"Imported\n\n{weak}\n", encoding="utf-8")
    with opened(tmp_path) as index:
        added = index.add(f"How the test machine is reached:\n\n{weak}")
        first = index.add("Without any")
        updated = index.update(first.id, content=f"With one\n\n{weak}")
        captured = index.capture(f"*Remember*: {weak}")
        imported = index.import_(tmp_path / "memory.md")
        forced = index.add(f"Forced {weak}", force=True)
    other_ways = (one.details["warnings"] for one in (*captured.results, *imported.results))
    warnings = [" ".join(said) for said in (added.warnings, updated.warnings, *other_ways)]
    assert len(warnings) == 4
    assert all("looks like a weak password" in said and WEAK[0].secret not in said for said in warnings)
    assert (first.warnings, forced.warnings) == ((), ())


def leaked(wanted: list[Sample], folder: Path) -> list[tuple[str, str]]:
    """The forms that stand whole in each file: as written, in lower case, or as JSON."""
    files = {
        str(file.relative_to(folder)): file.read_bytes().decode("utf-8", "replace")
        for name in ("home", "vault")
        for file in (folder / name).rglob("*")
        if file.is_file() and not file.is_symlink()
    }
    everything = "\n".join([*files, *files.values()])
    found = set()
    for sample in wanted:
        for secret in {sample.secret, sample.secret.lower(), json.dumps(sample.secret)[1:-1]}:
            if leaks(secret, everything):
                found |= {(sample.form, place) for place, text in files.items() if leaks(secret, place + "\n" + text)}
    return sorted(found)


def test_sync_keeps_no_sample_of_a_session_in_any_file(client: Client, tmp_path: Path) -> None:
    """Text, tool calls, and the names of tools, files, agents and the session."""
    tokens = [sample for sample in TOKENS if not set(sample.secret) & set("/|:")][::2]  # one of most forms
    with client.connection:  # one transaction
        for number, sample in enumerate(STRONG):
            session = f"ses_{number // 10}"
            if number % 10 == 0:
                client.session(session)
            say(client, sample.whole, session)
        for number, sample in enumerate(tokens):
            name_everything(client, sample.secret, f"ses_named_{number}")
    home = find_home(tmp_path / "home")
    write(tmp_path / "vault", {"note.md": "# A note\n\nOf no concern.\n"})
    create_config(home, tmp_path / "vault", provider="none", memory_dir=None)
    set_value(home, "sessions.mirror", "sessions")
    settings = {"enabled": "true", "data": str(tmp_path / "opencode")}
    for key, value in (settings | {"include": "reasoning,output,diffs"}).items():
        set_value(home, f"sessions.opencode.{key}", value)
    with VaultIndex.open(home) as index:
        index.sync()
        assert index.stats().sessions > len(tokens)
    assert leaked([*STRONG, *tokens], tmp_path) == []


def say(client: Client, said: str, session: str) -> None:
    client.user(f"Please look at this:\n\n{said}", session=session)
    diff = "\n".join("+" + line for line in said.split("\n"))
    client.assistant(
        {"type": "reasoning", "text": said},
        tool("bash", {"command": said, "description": said}, output=f"done\n\x1b[32m{said}\x1b[0m"),
        tool("edit", {"filePath": "a.env"}, metadata={"diff": diff}),
        tool("odd", {"deep": {"er": [said]}}, status="error", error=said),
        f"I did it:\n\n```\n{said}\n```",
        session=session,
    )


def name_everything(client: Client, name: str, session: str) -> None:
    client.session(session, title=name, directory=f"/home/user/{name}", slug=name)
    prompt = client.user("Look at the lake", session=session, agent=name)
    client.part(prompt, {"type": "file", "mime": "text/plain", "filename": name, "url": f"file:///tmp/{name}"})
    client.part(prompt, {"type": "subtask", "description": name, "agent": name, "prompt": name})
    client.assistant(
        tool(name, {"a": 1}, title=name),
        tool("read", {"filePath": f"/tmp/{name}"}, title=f"/tmp/{name}"),
        tool("task", {"description": "look", "subagent_type": name}, metadata={"sessionId": f"ses_{name}"}),
        "A heron",
        session=session, agent=name, modelID=name, providerID=name, error={"name": name, "data": {"message": name}},
    )  # fmt: skip
