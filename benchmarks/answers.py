"""Measure the tokens of answers, and how often a hit shows the line that answers the query.

    python -m benchmarks.answers FOLDER... [--sample N] [--home DIR]

FOLDER is a judged set, as for benchmarks/recall.py. For sets with passages judged by line, this
prints the share of the judged lines that hits point at and show whole. Then it counts the tokens of
`get`.
"""

import json
import statistics
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import toon_format

from benchmarks.judged import JudgedSet, Query, home_name, open_index, read_set, sampled, sync
from benchmarks.machine import arguments
from vault_index import VaultIndex, tokens
from vault_index.api import dispatch
from vault_index.markdown.normalize import split_lines
from vault_index.output import render, render_json
from vault_index.output.text import one_line
from vault_index.output.view import shown_hits

Answer = dict[str, Any]
_KEYS = {"text": "snippet", "turn": "headings"}
"""Keys of the JSON that have another name in TOON."""


@dataclass
class Costs:
    """Tokens per hit of some answers, and the judged lines that their rows point at and show whole.

    The lists have one figure per answer.
    """

    toon: list[float] = field(default_factory=list)
    json: list[float] = field(default_factory=list)
    """Of the same hits under the same keys, as `--json` has them."""
    pointed: int = 0
    whole: int = 0

    def add(self, answer: Answer, lines: Mapping[str, str]) -> None:
        """Add an answer, with the texts of the judged lines by place."""
        text = render("search", answer, "toon")
        table = rows(text)
        hits = shown_hits(answer)[0]
        if not table:
            return
        keys = {_KEYS.get(key, key) for row in table for key in row}
        same = [{key: value for key, value in hit.items() if key in keys} for hit in hits]
        self.toon.append(tokens.count(text) / len(table))
        self.json.append(tokens.count(render_json({"results": same})) / len(table))
        for hit, row in zip(hits, table, strict=True):
            answers = [text for place, text in lines.items() if _points_at(hit, place)]
            self.pointed += bool(answers)
            self.whole += any(_says(row, text) for text in answers)


def rows(toon: str) -> list[Answer]:
    """Return the hits of a TOON answer with all their keys; equal values are in its header."""
    decoded: Answer = toon_format.decode(toon)
    common: Answer = {key: decoded[key] for key in ("type", "project", "created") if key in decoded}
    return [common | row for row in decoded["results"]]


def costs(index: VaultIndex, judged: JudgedSet, *, weak: bool) -> Costs:
    """Measure the answers to all queries, with weak hits too: ten hits for nearly every query."""
    found = Costs()
    for query in judged.queries:
        scope = {"path": query.scope} if query.scope else {}
        answer = dispatch(index, "search", {"query": query.text, "all": weak, **scope})
        found.add(answer, _judged_lines(judged, query))
    return found


def _judged_lines(judged: JudgedSet, query: Query) -> dict[str, str]:
    """The text of each judged line, by its place."""
    lines = {}
    for place in judged.passages.get(query.id, ()):
        path, _, number = place.rpartition(":")
        if number.isdigit():
            text = split_lines((judged.docs / path.removeprefix("docs/")).read_bytes().decode())[
                int(number) - 1
            ]
            lines[place] = one_line(text).lstrip("#->*+ ")
    return lines


def _points_at(hit: Mapping[str, Any], place: str) -> bool:
    path, _, number = place.removeprefix("docs/").rpartition(":")
    return bool(hit["path"] == path and hit["focus"][0] <= int(number) <= hit["focus"][1])


def _says(row: Answer, text: str) -> bool:
    """Return whether a row shows a whole line; of a canvas card, the last line of its text."""
    if text.startswith('{"id":'):
        text = json.loads(text.rstrip(","))["text"].split("\n")[-1]
    return any(text in str(value) for value in row.values())


def print_search(index: VaultIndex, judged: JudgedSet) -> None:
    """Print the tokens of search answers, and the shown judged lines."""
    for name, weak in (("search", False), ("search --all", True)):
        found = costs(index, judged, weak=weak)
        _print(f"{name}, TOON, tokens a hit", found.toon)
        _print(f"{name}, JSON under the same keys", found.json)
        saved = [1 - one / other for one, other in zip(found.toon, found.json, strict=True)]
        whole = (
            f"{found.whole / found.pointed:.1%} of {found.pointed} judged lines whole"
            if found.pointed
            else ""
        )
        print(
            f"  saved {statistics.median(saved):.0%} (median), at least {min(saved):.0%}; {whole}"
        )


def print_get(index: VaultIndex) -> None:
    """Print the tokens of `get`, with and without --full."""
    for name, full in (("get, tokens", False), ("get --full, tokens", True)):
        answers = (
            dispatch(index, "get", {"ref": one.id, "full": full})
            for one in index.list(limit=500).results
        )
        _print(name, [tokens.count(render("get", answer, "markdown")) for answer in answers])


def _print(what: str, values: Iterable[float]) -> None:
    known = sorted(values)
    last = known[int(len(known) * 0.95)]
    print(f"  {what:38}{statistics.median(known):>8.2f} median{last:>8.2f} of 95 %  ({len(known)})")


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument(
        "--sample", type=int, default=0, help="about so many queries of each set (default: all)"
    )
    parser.add_argument("--home", type=Path, help="keep the indexes here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for folder in options.folders:
            judged = read_set(folder.resolve())
            judged = replace(judged, queries=sampled(judged.queries, options.sample))
            home = (options.home or Path(temporary)).resolve()
            with open_index(judged, home / home_name(folder, "")) as index:
                sync(index, folder.name)
                print(f"{folder.name}, {len(judged.queries)} queries")
                print_search(index, judged)
                print_get(index)


if __name__ == "__main__":
    main()
