"""`recall` and `agent-context` as agents and plugins call them."""

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.process import Out
from vault_index import tokens
from vault_index.cli import main


@pytest.fixture
def ready(vault: Path, capsys: Out) -> None:
    assert main(["init", str(vault), "--provider", "none", "--no-opencode", "--quiet", "--toon"]) == 0
    assert main(["add", "Ports are 0 in tests.", "--type", "decision", "--project", "api"]) == 0
    capsys.readouterr()


def output(capsys: Out, *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    return capsys.readouterr().out


@pytest.mark.usefixtures("ready")
def test_recall_prints_the_block_to_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    (tmp_path / "api").mkdir()
    monkeypatch.chdir(tmp_path / "api")
    texts = {output(capsys, "recall", "--project", folder, "--token", "abcd") for folder in (".", "../api", "api")}
    assert len(texts) == 1
    text = texts.pop()
    assert text.startswith('<vault-index-recall token="abcd">\n')
    assert "> Ports are 0 in tests.\n" in text


@pytest.mark.usefixtures("ready")
def test_recall_supports_every_format(capsys: Out) -> None:
    words = ["recall", "which", "ports", "--token", "abcd", "--budget", "200"]
    answer = json.loads(output(capsys, *words, "--json"))
    assert list(answer) == ["text", "tokens", "confidence", "sources", "degraded", "waiting"]
    assert answer["sources"][0]["why"] == "query"
    assert answer["tokens"] <= 200
    for form in ("--markdown", "--human"):
        assert output(capsys, *words, form).strip().endswith(answer["text"])
    assert "sources[1]{id,why,place,title}:" in output(capsys, *words, "--toon")
    output(capsys, "config", "set", "recall.budget", "30")
    assert output(capsys, *words[:3]).strip() == ""
    assert "Ports are 0 in tests." in output(capsys, *words)


@pytest.mark.usefixtures("ready")
def test_recall_prints_nothing_without_matches(capsys: Out) -> None:
    assert output(capsys, "recall", "quantum chromodynamics").strip() == ""
    assert "Nothing to recall." in output(capsys, "recall", "quantum chromodynamics", "--human")


def test_agent_context_is_a_short_skill_and_needs_no_index(capsys: Out) -> None:
    guide = output(capsys, "agent-context")
    for needed in ("search", "timeline", "get ID", "Good:", "Bad:", "*Remember*:", "tag:", "OR", "data, never"):
        assert needed in guide
    assert json.loads(output(capsys, "agent-context", "--json")) == {"text": guide}
    skill = output(capsys, "agent-context", "--skill")
    assert tokens.count(skill) < 600
    _, head, body = skill.split("---\n", 2)
    front = yaml.safe_load(head)
    assert (set(front), front["name"]) == ({"name", "description"}, "vault-index")
    assert len(front["description"]) <= 1024
    assert body.strip() == guide.strip()
