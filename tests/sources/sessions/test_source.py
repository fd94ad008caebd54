"""A client with session files, through every generic part: source, index, filters, gate and mirror."""

import json
from pathlib import Path

import pytest

from tests.sources.opencode.stores import Client
from tests.sources.sessions.fake import Fake, home_at, opened, pretend, write
from vault_index.config import Home, load_config
from vault_index.config.edit import set_value
from vault_index.models import Origin
from vault_index.query.projects import name_for_memory
from vault_index.sources.sessions.model import Session
from vault_index.sources.sessions.privacy import PrivateScope
from vault_index.sources.sessions.source import SessionSource

ID = "0199a213-81c0-7800-8aa1-bbab2a035a53"


@pytest.fixture
def talks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder that stands for Codex."""
    folder = pretend(tmp_path, monkeypatch)
    write(folder, ID, "Why is the heron here?", "It fishes.")
    return folder


@pytest.fixture
def home(tmp_path: Path, talks: Path) -> Home:
    return home_at(tmp_path)


def test_session_source_is_found_indexed_and_continued(home: Home, talks: Path) -> None:
    with opened(home) as index:
        (found,) = index.search("heron client:codex model:gpt").results
        assert (found.source, found.path, found.kind) == ("codex", f"api/{ID}.md", "session")
        for nothing in ("heron client:opencode", "heron model:opus", "heron -client:codex"):
            assert index.search(nothing).results == ()
        assert index.sync().unchanged == 2
        write(talks, ID, "And the egret?")
        assert (index.sync().changed, len(index.search("egret").results)) == (1, 1)
        (text,) = index.get([ID], full=True).results
        assert (text.metadata or {})["resume"] == f"fake 'go on' {ID}"
        assert 'client: "codex"' in text.content
        assert "tokens: 21" in text.content


def test_session_source_reads_heads_once(home: Home, talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(home):
        pass
    cache = home.sessions_dir / "codex/.heads.json"
    assert cache.stat().st_mode & 0o777 == 0o600
    told = json.loads(cache.read_bytes())
    ((_, (_, session)),) = told.items()
    assert session[0] == ID
    monkeypatch.setattr("tests.sources.sessions.fake.Fake.head", None)  # it would raise
    with opened(home) as index:
        assert len(index.search("heron").results) == 1


def test_session_source_checks_an_empty_file_again_when_it_grows(talks: Path) -> None:
    client, empty = Fake(talks), talks / "talks/0199-empty.jsonl"
    empty.touch()
    assert set(client.listing().sessions) == {ID}
    empty.write_text('{"at": 1, "title": "t", "cwd": "/a"}\n{"at": 2, "said": "Hoopoe."}\n', "utf-8")
    assert "0199-empty" in client.listing().sessions
    empty.write_text('{"at": 1, "title": "u"}\n', "utf-8")  # another file in its place
    assert client.listing().sessions["0199-empty"].session.title == "u"


@pytest.mark.parametrize("told", [False, True])
def test_session_source_not_configured_stays_local(home: Home, talks: Path, told: bool) -> None:
    if told:
        set_value(home, "sessions.codex.enabled", "true")
    set_value(home, "sessions.mirror", "talks")
    source = SessionSource(load_config(home), "codex")
    assert source.stays_home(f"api/{ID}.md") is not told
    privacy = PrivateScope(load_config(home))
    assert privacy.empty is told
    assert privacy.keeps(Origin(session=ID)) is not told
    assert privacy.keeps(Origin(("api",), ("/home/user/api",))) is not told
    assert privacy.keeps(Origin(folders=("/home/user/api",))) is not told
    assert not privacy.keeps(Origin(("other",), ("/home/user/other",)))
    with opened(home):
        assert len(list((home.data_dir.parent / "vault").glob("talks/*.md"))) == told


GONE = Origin(session="0199-gone")


@pytest.mark.parametrize(
    ("local", "origins"),
    [
        ({"codex": "true"}, [(Origin(session=ID), True), (Origin(session="ses_a"), False), (GONE, True)]),
        ({"opencode": "true"}, [(Origin(session=ID), False), (Origin(session="ses_a"), True)]),
        ({"codex": "other", "opencode": "api"}, [(Origin(session=ID), True), (Origin(("other",), session=ID), True)]),
        ({"codex": "api"}, [(Origin(session=ID), True)]),
    ],
)
def test_privacy_follows_the_settings_of_the_client_of_the_session(
    local: dict[str, str], origins: list[tuple[Origin, bool]], home: Home, client: Client
) -> None:
    client.begin("Hello")
    set_value(home, "sessions.opencode.data", str(client.path.parent))
    set_value(home, "sessions.codex.enabled", "true")
    for name, value in local.items():
        set_value(home, f"sessions.{name}.local_only", value)
    privacy = PrivateScope(load_config(home))
    assert [privacy.keeps(origin) for origin, _ in origins] == [kept for _, kept in origins]


@pytest.mark.parametrize("pattern", ["secret", "work/secret", "work"])
def test_privacy_of_a_project_holds_in_its_worktrees_and_clones(home: Home, tmp_path: Path, pattern: str) -> None:
    main, clone, linked = tmp_path / "work/secret", tmp_path / "clone", tmp_path / "linked"
    record = main / ".git/worktrees/linked"
    for folder in (record, clone / ".git", linked, tmp_path / "other"):
        folder.mkdir(parents=True)
    for folder in (main, clone):
        (folder / ".git/config").write_text('[remote "origin"]\nurl = git@example.org:acme/secret.git\n')
    (linked / ".git").write_text(f"gitdir: {record}\n")
    (record / "gitdir").write_text(f"{linked}/.git\n")
    limit = pattern if pattern == "secret" else str(tmp_path / pattern)
    set_value(home, "sessions.codex.local_only", limit)
    config = load_config(home)
    privacy, source = PrivateScope(config), SessionSource(config, "codex")
    for folder in (main, clone, linked, tmp_path / "other"):
        private = folder.name != "other"
        assert privacy.keeps(Origin(folders=(str(folder),))) is private
        assert source.keeps(Session("s", "", str(folder), "", "", "", 0, 0)) is private
    assert privacy.keeps(Origin(("secret",)))
    assert name_for_memory(str(clone), config) == "secret"


def test_mirror_writes_all_clients_into_one_folder(home: Home, talks: Path, client: Client) -> None:
    client.begin("An owl")
    set_value(home, "sessions.opencode.data", str(client.path.parent))
    set_value(home, "sessions.codex.enabled", "true")
    set_value(home, "sessions.mirror", "talks")
    with opened(home) as index:
        files = sorted(path.name for path in (home.data_dir.parent / "vault/talks").iterdir())
        assert [name.partition(" ")[2] for name in files] == [f"{ID}.md", "A session.md"]
        assert [hit.source for hit in index.search("heron client:codex").results] == ["vault"]
        assert len(index.search("owl client:opencode").results) == 1
        assert index.sync().changed == 0
