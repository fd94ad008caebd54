"""A small sample of the attacks in benchmarks/histories.py and kills.py, the same each time."""

from typing import Any

import pytest

from benchmarks import histories, kills
from benchmarks.attack import Attack, Story
from tests.seeds import seeds
from vault_index import VaultIndex


def found(story: Story) -> str:
    """The findings with the steps that led to them, or an empty text."""
    return "\n".join([f"seed {story.seed}", *story.steps]) if story.findings else ""


@pytest.mark.parametrize("seed", seeds(20))
def test_history_ends_like_a_fresh_build(seed: int) -> None:
    story = Attack(histories.tell)(seed)
    assert found(story) == ""
    assert story.counts["fresh builds"]


@pytest.mark.skipif(not kills.can_trace(), reason="strace kills at system calls")
@pytest.mark.parametrize("seed", seeds(4))
def test_killed_command_loses_nothing(seed: int) -> None:
    story = Attack(kills.tell)(seed)
    assert found(story) == ""
    assert story.counts["killed"] + story.counts["not reached"] == 1


def test_history_check_detects_a_missed_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the fresh build looks at the files."""
    sync = VaultIndex.sync

    def idle(index: VaultIndex, *given: Any, **named: Any) -> Any:
        return sync(index, *given, **named, dry_run=index.home.data_dir.name == "home")

    monkeypatch.setattr(VaultIndex, "sync", idle)
    assert Attack(histories.tell)(1).findings
