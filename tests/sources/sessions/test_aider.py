"""The history of Aider in projects."""

from pathlib import Path

import pytest

from tests.sources.sessions.recorded import copied
from tests.sources.sessions.test_codex import calls, said
from tests.sources.sessions.test_recorded import FORKED, MENDED, OTHER, SECOND, read
from vault_index.config import ClientConfig, Config
from vault_index.errors import NotFoundError
from vault_index.sources.sessions.aider import Aider
from vault_index.sources.sessions.source import SessionSource

NEW = """
# aider chat started at 2026-11-27 08:00:00

> Main model: made/up-1 with diff edit format··

#### What is quoted?··
####··
#### And where?··

#### A heading

> a quotation
> of two lines

> Running make shelf··
> Tokens: 1.5k sent, 20 received.··

#### /ask Why?··

#### /add app.py··
""".replace("·", " ")


def test_aider_reads_recorded_sessions(tmp_path: Path) -> None:
    (session, messages), (_, others) = read(Aider(copied("aider", tmp_path / "shop")))
    assert (session.project, session.version) == ("shop", "0.86.2")
    texts = said(messages)
    assert (texts[0], texts[1].endswith(MENDED[-1].removeprefix("assistant: "))) == (MENDED[0], True)
    assert [one.partition(":")[0] for one in texts[2:]] == ["user", "assistant"]
    assert [(one.tool, one.target) for one in calls(messages)] == [("edit", "app.py"), ("bash", "python3 app.py")]
    assert ({one.model for one in others[1:]}, sum(one.tokens for one in others)) == (
        {"anthropic/claude-sonnet-4-5", ""},
        4816,
    )
    assert said(others) == [SECOND, "assistant: Forty boxes fit on a shelf.", *OTHER]
    assert FORKED[0] not in said(others)


def test_aider_is_followed_and_tells_prompts_from_headings(tmp_path: Path) -> None:
    folder = copied("aider", tmp_path / "shop")
    source = SessionSource(Config(clients={"aider": ClientConfig(data=(str(folder),))}), "aider")
    before, version = source.scan_places([""]).refs, source.version()
    with (folder / ".aider.chat.history.md").open("a", encoding="utf-8") as file:
        file.write(NEW)
    after = source.scan_places([""]).refs
    assert source.version() != version
    assert {*before} < {*after}
    (new,) = (one for one in source.client.listing().sessions.values() if "20261127" in one.session.id)
    messages = source.client.read(new, ()).messages
    assert said(messages) == [
        "user: What is quoted?\n\nAnd where?",
        "assistant: #### A heading\n\n> a quotation\n> of two lines",
        "user: Why?",
    ]
    assert [(one.tool, one.target) for one in calls(messages)] == [("shell", "make shelf")]
    assert (messages[2].model, messages[2].tokens) == ("made/up-1", 1520)
    (folder / ".aider.chat.history.md").write_text("# another format\n", "utf-8")
    assert "no session begins in it" in source.scan_places([""]).faults[0].message
    with pytest.raises(NotFoundError):
        source.client.read(new, ())
