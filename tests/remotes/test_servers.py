"""Remote sources on real servers: every kind behaves alike."""

import random
import re
import subprocess
from pathlib import Path

import pytest

from tests.remotes.places import SECRET, Line, Machine, Place, Repository, tcp
from tests.waiting import until
from tests.world import World
from vault_index import VaultIndex

MEMORY = "80-memory/note/2026-11-20-deploy.md"


def test_remote_source_follows_the_remote(place: Place, tmp_path: Path) -> None:
    place.put(a="# A\n\napples", notes_b="# B\n\npears", notes_c="# C")
    machine = Machine(tmp_path / "anna", place)
    assert machine.exchange()[:4] == (3, 0, 0, ())
    with machine.index() as index:
        assert [hit.path for hit in index.search("pears").results] == ["notes/b.md"]
    place.put(a="# A\n\ncherries", notes_b=None, notes_d="# B\n\npears", notes_c=None)  # change, rename, delete
    assert machine.exchange()[:4] == (2, 0, 0, ())
    assert machine.files() == place.files() == {"a.md": "# A\n\ncherries", "notes/d.md": "# B\n\npears"}
    with machine.index() as index:
        assert [hit.path for hit in index.search("pears").results] == ["notes/d.md"]
    place.requests.clear()
    assert machine.exchange() == (0, 0, 0, ())
    if place.requests:  # a listing: of git, a refusal without a password and two answers
        assert len(place.requests) <= 3
    assert SECRET not in "".join(file.read_text("utf-8", "replace") for file in machine.home.data_dir.rglob("*.json"))


def test_memories_are_written_to_the_remote(place: Place, tmp_path: Path) -> None:
    place.put(a="# A")
    anna, ben = Machine(tmp_path / "anna", place), Machine(tmp_path / "ben", place)
    anna.exchange()
    with anna.index() as index:
        path = index.add("Deploys are on Tuesdays", title="Deploys", source="far").path
    assert anna.state()["pending"] == 1
    assert anna.exchange()[:4] == (0, 1, 0, ())
    assert (anna.state()["pending"], anna.files()) == (0, place.files())
    if isinstance(place, Repository):
        assert place.subjects()[0] == f"Add {Path(path).stem}"
    ben.exchange()
    with ben.index() as index:
        assert [hit.path for hit in index.search("deploys tuesdays").results] == [path]
        index.update(path, content="Deploys are on Fridays", source="far")
    with anna.index() as index:
        index.update(path, content="Deploys are on Mondays", source="far")
    assert anna.exchange().pushed == 1
    assert ben.exchange()[:4] == (0, 0, 1, ())
    assert "Mondays" in ben.files()[path]
    with ben.index() as index:
        [item] = index.review(reason=["unreviewed"]).results
        assert "Fridays" in item.memories[0].text
        assert index.status().problems == ()
    assert not [name for name in place.files() if "inbox" in name]
    with ben.index() as index:
        index.delete(path, source="far")
    ben.exchange()
    anna.exchange()
    assert list(anna.files()) == list(place.files()) == ["a.md"]


def test_unreachable_and_emptied_remotes_keep_their_documents(place: Place, tmp_path: Path) -> None:
    place.put(a="# A\n\napples")
    machine = Machine(tmp_path / "anna", place)
    machine.exchange()
    if place.secret:
        settings = machine.home.config_file.read_text("utf-8")
        if not place.url.startswith("s3"):  # moto accepts every key
            machine.home.config_file.write_text(settings.replace(SECRET, "mistaken"), "utf-8")
            [problem] = machine.exchange().problems
            assert "mistaken" not in f"{problem}"
        port = place.url.partition("127.0.0.1:")[2].partition("/")[0].partition("&")[0]
        machine.home.config_file.write_text(settings.replace(f":{port}", ":9"), "utf-8")
        [problem] = machine.exchange().problems
        assert problem.code == "remote"
        machine.home.config_file.write_text(settings, "utf-8")
        machine.far.with_name("record.json").unlink()  # a lost record is no harm
        assert machine.exchange()[:4] == (0, 0, 0, ())
    place.put(a=None)
    [problem] = machine.exchange().problems
    assert "is empty now; its 1 files stay here" in problem.message
    assert list(machine.files()) == ["a.md"]
    with machine.index() as index:
        assert [one.code for one in index.status().problems] == ["remote"]
        assert index.search("apples").results


@pytest.mark.parametrize("place", ["git+http", "git+ssh", "webdav", "s3"], indirect=True)
def test_outage_in_a_transfer_loses_nothing(place: Place, tmp_path: Path) -> None:
    place.change({f"{number}.md": random.Random(number).randbytes(2000).hex() for number in range(8)})
    [port] = re.findall(r"127\.0\.0\.1:(\d+)", place.url)
    line, whole = Line(int(port)), [0, 0]
    with tcp(line) as relay:
        place.url = place.url.replace(f":{port}", f":{relay}")
        for part in (0, 0.4, 0.9):  # of the bytes of the first machine, which meets no outage
            machine = Machine(tmp_path / f"{part}", place)
            for turn in (0, 1):  # fetch, then send
                with machine.index() as index:
                    for number in range(3 * turn):
                        index.add(f"Fact {number} of {part}", title=f"{number} {part}", source="far")
                there, here = place.files(), machine.files()
                line.left = most = int(part * whole[turn]) or 1 << 30
                assert [one.code for one in machine.exchange().problems[:1]] == (["remote"] if part else [])
                assert there.items() <= place.files().items()
                assert here.items() <= machine.files().items() <= (there | here).items()
                assert machine.files() or isinstance(place, Repository)  # git fetches all or nothing
                whole[turn], line.left = whole[turn] or most - line.left, 1 << 30
                assert machine.exchange().problems == ()
                assert machine.files() == place.files() == there | here


def test_gist_is_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    (place := Place()).url = "gist:0123abcdef"
    [problem] = Machine(tmp_path, place).exchange().problems
    assert problem.hint.endswith(" https://gist.github.com/0123abcdef.git")


def test_first_memory_of_a_new_repository_is_found_again(tmp_path: Path) -> None:
    bare = tmp_path / "new.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "trunk", str(bare)], check=True)
    (place := Place()).url = f"git+file://{bare}"
    machine = Machine(tmp_path / "anna", place)
    assert machine.exchange() == (0, 0, 0, ())
    with machine.index() as index:
        index.add("A fact", source="far")
    assert machine.exchange()[1:] == (1, 0, ())
    assert machine.exchange() == (0, 0, 0, ())  # it is on `main`, and HEAD still names `trunk`


def test_git_runs_no_programs_of_the_repository(tmp_path: Path) -> None:
    place = Repository(tmp_path / "there")
    (place.folder / "link.md").symlink_to("/etc/passwd")
    place.change({"a.md": "# A", ".gitattributes": "*.md filter=evil\n"})
    for hook in ("pre-receive", "post-update", "update"):
        (place.bare / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (place.bare / "hooks" / hook).chmod(0o755)
    machine = Machine(tmp_path / "anna", place)
    machine.exchange()
    with machine.index() as index:
        index.add("A fact", source="far")
    (machine.far.with_name("git") / "index.lock").touch()  # of a killed process
    assert machine.exchange().pushed == 1
    assert not (tmp_path / "ran").exists()
    assert "a.md" in machine.files()
    assert "link.md" not in machine.files()


@pytest.mark.parametrize(("text", "settings"), [("AKIA" + "Z7Q4N2X5K8M3W6T9", ""), ("plain", "local_only = true")])
def test_private_text_and_credentials_stay_here(text: str, settings: str, tmp_path: Path) -> None:
    place = Repository(tmp_path / "there")
    place.put(a="# A")
    machine = Machine(tmp_path / "anna", place, settings)
    machine.exchange()
    with machine.index() as index:
        index.add(text, source="far", force=True)
    assert machine.exchange().pushed == 0
    assert machine.state()["pending"] == 1
    with machine.index() as index:
        assert index.privacy().results == ()
    assert list(place.files()) == ["a.md"]


def test_other_server_is_searched_live(tmp_path: Path) -> None:
    far = World(tmp_path / "far")
    far.write("far.md", "# Far\n\nThe pears are ripe in autumn")
    far.write("both.md", "# Both\n\nquinces everywhere")
    far.daemon()
    token, served = far.token("ann"), far.serve()
    near = World(
        tmp_path / "near",
        f'[sources.colleague]\nremote = "http://127.0.0.1:{served.port}"\npassword_command = "printf %s {token}"\n'
        "[sessions.opencode]\nlocal_only = true\n",
    )
    near.write("near.md", "# Near\n\nThe pears are ripe in autumn and in winter")
    near.write("copy.md", "# Copy\n\nquinces everywhere")
    try:
        with VaultIndex.open(near.home) as index:
            index.sync()
            here = str(tmp_path)
            found = index.search("pears in autumn", directory=here).results
            assert {(hit.source, hit.path) for hit in found} == {("colleague", "far.md"), ("vault", "near.md")}
            assert [hit.path for hit in index.search("pears in autumn", directory=here, limit=1, offset=1).results] == [
                found[1].path
            ]
            [hit] = index.search("quinces", directory=here).results
            assert (hit.path, hit.also) == ("copy.md", ("colleague:both.md",))
            assert [hit.source for hit in index.search("pears", source="vault", directory=here).results] == ["vault"]
            private = index.search("pears")  # without a folder, which may be private
            assert "not sent: it is private" in private.degraded[-1]
            [sent] = index.privacy().results
            assert (sent.endpoint.partition(" ")[0], sent.path, sent.texts) == ("server", "(queries)", 3)
            served.process.kill()
            served.process.wait()
            alone = index.search("pears", directory=here)
            assert [hit.path for hit in alone.results] == ["near.md"]
            assert alone.degraded[-1].startswith("colleague: the server does not answer")
    finally:
        far.close()


def test_daemon_sends_memories_and_fetches_changes(tmp_path: Path) -> None:
    place = Repository(tmp_path / "there")
    place.put(a="# A\n\napples")
    remote = f'[sources.far]\nremote = "{place.url}"\nevery = 0.001\n'
    anna, ben = (World(tmp_path / name, remote) for name in ("anna", "ben"))
    try:
        for one in (anna, ben):
            one.first = "import vault_index.daemon.run as run; run._POLL_SECONDS = 0.2"
            one.daemon()
        until(lambda: anna.found("apples"))
        until(lambda: ben.found("apples"))
        anna.ask("add", text="Deploys are on Tuesdays", source="far")
        until(lambda: ben.found("deploys"))
        [row] = [one for one in ben.ask("status")["sources"] if one["name"] == "far"]
        assert (row["remote"], "unsent" in row) == (place.url, False)
    finally:
        anna.close()
        ben.close()
