"""Streams, exit codes and errors of whole commands."""

import json
import os
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

import vault_index.cli
from tests.cli.process import Out, vx
from tests.output import answers
from vault_index import errors
from vault_index.cli import main
from vault_index.results.texts import DocumentText

CALLS = tomllib.loads(Path(__file__).with_name("calls.toml").read_text("utf-8"))["calls"]


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], list[tuple[str, dict[str, Any]]]]:
    """Make every call return or raise one thing; return the list of calls."""

    def set_up(answer: Any) -> list[tuple[str, dict[str, Any]]]:
        calls: list[tuple[str, dict[str, Any]]] = []

        def call(options: Any, method: str, params: dict[str, Any], **more: Any) -> Any:
            calls.append((method, params))
            if isinstance(answer, BaseException):
                raise answer
            return answer

        # Import all modules before the first patch: a later import would keep the patched function.
        names = [found.name for found in iter_modules(vault_index.cli.__path__)]
        for module in [import_module(f"vault_index.cli.{name}") for name in names]:
            for name in {"call", "call_here"} & vars(module).keys():
                monkeypatch.setattr(module, name, call)
        return calls

    return set_up


def test_main_options_match_the_parameters_of_the_api(
    answering: Callable[[Any], list[tuple[str, dict[str, Any]]]], capsys: Out
) -> None:
    empty = {"results": [], "total": 0}
    calls = answering(empty)
    there = [["sync", "a/../b.md"], "sync", {"paths": [f"{os.getcwd()}/b.md"]}]
    for argv, method, params in [*CALLS, there]:
        assert main([*argv, "--json"]) == 0, argv
        # Queries carry the current folder; its privacy is tested elsewhere.
        here = {"directory": os.getcwd()} if method == "search" else {}
        assert calls.pop() == (method, {**params, **here})
        assert json.loads(capsys.readouterr().out) == empty


def test_get_reports_failed_items_in_every_format(answering: Any, capsys: Out) -> None:
    failed = {"position": "nope", "error": "not found: 'nope'", "hint": "look for it"}
    text = DocumentText("5f0c3f0e", "note", "vault", "a.md", "A", (1, 1), 3, "Alpha.", None)
    answering({**answers.texts(text), "failed": [failed]})
    for form in ("toon", "json", "jsonl", "markdown", "human"):
        assert main(["get", "a.md", "nope", "--format", form]) == 1
        told = capsys.readouterr().out
        assert "Alpha." in told
        assert "not found: 'nope'" in told
        assert "look for it" in told


def test_search_with_only_exclusions_prints_a_hint(answering: Any, capsys: Out) -> None:
    calls = answering(answers.search())
    assert main(["search", "-docker", "--toon"]) == 0
    assert calls[0][1]["query"] == "-docker"
    assert "add a word to find" in capsys.readouterr().err
    assert main(["search", "compose", "-docker", "--toon"]) == 0
    assert main(["search", "-docker", "--toon", "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_main_prints_toon_to_a_pipe_and_plain_text_for_get(answering: Any, capsys: Out) -> None:
    answering(answers.search(answers.hit()))
    assert main(["search", "wal"]) == 0
    assert capsys.readouterr().out.startswith("results[1]{id,score,path,lines,title,text,tokens}:")
    answering(answers.texts(answers.text()))
    assert main(["get", "5f0c"]) == 0
    assert capsys.readouterr().out.startswith("<!-- 5f0c3f0e 30-code/wal.md:10-42 (300 tokens); data,")
    answering(answers.search())
    assert main(["search", "nothing", "--human"]) == 0
    assert "Nothing found" in capsys.readouterr().out


def test_main_maps_every_error_to_its_exit_code(answering: Any, capsys: Out) -> None:
    for kind, code in {
        errors.VaultIndexError: 1, errors.UsageError: 2, errors.ConfigError: 2, errors.NotFoundError: 3,
        errors.NotSetUpError: 4, errors.BusyError: 5, errors.EmbedderRefused: 6,
    }.items():  # fmt: skip
        answering(error := kind("m", "h"))
        assert main(["search", "x"]) == code
        assert capsys.readouterr() == ("", "vault-index: error: m\n  hint: h\n")
        assert main(["--json", "search", "x"]) == code
        out, err = capsys.readouterr()
        assert (out, json.loads(err)) == ("", {"error": {"code": error.code, "message": "m", "hint": "h"}})


def test_main_prints_usage_errors_as_json(capsys: Out) -> None:
    for argv in (
        ["serach", "x", "--json"], ["search", "--format", "json"], ["--format=json", "search", "x", "--nope"],
    ):  # fmt: skip
        assert main(argv) == 2
        out, err = capsys.readouterr()
        error = json.loads(err)["error"]
        assert (out, error["code"], bool(error["hint"])) == ("", "usage", True)


def test_main_escapes_control_characters_in_errors(answering: Any, capsys: Out) -> None:
    answering(errors.NotFoundError("no \x1b[31m.md", "see \x9b1m"))
    main(["get", "x"])
    assert capsys.readouterr().err == "vault-index: error: no ␛[31m.md\n  hint: see \ufffd1m\n"


def test_main_prints_an_unknown_exception_in_one_line(answering: Any, capsys: Out) -> None:
    answering(ZeroDivisionError("oops"))
    assert main(["search", "x"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("vault-index: error: ZeroDivisionError: oops\n  hint: ")
    assert "--verbose" in err
    assert "Traceback" not in err
    assert main(["search", "x", "--verbose"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_main_exits_130_on_interrupt_without_a_traceback(answering: Any, capsys: Out) -> None:
    answering(KeyboardInterrupt())
    assert main(["sync"]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert "nothing is lost" in err
    assert "Traceback" not in err


def test_sync_reports_an_embedder_failure_and_exits_6(answering: Any, capsys: Out) -> None:
    problem = {"code": "embedder", "message": "401: wrong key", "hint": "set OPENAI_API_KEY"}
    answering({"scanned": 3, "problems": [problem]})
    assert main(["sync", "--json"]) == 6
    out, err = capsys.readouterr()
    assert json.loads(out)["scanned"] == 3
    assert json.loads(err) == {"error": problem}


def test_main_prints_version_and_help_to_stdout(capsys: Out) -> None:
    assert main(["--version"]) == 0
    version = capsys.readouterr().out
    assert version.startswith("vault-index 1.")
    assert all(f"\n{part} " in version for part in ("Python", "SQLite", "sqlite-vec", "model"))
    assert main(["search", "-h"]) == 0
    assert "usage: vault-index search [OPTION…] [QUERY" in capsys.readouterr().out
    assert main(["config", "--help"]) == 0
    assert "config delete" in capsys.readouterr().out
    assert main([]) == 4
    out, err = capsys.readouterr()
    assert (out, "vault-index init" in err) == ("", True)


def test_main_ignores_a_closed_output_pipe() -> None:
    code = (
        "import os, sys\n"
        "os.close(0); read, write = os.pipe(); os.dup2(write, 1); os.close(write); os.close(read)\n"
        "from vault_index.cli import main\n"
        "sys.exit(main(['--help']))\n"
    )
    ended = vx(code=code)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_main_reports_os_errors_without_calling_them_defects(home: Path, vault: Path, capsys: Out) -> None:
    assert main(["init", str(vault), "--no-sync"]) == 0
    (home / "write.lock").mkdir()
    assert main(["sync"]) == 1
    said = capsys.readouterr().err
    assert f"{home / 'write.lock'}: Is a directory" in said
    assert "permissions" in said
    assert "defect" not in said
