"""Tokens: their file, and the commands that make, list and revoke them."""

import hashlib
import json
import os
import re
import tempfile
import threading
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vault_index.access import Token, Tokens
from vault_index.callers import Caller, Scope
from vault_index.cli import main
from vault_index.errors import NotFoundError, UsageError, VaultIndexError

NOW = 1_800_000_000.0
ANN = Caller("ann", writes=True, scope=Scope(("notes",), ("work/acme",), ("acme",)))
Out = pytest.CaptureFixture[str]
TABLES = tomllib.loads(Path(__file__).with_name("tokens.toml").read_text("utf-8"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "tokens.json"


def test_tokens_find_a_token_until_it_is_revoked(file: Path) -> None:
    tokens, of_the_server = Tokens(file), Tokens(file)
    assert tokens.all() == ()
    secret = tokens.add(ANN, created=NOW)
    other = tokens.add(Caller("bob"), created=NOW)
    assert re.fullmatch(r"vx_[A-Za-z0-9_-]{43}", secret)
    assert secret != other
    assert of_the_server.find(secret, NOW) == ANN
    assert of_the_server.find(other, NOW) == Caller("bob")
    assert tokens.revoke("ann") == Token(ANN, NOW, None)
    assert of_the_server.find(secret, NOW) is None
    assert of_the_server.find(other, NOW) == Caller("bob")
    assert of_the_server.all() == (Token(Caller("bob"), NOW, None),)


def test_tokens_expire(file: Path) -> None:
    tokens = Tokens(file)
    secret = tokens.add(ANN, created=NOW, expires=NOW + 60)
    assert tokens.find(secret, NOW + 59) == ANN
    assert tokens.find(secret, NOW + 60) is None
    assert [token.expired(NOW + 60) for token in tokens.all()] == [True]


def test_tokens_refuse_a_similar_secret(file: Path) -> None:
    tokens = Tokens(file)
    secret = tokens.add(ANN, created=NOW)
    kept = hashlib.sha256(secret.encode()).hexdigest()
    for wrong in ("", "vx_", secret[:-1], secret + "A", f" {secret}", secret.swapcase(), kept, "ann", "\udcff", "é\0"):
        assert tokens.find(wrong, NOW) is None, wrong


def test_tokens_file_is_private_and_holds_no_secret(file: Path) -> None:
    secret = Tokens(file).add(ANN, created=NOW)
    text = file.read_text(encoding="utf-8")
    assert secret.removeprefix("vx_") not in text
    assert hashlib.sha256(secret.encode()).hexdigest() in text
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o077 == 0
    file.chmod(0o644)  # for example by a restore
    Tokens(file).add(Caller("bob"), created=NOW)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["tokens.json"]


def test_tokens_have_unique_names(file: Path) -> None:
    tokens = Tokens(file)
    secret = tokens.add(ANN, created=NOW)
    with pytest.raises(UsageError, match="ann already"):
        tokens.add(Caller("ann"), created=NOW)
    assert tokens.find(secret, NOW) == ANN
    tokens.revoke("ann")
    assert tokens.add(Caller("ann"), created=NOW) != secret
    with pytest.raises(NotFoundError):
        tokens.revoke("bob")


def test_tokens_have_plain_names(file: Path) -> None:
    for name in ("", "-x", "a b", "a\n", "a/b", "a" * 65, 'a"b', "\u0430nn", "a\u202e"):
        with pytest.raises(UsageError, match="not a valid token name"):
            Tokens(file).add(Caller(name), created=NOW)
    assert not file.exists()
    with pytest.raises(NotFoundError):
        Tokens(file).revoke("ann")


def test_tokens_keep_concurrent_writes(file: Path) -> None:
    def add(name: str) -> None:
        secrets[name] = Tokens(file).add(Caller(name), created=NOW)

    secrets: dict[str, str] = {}
    threads = [threading.Thread(target=add, args=(f"t{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(secrets) == 8
    found = {name: Tokens(file).find(secret, NOW) for name, secret in secrets.items()}
    assert found == {name: Caller(name) for name in secrets}


def _edited(change: Callable[[Any], object]) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        said = json.loads(data)
        change(said)
        return json.dumps(said).encode()

    return edit


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "no object": lambda data: b"[]",
    "deep": lambda data: b"[" * 100_000,
    "another version": _edited(lambda said: said.update(version=2)),
    "no scope": _edited(lambda said: said["tokens"][0]["caller"].pop("scope")),
    "a part of the scope is missing": _edited(lambda said: said["tokens"][0]["caller"]["scope"].pop("folders")),
    "folders are a text": _edited(lambda said: said["tokens"][0]["caller"]["scope"].update(folders="work")),
    "expires never, said wrongly": _edited(lambda said: said["tokens"][0].update(expires=float("nan"))),
    "says nothing of expiring": _edited(lambda said: said["tokens"][0].pop("expires")),
    "no hash": _edited(lambda said: said["tokens"][0].update(hash="")),
    "one name twice": _edited(lambda said: said["tokens"][1]["caller"].update(name="ann")),
    "one hash twice": _edited(lambda said: said["tokens"][1].update(hash=said["tokens"][0]["hash"])),
}


def test_tokens_refuse_all_access_with_a_damaged_file_and_keep_it(file: Path) -> None:
    tokens = Tokens(file)
    secrets = [tokens.add(caller, created=NOW) for caller in (ANN, Caller("bob"))]
    whole = file.read_bytes()
    for name, damage in DAMAGES.items():
        damaged = damage(whole)
        assert damaged != whole, name
        file.write_bytes(damaged)
        for act in (
            lambda: tokens.find(secrets[1], NOW),
            tokens.all,
            lambda: tokens.revoke("bob"),
            lambda: tokens.add(Caller("eve"), created=NOW),
        ):
            with pytest.raises(VaultIndexError, match="damaged") as caught:
                act()
            assert "backup" in caught.value.hint, name
        assert file.read_bytes() == damaged, name
        file.write_bytes(whole)  # repaired
        assert [tokens.find(secret, NOW) for secret in secrets] == [ANN, Caller("bob")], name


def test_tokens_refuse_a_file_writable_by_others(file: Path) -> None:
    tokens = Tokens(file)
    secret = tokens.add(ANN, created=NOW)
    file.chmod(0o666)
    with pytest.raises(VaultIndexError, match="other users"):
        tokens.find(secret, NOW)
    file.chmod(0o600)
    assert tokens.find(secret, NOW) == ANN


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_tokens_refuse_a_file_of_another_user(file: Path) -> None:
    tokens = Tokens(file)
    secret = tokens.add(ANN, created=NOW)
    os.chown(file, 1234, -1)
    with pytest.raises(VaultIndexError, match="another user"):
        tokens.find(secret, NOW)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A home with two vaults, `notes` and `shared`, in a path short enough for a socket."""
    for name in [name for name in os.environ if name.startswith("VAULT_INDEX_")]:
        monkeypatch.delenv(name)
    for name, folder in (("notes", "work/acme"), ("shared", "plans"), ("shared", "work")):
        (tmp_path / name / folder).mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="vx-") as folder:
        monkeypatch.setenv("VAULT_INDEX_HOME", folder)
        monkeypatch.setenv("XDG_DATA_HOME", f"{folder}/no-data")
        text = "".join(f'[sources.{name}]\npath = "{tmp_path}/{name}"\n' for name in ("notes", "shared"))
        Path(folder, "config.toml").write_text(text, "utf-8")
        yield Path(folder)


def test_token_add_prints_only_the_token(home: Path, capsys: Out) -> None:
    assert main(["token", "add", "laptop", "--read", "--source", "notes"]) == 0
    out, err = capsys.readouterr()
    assert out.endswith("\n")
    assert Tokens(home / "tokens.json").find(out.removesuffix("\n"), NOW) == Caller("laptop", scope=Scope(("notes",)))
    assert "laptop reads notes" in err
    assert out.strip() not in err
    assert main(["token", "add", "ci", "--write", "--json"]) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert Tokens(home / "tokens.json").find(answer["token"], NOW) == Caller("ci", writes=True)
    assert err == ""


def scope_of(home: Path, *words: str) -> Scope:
    """Return the scope of the token that the command makes from these words."""
    tokens = Tokens(home / "tokens.json")
    assert main(["token", "add", "one", "--read", *words]) == 0
    return tokens.revoke("one").caller.scope


def test_token_add_reads_scopes_in_many_spellings(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "notes")
    places = {name: tmp_path / name for name in ("notes", "shared", "link")}
    for words, sources, folders, projects in TABLES["scopes"]:
        scope = Scope(tuple(sources), tuple(folders), tuple(projects))
        assert scope_of(home, *(word.format(**places) for word in words)) == scope, words


def test_token_add_refuses_an_ambiguous_scope(home: Path, tmp_path: Path, capsys: Out) -> None:
    places = {name: tmp_path / name for name in ("notes", "shared")}
    for words, said in TABLES["refused"]:
        assert main(["token", "add", "one", *(word.format(**places) for word in words)]) in (2, 3), words
        out, err = capsys.readouterr()
        assert (out, said in err) == ("", True), words
    assert not (home / "tokens.json").exists()


def test_token_add_warns_if_a_writer_sees_no_memories(home: Path, capsys: Out) -> None:
    for name, rights, folders, told in (
        ("a", "--write", ["work"], True), ("b", "--write", ["work", "80-memory/decision"], False),
        ("c", "--read", ["work"], False), ("d", "--write", [], False),
    ):  # fmt: skip
        words = [word for folder in folders for word in ("--folder", folder)]
        assert main(["token", "add", name, rights, *words]) == 0
        assert ("are in 80-memory/" in capsys.readouterr().err) == told, name


def test_token_add_spells_a_folder_as_on_disk(home: Path, tmp_path: Path, capsys: Out) -> None:
    (tmp_path / "notes" / "Cafe\u0301" / "b").mkdir(parents=True)
    (tmp_path / "notes" / "file").touch()
    assert scope_of(home, "--folder", "Caf\u00e9/b") == Scope(folders=("Cafe\u0301/b",))
    assert "does not exist" not in capsys.readouterr().err
    for name in ("cafe\u0301", "file", "file/b"):
        assert main(["token", "add", f"x{len(name)}", "--read", "--folder", name]) == 0
        assert f"folder {name} does not exist yet" in capsys.readouterr().err


def test_token_add_expires_at_the_end_of_the_last_day(home: Path, capsys: Out) -> None:
    assert main(["token", "add", "one", "--read", "--expires", "Q1 2097", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["expires"].startswith("2097-03-31T23:59:59")
    assert main(["token", "add", "two", "--read", "--expires", "in 2 hours"]) == 0
    two = Tokens(home / "tokens.json").all()[1]
    assert two.expires is not None
    assert two.expires - two.created == pytest.approx(7200, abs=2)


def test_token_revoke_ends_a_token(home: Path, capsys: Out) -> None:
    secret = Tokens(home / "tokens.json").add(ANN, created=NOW)
    assert main(["token", "revoke", "ann", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"name": "ann", "revoked": True}
    assert Tokens(home / "tokens.json").find(secret, NOW) is None
    assert main(["token", "revoke", "ann"]) == 3
    assert "token list" in capsys.readouterr().err
