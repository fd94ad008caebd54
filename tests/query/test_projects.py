"""A project is a name, or the working folder of a session."""

from pathlib import Path

import pytest

from vault_index.markdown.normalize import project_form
from vault_index.query.projects import project_of


def test_project_of_a_name_has_a_tag_and_no_folder() -> None:
    project = project_of("My API")
    assert (project.names, project.tags, project.folders) == (("My API",), ("project/my-api",), ())


def test_project_of_every_spelling_has_the_same_form() -> None:
    spellings = (
        "My-App",
        " my app",
        "my_app",
        "[[My-App]]",
        "[[notes/My-App|The app]]",
        "#project/my-app",
        "MY\u2011APP",
    )
    assert {project_form(one) for one in spellings} == {"my-app"}
    assert project_form("/srv/My App") == "/srv/my-app"


def test_project_of_a_folder_is_its_git_worktree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = project_of(str(tmp_path / "api"))
    assert project.names == ("api", str(tmp_path / "api"))
    assert project.folders == (str(tmp_path / "api"),)
    assert project.tags == ("project/api",)
    (tmp_path / "api" / ".git").mkdir(parents=True)
    assert project_of(f"{tmp_path}/api/src/deep/").names[0] == "api"
    monkeypatch.chdir(tmp_path)
    assert project_of(".").folders[0] == str(tmp_path)


def test_project_of_a_linked_worktree_is_the_main_one(tmp_path: Path) -> None:
    main, linked, false = tmp_path / "shop", tmp_path / "shop-fix", tmp_path / "other"
    record = main / ".git/worktrees/shop-fix"
    for folder in (record, linked / "src", false):
        folder.mkdir(parents=True)
    (record / "gitdir").write_text(f"{linked}/.git\n")
    for tree in (linked, false):
        (tree / ".git").write_text(f"gitdir: {record}\n")
    assert project_of(f"{linked}/src") == project_of(str(main))
    assert project_of(str(main)).folders == (str(main), str(linked))
    assert project_of(str(false)).names[0] == "other"


def test_project_of_clones_has_the_name_of_their_origin(tmp_path: Path) -> None:
    urls = {
        "api": "https://u:secret@GitHub.com:443/acme/backend.git",
        "copy": "../api",
        "dot/.bare": "git@github.com:acme/backend",
        "other": "git@github.com:acme/other.git",
    }
    for name, url in urls.items():
        git = tmp_path / name / ("" if name.endswith(".bare") else ".git")
        git.mkdir(parents=True)
        (git / "HEAD").touch()
        (git / "config").write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\n\tfetch = x\n\turl = {url}\n')
    (tmp_path / "dot/main").mkdir()
    record = tmp_path / "dot/.bare/worktrees/main"
    record.mkdir(parents=True)
    (record / "gitdir").write_text("../../../main/.git\n")
    (record / "commondir").write_text("../..\n")
    (tmp_path / "dot/main/.git").write_text("gitdir: ../.bare/worktrees/main\n")
    visited = [str(tmp_path / one) for one in ("api/src", "copy", "dot/main", "other", "gone")]
    for clone, name in (("api", "api"), ("copy", "copy"), ("dot/main", "dot")):
        project = project_of(str(tmp_path / clone), visited)
        assert project.names[:2] == ("backend", name)
        assert set(project.tags) == {f"project/{one}" for one in ("backend", "api", "copy", "dot")}
        expected = {str(tmp_path / one) for one in ("api", "copy", "dot")}
        assert expected <= set(project.folders)
        assert str(tmp_path / "other") not in project.folders


def test_project_of_a_folder_ignores_a_home_kept_in_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".git").mkdir()
    assert project_of("~/src/api").names == ("api", str(tmp_path / "src/api"), "~/src/api")
