"""Measure every judged set of a folder and write the table in benchmarks/README.md.

The table shows all channels and the baseline. The floor: no answer is worse than the best of its
own channels and of plain BM25 over whole documents.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.baseline import PlainIndex, is_unspaced
from benchmarks.judged import (
    ALL,
    JudgedSet,
    Judgements,
    Measures,
    Rankings,
    Results,
    ask_all,
    ask_timed,
    document_rankings,
    is_graded,
    measure,
    measure_classes,
    open_index,
    passage_rankings,
    read_set,
    sampled,
    sync,
)
from benchmarks.machine import describe
from vault_index import VaultIndex
from vault_index.config.schema import EmbeddingConfig
from vault_index.embeddings import open_embedder
from vault_index.errors import VaultIndexError
from vault_index.query.search import Mode

Record = Mapping[str, Any]

CHANNELS: tuple[Mode, ...] = ("text", "vector", "hybrid")
PLAIN = ("BM25", "2-grams")
MODELS = ("", "multilingual-e5-small")
"""The local models, the shipped one first; those that are not installed are skipped."""
SHIPPED = "all-MiniLM-L6-v2"
FLOOR = 0.005
"""What a figure may be under the best of the others: less is noise."""

_ROOT = Path(__file__).resolve().parent.parent
_PAGE = _ROOT / "benchmarks" / "README.md"
_BEGIN, _END = "<!-- record: benchmarks/recall.py --record-all -->", "<!-- end of the record -->"
_MEASURES = {"nDCG@10": "ndcg_10", "MRR@10": "mrr_10", "hit@10": "hit_10"}


def home_name(folder: Path, model: str) -> str:
    """Each model has an index of its own."""
    return f"{folder.name}@{model}" if model else folder.name


def all_rankings(
    judged: JudgedSet, runs: Mapping[str, Results], *, plain: bool
) -> dict[str, tuple[Judgements, dict[str, Rankings]]]:
    """Return the judgements and the rankings of each run, for documents and for judged passages."""
    documents = {run: document_rankings(results) for run, results in runs.items()}
    passages = {run: passage_rankings(results, judged.passages) for run, results in runs.items()}
    found = {
        "documents": (
            judged.documents,
            (_plain(judged, by_line=False) if plain else {}) | documents,
        )
    }
    if judged.passages:
        found["passages"] = (
            judged.passages,
            (_plain(judged, by_line=True) if plain else {}) | passages,
        )
    return found


def _plain(judged: JudgedSet, *, by_line: bool) -> dict[str, Rankings]:
    whole, grams = PLAIN
    rankings = PlainIndex(judged, grams=False, by_line=by_line).ask_all(judged.queries)
    if not any(is_unspaced(query.text) for query in judged.queries):
        return {whole: rankings, grams: rankings}
    return {
        whole: rankings,
        grams: PlainIndex(judged, grams=True, by_line=by_line).ask_all(judged.queries),
    }


# --- measuring ------------------------------------------------------------------------------------


def record_all(root: Path, home: Path, models: Sequence[str], sample: int) -> None:
    """Measure what is not measured yet, and write the table of it."""
    folders = [path.parent for path in sorted(root.glob("*/qrels.tsv"))]
    models = [model for model in models if is_installed(model)]
    code, records = code_digest(), []
    for folder in folders:
        for model in models:
            file = home / f"{home_name(folder, model)}.json"
            known = _measured(file, code, sample)
            record = known or _record(folder, home, model, sample) | {
                "code": code,
                "sample": sample,
            }
            file.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
            records.append(record)
            done = f"{len(records)} of {len(folders) * len(models)}"
            print(
                f"{done}: {folder.name}, "
                f"{model or SHIPPED}{', as measured before' if known else ''}",
                flush=True,
            )
            print("\n".join(main_table([record])), flush=True)
    write_page(_PAGE, records, sample)


def is_installed(model: str) -> bool:
    """Return whether a model is installed."""
    try:
        embedder = open_embedder(EmbeddingConfig(provider="local", model=model))
        if embedder is not None:
            embedder.embed_query("a word")
            embedder.close()
    except VaultIndexError as error:
        print(f"{model or SHIPPED} is left out: {error.message}", file=sys.stderr)
        return False
    return True


def code_digest() -> str:
    """Of all that a figure depends on beside the set."""
    digest = hashlib.sha256()
    for folder in ("vault_index", "benchmarks"):
        for path in sorted((_ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _measured(file: Path, code: str, sample: int) -> Record | None:
    try:
        record: Record = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if (record["code"], record["sample"]) == (code, sample) else None


def _record(folder: Path, home: Path, model: str, sample: int) -> dict[str, Any]:
    judged = read_set(folder)
    judged = replace(judged, queries=sampled(judged.queries, sample))
    name = home_name(folder, model)
    home.mkdir(parents=True, exist_ok=True)
    with open_index(judged, home / name, model) as index:
        sync(index, name)
        runs, milliseconds = {}, {}
        for channel in CHANNELS:
            runs[str(channel)], milliseconds[channel] = ask_timed(index, judged.queries, channel)
            print(
                f"{name}: {channel} {milliseconds[channel]:.1f} ms a query",
                file=sys.stderr,
                flush=True,
            )
        typos = dict(_typos(index, judged, sample))
    return {
        "set": folder.name,
        "model": model or SHIPPED,
        "documents": sum(1 for _ in judged.docs.rglob("*.md")),
        "milliseconds": milliseconds,
        "typos": typos,
        "rows": rows_of(judged, runs),
    }


def rows_of(judged: JudgedSet, runs: Mapping[str, Results]) -> list[dict[str, Any]]:
    """A row for what is judged, the measure and the class, with a figure a column."""
    rows = []
    for what, (judgements, rankings) in all_rankings(judged, runs, plain=True).items():
        measured = {
            run: measure_classes(judged.queries, judgements, ranked)
            for run, ranked in rankings.items()
        }
        for measure_name in _measures(judged, judgements):
            for kind, first in measured["hybrid"].items():
                figures = {
                    run: _figure(classes[kind], measure_name) for run, classes in measured.items()
                }
                row = {
                    "what": what,
                    "measure": measure_name,
                    "class": kind,
                    "queries": first.queries,
                }
                rows.append({**row, "figures": figures})
    return rows


def _measures(judged: JudgedSet, judgements: Judgements) -> list[str]:
    more = [("MRR@10", is_graded(judgements)), ("hit@10", bool(judged.passages))]
    return ["nDCG@10", *(name for name, wanted in more if wanted)]


def _figure(measures: Measures, name: str) -> float:
    figure: float = getattr(measures, _MEASURES[name])
    return round(figure, 4)


def _typos(
    index: VaultIndex, judged: JudgedSet, sample: int
) -> Iterable[tuple[str, dict[str, list[float]]]]:
    """The same queries as they were meant and with typing errors, by file and by what is judged."""
    for file in sorted(judged.folder.glob("queries.typo*.jsonl")):
        queries = [query for query in read_set(judged.folder, file.name).queries if query.orig]
        slips = sampled(queries, sample)
        clean = ask_all(index, [replace(query, text=query.orig) for query in slips])
        wrong = ask_all(index, slips)
        both = all_rankings(judged, {"clean": clean, "wrong": wrong}, plain=False)
        yield (
            file.name.split(".")[1],
            {
                what: [
                    round(measure(judgements, rankings[run]).ndcg_10, 4)
                    for run in ("clean", "wrong")
                ]
                for what, (judgements, rankings) in both.items()
            },
        )


# --- the table ------------------------------------------------------------------------------------


def over_floor(figures: Mapping[str, float]) -> float:
    """By how much the hybrid answer is over the best of the others."""
    return round(
        figures["hybrid"] - max(figure for run, figure in figures.items() if run != "hybrid"), 4
    )


def main_table(records: Sequence[Record]) -> list[str]:
    """A line for each set, measure and model."""
    head = (
        "set",
        "judged",
        "measure",
        "model",
        "queries",
        *PLAIN,
        *CHANNELS,
        "floor",
        "typo1",
        "typo2",
        "ms",
    )
    lines = []
    for record in records:
        for row in (row for row in record["rows"] if row["class"] == ALL):
            first = row["measure"] == "nDCG@10"
            typos = [
                _typo(record["typos"].get(name, {}).get(row["what"])) if first else ""
                for name in head[-3:-1]
            ]
            spent = "/".join(f"{record['milliseconds'][channel]:.0f}" for channel in CHANNELS)
            named = (
                record["set"],
                row["what"],
                row["measure"],
                record["model"],
                f"{row['queries']:,}",
            )
            ms = spent if first and row["what"] == "documents" else ""
            lines.append((*named, *_cells(row["figures"]), *typos, ms))
    return _table(head, lines, left=4)


def class_table(records: Sequence[Record]) -> list[str]:
    """Return a table with a line per class of queries; of graded sets, by what was asked for."""
    head = ("set", "class", "measure", "model", "queries", *PLAIN, *CHANNELS, "floor")
    lines = []
    for record in records:
        graded = any(row["measure"] == "MRR@10" for row in record["rows"])
        for row in record["rows"]:
            if row["class"] != ALL and row["measure"] == ("MRR@10" if graded else "nDCG@10"):
                name = record["set"] + (", passages" if row["what"] == "passages" else "")
                named = (name, row["class"], row["measure"], record["model"], f"{row['queries']:,}")
                lines.append((*named, *_cells(row["figures"])))
    return _table(head, lines, left=4) if lines else []


def _cells(figures: Mapping[str, float]) -> list[str]:
    over = over_floor(figures)
    shown = f"{over:+.3f}".replace("0.", ".").replace("-", "−") if abs(over) >= 0.0005 else "0"
    return [
        *(_number(figures[run]) for run in (*PLAIN, *CHANNELS)),
        f"**{shown}**" if over < -FLOOR else shown,
    ]


def _number(figure: float) -> str:
    return f"{figure:.3f}".removeprefix("0")


def _typo(pair: Sequence[float] | None) -> str:
    return f"{_number(pair[0])} to {_number(pair[1])}" if pair else ""


def _table(head: Sequence[str], lines: Iterable[Sequence[str]], left: int) -> list[str]:
    rule = f"|{'---|' * left}{'---:|' * (len(head) - left)}"
    rows = [
        "|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in (head, *lines)
    ]
    return [rows[0], rule, *rows[1:]]


def write_page(page: Path, records: Sequence[Record], sample: int) -> None:
    """Put the tables between the marks of the page. Raises ValueError for a page without them."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{page} has no marks {_BEGIN} and {_END}")
    classes = class_table(records)
    lines = [
        f"Measured on {date.today()}, commit {_commit()}, {describe()}"
        f"{f'; about {sample} queries of each set' if sample else ''}.",
        "",
        *main_table(records),
        *(["", "By class of queries:", "", *classes] if classes else []),
    ]
    page.write_text("\n".join([before + _BEGIN, "", *lines, "", _END + after]), encoding="utf-8")


def _commit() -> str:
    """The one that was measured, with `-dirty` where files differ from it."""
    asked = ["git", "-C", str(_ROOT), "describe", "--always", "--abbrev=7", "--dirty"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
