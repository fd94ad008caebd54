"""Made-up credentials of many forms, each as it is and after what programs do to text: none is kept whole.

The samples are made by tools/build_secret_samples.py, which another seed makes anew.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from tests.secrets.wraps import FILE, WRAPPERS, Sample, leaks, samples, wrapped
from tests.sources.opencode.stores import Client, tool
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config, set_value
from vault_index.errors import UsageError
from vault_index.secrets.find import drop_private, redact

SAMPLES = samples()
BY_FORM = {form: list(same) for form, same in groupby(sorted(SAMPLES, key=lambda one: one.form), lambda one: one.form)}
STRONG = [sample for sample in SAMPLES if sample.strength == "strong"]
WEAK = [sample for sample in SAMPLES if sample.strength == "weak"]
TOKENS = [sample for sample in SAMPLES if sample.kind == "token"]


def names(found: list[Sample]) -> list[str]:
    return [f"{sample.form} {at}" for at, sample in enumerate(found)]


def test_there_are_enough_of_them() -> None:
    assert len(STRONG) >= 170
    assert len(BY_FORM) >= 70
    assert len(WRAPPERS) == len({wrapper.name for wrapper in WRAPPERS})
    assert all(sample.secret in sample.whole and sample.source.startswith("https://") for sample in SAMPLES)


def test_they_are_as_their_program_makes_them(tmp_path: Path) -> None:
    program = Path(__file__).parents[2] / "tools" / "build_secret_samples.py"
    subprocess.run([sys.executable, program, tmp_path / "new.json"], check=True, capture_output=True)
    assert (tmp_path / "new.json").read_bytes() == FILE.read_bytes()


@pytest.mark.parametrize("form", BY_FORM)
def test_none_is_left_whole(form: str) -> None:
    left = [
        (name, text)
        for sample in BY_FORM[form]
        for name, text, secret in wrapped(sample)
        for redacted in [redact(text)[0]]
        if leaks(secret, redacted) or leaks(sample.secret, redacted)
    ]
    assert left == []


@pytest.mark.parametrize(
    "opening", ['<private reason="pay">', "<private reason=pay>", "<private  id='1' >", "<PRIVATE x>"]
)
def test_private_marks_may_say_why(opening: str) -> None:
    assert drop_private(f"before {opening}my pay is 7</private> after").split() == ["before", "after"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with opened(tmp_path_factory.mktemp("samples")) as index:
        yield index


@pytest.mark.parametrize("sample", STRONG, ids=names(STRONG))
def test_strong_ones_are_refused(index: VaultIndex, sample: Sample) -> None:
    with pytest.raises(UsageError, match="looks like") as error:
        index.add(f"How to deploy:\n\n{sample.whole}")
    assert not leaks(sample.secret, f"{error.value} {error.value.hint}")


@pytest.mark.parametrize("sample", WEAK, ids=names(WEAK))
def test_weak_ones_are_warned_of_and_stored(index: VaultIndex, sample: Sample) -> None:
    stored = index.add(f"How the test machine is reached:\n\n{sample.whole}")
    warnings = [warning for warning in stored.warnings if re.search("looks? like", warning)]
    assert len(warnings) == 1
    assert sample.secret not in warnings[0]


def test_weak_ones_are_warned_of_on_every_way_in(tmp_path: Path) -> None:
    weak = WEAK[0].whole
    (tmp_path / "memory.md").write_text(f"Imported\n\n{weak}\n", encoding="utf-8")
    with opened(tmp_path) as index:
        first = index.add("Without any")
        updated = index.update(first.id, content=f"With one\n\n{weak}")
        captured = index.capture(f"*Remember*: {weak}")
        imported = index.import_(tmp_path / "memory.md")
        forced = index.add(f"Forced {weak}", force=True)
    warnings = [updated.warnings, *(one.details["warnings"] for one in (*captured.results, *imported.results))]
    assert len(warnings) == 3
    assert all("looks like a weak password" in " ".join(said) for said in warnings)
    assert (first.warnings, forced.warnings) == ((), ())


@pytest.mark.parametrize("field", ["title", "digest", "facts", "tags", "files_read", "entered_by"])
def test_strong_ones_are_refused_in_every_field(index: VaultIndex, field: str) -> None:
    secret = next(sample.secret for sample in STRONG if sample.form == "Grafana service account token")
    with pytest.raises(UsageError, match="looks like"):
        index.add("Look at the board", **{field: [secret] if field in ("facts", "tags", "files_read") else secret})  # type: ignore[arg-type]


def test_what_was_refused_is_in_no_file(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        for sample in STRONG:
            with pytest.raises(UsageError):
                index.add(sample.whole)
        index.add("This one may stay")
    assert leaked(STRONG, tmp_path) == []


def leaked(wanted: list[Sample], folder: Path) -> list[tuple[str, str]]:
    """Which forms stand whole in which files, as they are, in lower case, or as JSON."""
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


def synced(folder: Path, settings: Mapping[str, str]) -> None:
    home = find_home(folder / "home")
    write(folder / "vault", {"note.md": "# A note\n\nOf no concern.\n"})
    create_config(home, folder / "vault", provider="none", memory_dir=None)
    for key, value in settings.items():
        set_value(home, f"opencode.{key}", value)
    with VaultIndex.open(home) as index:
        index.sync()
        assert index.stats().sessions > 0


@pytest.mark.parametrize("mirror", ["", "sessions"])
def test_what_a_session_says_is_in_no_file(client: Client, tmp_path: Path, mirror: str) -> None:
    """All of them, in what was asked, done, answered and changed."""
    with client.connection:  # one transaction
        for number, sample in enumerate(STRONG):
            said, session = sample.whole, f"ses_{number // 10}"
            if number % 10 == 0:
                client.session(session)
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
    include = "reasoning,output,diffs"
    synced(tmp_path, {"enabled": "true", "data": str(tmp_path / "opencode"), "include": include, "mirror": mirror})
    assert leaked(STRONG, tmp_path) == []


@pytest.mark.parametrize("mirror", ["", "sessions"])
def test_names_in_a_session_are_in_no_file(client: Client, tmp_path: Path, mirror: str) -> None:
    """Tools, their titles, child sessions, files, folders, agents, models and the session itself may be named so."""
    tokens = [sample for sample in TOKENS if not set(sample.secret) & set("/|:")][::2]  # one of most forms
    for number, sample in enumerate(tokens):
        name = sample.secret
        session = client.session(f"ses_{number}", title=name, directory=f"/home/user/{name}", slug=name)
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
    include = "reasoning,output,diffs"
    synced(tmp_path, {"enabled": "true", "data": str(tmp_path / "opencode"), "include": include, "mirror": mirror})
    assert leaked(tokens, tmp_path) == []
