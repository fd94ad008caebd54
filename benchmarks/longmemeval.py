"""Measure recall on LongMemEval (Wu et al. 2025, arXiv 2410.10813).

    python benchmarks/longmemeval.py longmemeval_s.json --home DIR [--sample N]
                                     [--mode hybrid] [--model NAME]

A search should find the sessions that hold the answer. The data is the user's copy
(`longmemeval_s.json`, or its cleaned edition) and not part of this project. Every question has its
own history, so the notes of the vault, one per session, are replaced for each. Vectors of equal
texts are computed once. Answers are stored in DIR: an interrupted run continues there.

Strict recall (`all@k`): every session of the evidence is among the first k; `any@k`: one of them
is. As in the paper, questions without an answer (ids ending in `_abs`) count in neither.

The format is the published one; this runner has not been tested on the data itself.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.judged import ALL, JudgedSet, open_index
from benchmarks.record import code_digest
from vault_index import VaultIndex
from vault_index.query.search import Mode

DEPTHS = (5, 10)
_ABSTAINS = "_abs"


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its sessions."""

    id: str
    text: str
    kind: str
    sessions: Mapping[str, str]
    """Notes by the ids of their sessions."""
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the ids of the sessions that were found for it, best first."""

    id: str
    kind: str
    evidence: tuple[str, ...]
    found: tuple[str, ...]
    confidence: str


@dataclass(frozen=True, slots=True)
class Recall:
    """Recall over some questions."""

    queries: int
    all_at: Mapping[int, float]
    any_at: Mapping[int, float]


def read_questions(file: Path) -> list[Question]:
    """Raises KeyError for a file of another shape."""
    return [_question(record) for record in json.loads(file.read_text(encoding="utf-8"))]


def _question(record: Mapping[str, Any]) -> Question:
    parts = (record[f"haystack_{name}"] for name in ("session_ids", "dates", "sessions"))
    return Question(
        id=record["question_id"],
        text=record["question"],
        kind=record["question_type"],
        sessions={id_: _note(date, turns) for id_, date, turns in zip(*parts, strict=True)},
        evidence=frozenset(record["answer_session_ids"]),
    )


def _note(date: str, turns: Iterable[Mapping[str, str]]) -> str:
    return (
        "\n\n".join(
            [f"# Session of {date}", *(f"{turn['role']}: {turn['content']}" for turn in turns)]
        )
        + "\n"
    )


def ask(index: VaultIndex, docs: Path, question: Question, mode: Mode) -> Asked:
    """Replace the notes of the vault by the history of the question, and search it."""
    names = {id_: f"{number:04}.md" for number, id_ in enumerate(question.sessions)}
    for old in docs.glob("*.md"):
        if old.name not in names.values():
            old.unlink()
    for id_, name in names.items():
        (docs / name).write_text(question.sessions[id_], encoding="utf-8", errors="replace")
    index.sync()
    result = index.search(question.text, mode=mode, limit=max(DEPTHS), per_document=1)
    ids = {name: id_ for id_, name in names.items()}
    found = tuple(ids[hit.path] for hit in result.results)
    return Asked(
        question.id, question.kind, tuple(sorted(question.evidence)), found, result.confidence
    )


def recall(asked: Sequence[Asked]) -> dict[str, Recall]:
    """Of all questions with an answer, and of each type."""
    answered = [one for one in asked if not one.id.endswith(_ABSTAINS)]
    kinds = sorted({one.kind for one in answered})
    groups = {ALL: answered} | {
        kind: [one for one in answered if one.kind == kind] for kind in kinds
    }
    return {
        name: Recall(
            len(group),
            {k: _share(set(one.evidence) <= set(one.found[:k]) for one in group) for k in DEPTHS},
            {
                k: _share(not set(one.evidence).isdisjoint(one.found[:k]) for one in group)
                for k in DEPTHS
            },
        )
        for name, group in groups.items()
    }


def _share(outcomes: Iterable[bool]) -> float:
    counted = list(outcomes)
    return sum(counted) / max(len(counted), 1)


def run(
    file: Path, home: Path, *, mode: Mode = "hybrid", model: str = "", sample: int = 0
) -> list[Asked]:
    """Ask what was not asked yet by the same code, and keep each answer in `home`."""
    questions = read_questions(file)
    questions = questions[:: max(len(questions) // sample, 1)] if sample else questions
    docs, kept = (
        home / "docs",
        home / f"asked-{mode}{f'-{model}' if model else ''}-{code_digest()[:16]}.jsonl",
    )
    docs.mkdir(parents=True, exist_ok=True)
    known = {one.id: one for one in _read(kept)}
    with (
        open_index(JudgedSet(home, docs, (), {}, {}), home / "index", model) as index,
        kept.open("a") as lines,
    ):
        for number, question in enumerate(questions, start=1):
            if question.id not in known:
                known[question.id] = one = ask(index, docs, question, mode)
                lines.write(
                    json.dumps([one.id, one.kind, one.evidence, one.found, one.confidence]) + "\n"
                )
                lines.flush()
            print(f"\r{number} of {len(questions)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return [known[question.id] for question in questions]


def _read(file: Path) -> list[Asked]:
    if not file.exists():
        return []
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return [
        Asked(id_, kind, tuple(evidence), tuple(found), level)
        for id_, kind, evidence, found, level in rows
    ]


def print_recall(asked: Sequence[Asked]) -> None:
    """Print recall by type of question."""
    heads = [f"{name}@{k}" for k in DEPTHS for name in ("all", "any")]
    print(f"{'':28}{'questions':>10}" + "".join(f"{head:>10}" for head in heads))
    for name, one in recall(asked).items():
        cells = [figure for k in DEPTHS for figure in (one.all_at[k], one.any_at[k])]
        print(f"{name:28}{one.queries:>10}" + "".join(f"{cell:>10.3f}" for cell in cells))
    unanswered = [one for one in asked if one.id.endswith(_ABSTAINS)]
    none = sum(one.confidence == "none" for one in unanswered)
    print(f"{len(unanswered)} questions without an answer: {none} with confidence none")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="longmemeval_s.json")
    parser.add_argument("--home", type=Path, help="keep the index and the answers here")
    parser.add_argument("--mode", choices=("hybrid", "text", "vector"), default="hybrid")
    parser.add_argument("--model", default="", help="a local model (default: the shipped one)")
    parser.add_argument(
        "--sample", type=int, default=0, help="about so many questions (default: all)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = (options.home or Path(temporary)).resolve()
        print_recall(
            run(options.file, home, mode=options.mode, model=options.model, sample=options.sample)
        )


if __name__ == "__main__":
    main()
