"""Lay out answers for people, at a terminal and in markdown."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from shlex import quote

from vault_index.output.reports import REPORTS, any_report
from vault_index.output.sessions import count_of, done, held, session_rows, summary_head, work_head
from vault_index.output.text import (
    counted,
    duration,
    joined,
    lines,
    moment,
    more_of,
    passage,
    place,
    short_path,
    state,
    with_short_ids,
)
from vault_index.output.view import (
    CERTAINTY,
    GAP,
    Block,
    Blocks,
    Line,
    Pairs,
    Quote,
    Raw,
    Record,
    Table,
    around,
    columns,
    documents,
    explanation_lines,
    import_in_short,
    line,
    reading_lines,
    shown_hits,
    shown_if,
    stored,
    versions,
    with_sources,
)

_WIDE = 110
"""Width in characters from which lists have more columns."""
_FEW = 7
"""Number of hits up to which each shows two lines of text, so that 24 lines show all of them."""
_STRONG = 0.5
"""Share of the best score below which hits are marked as unlikely.

In five judged sets, each of the 1,371 confident answers had a right document above it.
"""

_UNLIKELY = line(("The following hits score less than half of the first: unlikely answers.", "dim"))
_TRY_OTHER_WORDS = line(
    (
        "Try other words, or remove a filter. See also: vault-index tags, vault-index list.",
        "dim",
    )
)


def view(method: str, result: Record, width: int) -> Blocks:
    """Return the blocks of the answer of `method`; a wide page has more columns."""
    return (_VIEWS.get(method) or REPORTS.get(method, any_report))(result, width)


# --- Search ---------------------------------------------------------------------------------------


def _search(result: Record, width: int) -> Blocks:
    shown, more = shown_hits(result)
    hits, head = (
        with_short_ids(with_sources(shown)),
        [*_remarks(result), *_small(reading_lines(result.get("reading")))],
    )
    weak = shown_if(more, line((f"{counted(more, 'weak hit')} hidden; show with --all", "dim")))
    if not hits:
        return [
            *head,
            line((f"Nothing found for “{result['query']}”.", "bold")),
            *weak,
            _TRY_OTHER_WORDS,
        ]
    unlikely = next((hit for hit in hits if hit["score"] < hits[0]["score"] * _STRONG), None)
    rows = 1 if len(hits) > _FEW else 2
    groups = ([*shown_if(hit is unlikely, _UNLIKELY), *_hit(hit, width, rows)] for hit in hits)
    summary = (
        f"{counted(len(hits), 'hit')} · {result['mode']} · {duration(result['took_ms'] / 1000)}"
    )
    certainty = CERTAINTY[result["confidence"]]
    foot = line((summary, "dim"), (f" · {certainty}" if certainty else "", "yellow"))
    return [*head, *shown_if(head, GAP), *chain(*groups), GAP, foot, *weak]


def _why(result: Record, width: int) -> Blocks:
    verdict = ("Found: ", "bold green") if result["found"] else ("Not found: ", "bold yellow")
    title, hits, reading = (
        result["title"] or "",
        filter(None, [result["hit"]]),
        _small(reading_lines(result["reading"])),
    )
    reasons = [
        [line(f"- {reason['message']}", hang=2), *_hint(reason)] for reason in result["reasons"]
    ]
    return [
        *_remarks(result),
        line(
            verdict,
            (title, "bold"),
            " · " if title else "",
            (place(result), "cyan"),
            hang=2,
        ),
        *chain(*reasons),
        *(block for hit in with_short_ids(hits) for block in (GAP, *_hit(hit, width, 2))),
        *shown_if(reading, GAP, *reading),
    ]


def _remarks(result: Record) -> Blocks:
    """Return notes about corrected words, hints, and missing parts of the answer."""
    corrected = [
        f"Corrected “{old}” to “{new}”." for old, new in result.get("corrections", {}).items()
    ]
    hints = [f"{hint[0].upper()}{hint[1:]}." for hint in result.get("hints", ())]
    return [
        line((text, "yellow"))
        for text in (
            *corrected,
            *hints,
            *(f"Degraded: {reason}" for reason in result.get("degraded", ())),
        )
    ]


def _hint(problem: Record) -> Blocks:
    return shown_if(problem["hint"], line((problem["hint"], "dim"), indent=2))


def _small(lines: list[str], indent: int = 0) -> list[Line]:
    return [line((one, "dim"), indent=indent, hang=2) for one in lines]


def _hit(hit: Record, width: int, rows: int) -> Blocks:
    """Return the heading of a hit on one line, and `rows` lines of its text."""
    under = [heading for heading in hit["headings"] if heading != hit["title"]]
    where = short_path(place({**hit, "lines": hit["focus"]}), width * 2 // 5)
    changed = "changed since indexing" if hit["changed_since_index"] else ""
    about = f" · {joined(hit['id'], state(hit), changed)}"
    room = width - len(f"0.00   · {where}{about}")
    head = passage(" › ".join([hit["title"], *under]), (), room / 4)[0].replace(" ›…", "…")
    tags = "".join(f" #{tag}" for tag in hit["tags"])
    shown = "snippet" if hit["snippet"] else "digest"
    text, spans = hit[shown] or "", hit.get("spans", {}).get(shown, ())
    return [
        line(
            (f"{hit['score']:.2f}  ", "green"),
            (head[: len(hit["title"])], "bold"),
            head[len(hit["title"]) :],
            " · ",
            (where, "cyan", hit["link"]),
            (about, "yellow" if state(hit) or changed else "dim"),
            (f" ·{tags}" if tags and len(head + tags) <= room - 2 else "", "magenta"),
            limit=1,
        ),
        *shown_if(text, Quote(text, spans, 6, rows)),
        *shown_if(
            hit["also"], line((f"also in {', '.join(hit['also'])}", "dim"), indent=6, limit=1)
        ),
        *_small(explanation_lines(hit.get("explain")), indent=6),
    ]


# --- Documents ------------------------------------------------------------------------------------


def _get(result: Record, width: int) -> Blocks:
    texts = [block for text in with_short_ids(result["results"]) for block in (GAP, *_text(text))][
        1:
    ]
    return [*texts, *shown_if(result.get("failed"), GAP, *_failed(result))]


def _text(text: Record) -> Blocks:
    about = f" · {text['id']} · {counted(text['tokens'], 'token')}"
    return [
        line((text["title"], "bold")),
        line((f"{text['path']}:{lines(text)}", "cyan"), (about, "dim")),
        Pairs(more_of(text)),
        GAP,
        Raw(text["content"].rstrip("\n")),
        *shown_if(
            text["next"],
            GAP,
            line((f"Continue with: vault-index get {quote(text['next'])}", "dim")),
        ),
    ]


def _recall(result: Record, width: int) -> Blocks:
    nothing = line(("Nothing to recall.", "bold"))
    return [*_remarks(result), Raw(result["text"]) if result["text"] else nothing]


def _list(result: Record, width: int) -> Blocks:
    if not (records := documents(with_sources(result["results"]))):
        return [
            *_remarks(result),
            line(("No more documents." if result["total"] else "No documents.", "bold")),
            line(("Remove a filter, or update the index: vault-index sync", "dim")),
        ]
    accesses = " accesses" if result.get("sort") == "access" else ""
    names = (
        f"id created type? state?{accesses} title {_path(width)}"
        f"{' digest? tags' if width >= _WIDE else ''}"
    )
    if all(record["kind"] == "session" for record in records):
        # Paths of sessions are ids and add nothing to project and title.
        names = "id updated_at project linked_title turns tokens"
    return [Table(columns(names, records), records), GAP, _count(result, "document")]


def _related(result: Record, width: int) -> Blocks:
    anchor, records = result["anchor"], documents(with_sources(result["results"]))
    if not records:
        more = "more " if result["total"] else ""
        return [
            *_remarks(result),
            line((f"No {more}documents are related to “{anchor['title']}”.", "bold")),
            line(("Remove a filter, or search instead: vault-index search", "dim")),
        ]
    for record in records:  # the cosine already shows that a linked document is near
        record["relation"] = [one for one in record["relations"] if one != "near"] or record[
            "relations"
        ]
    return [
        *_remarks(result),
        line(
            "Related to ",
            (anchor["title"], "bold"),
            (f" · {joined(anchor['path'], state(anchor))}", "dim"),
        ),
        GAP,
        Table(columns(f"id relation cosine state? title {_path(width)}", records), records),
        GAP,
        _count(result, "document"),
    ]


def _timeline(result: Record, width: int) -> Blocks:
    records = around(result)
    alone = (
        "No documents before or after it. Remove a filter, or raise --depth-before, --depth-after."
    )
    return [
        *_remarks(result),
        Table(
            columns(
                f"mark created_at id type_or_session? state? plain_title {_path(width)}", records
            ),
            records,
        ),
        *shown_if(len(records) == 1, GAP, line((alone, "dim"))),
    ]


def _sessions(result: Record, width: int) -> Blocks:
    if "since" in result:
        return _worked(result)
    if not (records := session_rows(result)):
        hint = "Remove a filter, or update the index: vault-index sync"
        return [
            line(("No more sessions." if result["total"] else "No sessions.", "bold")),
            line((hint, "dim")),
        ]
    names = (
        "id updated_at client project plain_title touched?"
        f"{' turns edited' if width >= _WIDE else ''} spent"
    )
    return [Table(columns(names, records), records), GAP, line((count_of(result), "dim"))]


def _worked(result: Record) -> Blocks:
    blocks: list[Block] = [line((summary_head(result), "bold"))]
    for work in result["results"]:
        blocks += [
            GAP,
            line((work["project"] or "no project", "bold green"), (f"  {work_head(work)}", "dim")),
        ]
        blocks += [
            line((f"{at}  " if at else "", "dim"), title, (f"  {rest}", "dim"), indent=2, hang=2)
            for at, title, rest in held(work)
        ]
        blocks += [Pairs(done(work), indent=2)]
    return blocks


def _path(width: int) -> str:
    return "wide_path" if width >= _WIDE else "path"


def _count(result: Record, noun: str) -> Block:
    return line((f"{len(result['results']):,} of {counted(result['total'], noun)}", "dim"))


def _tags(result: Record, width: int) -> Blocks:
    if not (records := result["results"]):
        hint = "Add tags in the frontmatter (tags: [a, b]) or as #tags in the text."
        return [*_remarks(result), line(("No tags.", "bold")), line((hint, "dim"))]
    most = max(record["count"] for record in records)
    widest = max(len(record["tag"]) for record in records)
    room = min(max(min(width - widest - 14, 40), 4), most)
    rows = [
        {
            **record,
            "tag": [record["tag"]],
            "bar": "▪" * max(1, round(room * record["count"] / most)),
        }
        for record in records
    ]
    return [
        Table(columns("tag count bar"), rows),
        *shown_if(result["total"] > len(records), GAP, _count(result, "tag")),
    ]


# --- Memories -------------------------------------------------------------------------------------


def _stored(answer: Record, width: int) -> Blocks:
    answer, near = stored(answer)
    other = "Already stored" if answer["duplicate_of"] else "Changed"
    done = "Stored" if answer["created"] else other
    same = (
        GAP,
        line(("Memories on the same subject:", "bold")),
        Table(columns("id alike likeness plain_title near"), near),
        line((answer["question"], "dim")),
    )
    return [
        line((f"{done} ", "bold green"), (answer["id"], "bold")),
        line((answer["path"], "cyan"), indent=2),
        *(line(("! ", "yellow"), warning, hang=2) for warning in answer["warnings"]),
        *(line((f"Degraded: {reason}", "yellow")) for reason in answer.get("degraded", ())),
        *shown_if(near, *same),
    ]


def _outcomes(
    answer: Record,
    width: int,
    nothing: str = "Nothing to do.",
    what: tuple[str, str] = ("memory", "memories"),
) -> Blocks:
    results, failed = answer["results"], answer["failed"]
    if not results and not failed:
        return [line((nothing, "bold"))]
    total = counted(len(results), *what) + (f", {len(failed)} failed" if failed else "")
    return [*_each(answer), *shown_if(len(results) > 1 or failed, GAP, line((total, "dim")))]


def _each(answer: Record) -> Blocks:
    """Return the outcome of each memory."""
    groups = [
        [
            line((f"{one['outcome']} ", "green"), (short, "dim"), (one["title"], "bold"), hang=2),
            *shown_if(details, line((details, "dim"), indent=2)),
        ]
        for one in with_short_ids(answer["results"])
        for short in [f"{one['id']} · " if one["id"] else ""]
        for details in [_details(one["details"])]
    ]
    return [*chain(*groups), *_failed(answer)]


def _failed(answer: Record) -> Blocks:
    each = (
        [
            line(("! ", "yellow"), (f"{one['position']}: ", "bold"), one["error"], hang=2),
            *_hint(one),
        ]
        for one in answer.get("failed", ())
    )
    return [*chain(*each)]


def _details(details: Record) -> str:
    """Return the details of an outcome, without empty values and without the text."""
    shown = {
        key: ", ".join(map(str, one)) if isinstance(one, list) else one
        for key, one in details.items()
    }
    return " · ".join(
        f"{key} {one}" for key, one in shown.items() if one not in (None, "") and key != "text"
    )


def _import(answer: Record, width: int) -> Blocks:
    """Return counts, and the memories that were not stored unchanged."""
    short = import_in_short(answer)
    counts = ", ".join(f"{number:,} {outcome}" for outcome, number in short["counts"].items())
    named = _each(short)
    return [
        *shown_if(named, *named, GAP),
        line((counts or "Nothing to import.", "bold")),
        *shown_if(
            answer["results"] != short["results"] or answer["failed"] != short["failed"],
            line(("--json lists all", "dim")),
        ),
    ]


def _export(report: Record, width: int) -> Blocks:
    what = f"{counted(report['memories'], 'memory', 'memories')} of {report['source']} to "
    return [line(("Exported ", "bold green"), what, (report["path"], "cyan"))]


def _history(result: Record, width: int) -> Blocks:
    rows, count = versions(result)
    head = line((result["title"], "bold"), (f" · {result['path']}", "cyan"))
    return [head, Table(columns("version seen action by near bytes"), rows), line((count, "dim"))]


def _diff(result: Record, width: int) -> Blocks:
    return [
        Raw(result["text"]) if result["text"] else line(("The versions are identical.", "bold"))
    ]


def _review(result: Record, width: int) -> Blocks:
    """Render a page of items."""
    blocks = [
        block
        for item in result["results"]
        for block in (
            line((item["reason"], "bold green"), (f" · {item['about']}", "dim")),
            *(part for one in with_short_ids(item["memories"]) for part in _in_list(one)),
            GAP,
        )
    ]
    counts = ", ".join(
        f"{number:,} {reason}" for reason, number in result["counts"].items() if number
    )
    if not blocks:
        return [line(("No more items." if result["total"] else "Nothing to review.", "bold"))]
    summary = f"{len(result['results']):,} of {counted(result['total'], 'item')} · {counts}"
    return [
        *blocks,
        line((summary, "dim")),
        line(("Decide: vault-index review ACTION REF…", "dim")),
    ]


def _in_list(memory: Record) -> Blocks:
    return [
        line((memory["title"], "bold"), indent=2, hang=2, limit=2),
        line(
            (memory["path"], "cyan", memory["link"]),
            (f" · {memory['id']} · {about(memory)}", "dim"),
            indent=4,
        ),
        *shown_if(memory["text"], Quote(memory["text"], indent=4)),
    ]


def about(memory: Record) -> str:
    """Return type, project, dates, author and tags on one line."""
    times = [moment(memory["created"])[:10], moment(memory["updated"])[:10]]
    tags = " ".join(f"#{tag}" for tag in memory["tags"])
    parts = (
        memory["type"],
        memory["project"],
        " – ".join(dict.fromkeys(times)),
        memory["entered_by"],
        tags,
    )
    return " · ".join(part for part in parts if part)


_VIEWS: Mapping[str, Callable[[Record, int], Blocks]] = {
    "search": _search, "why": _why, "get": _get, "list": _list, "tags": _tags, "recall": _recall,
    "related": _related, "sessions": _sessions, "timeline": _timeline, "add": _stored,
    "update": _stored, "import": _import, "export": _export, "review": _review,
    "decide": _outcomes, "delete": _outcomes, "archive": _outcomes, "undo": _outcomes,
    "history": _history, "diff": _diff, "revert": _stored,
    "prune": partial(_outcomes, nothing="Nothing has expired."),
    "forget": partial(_outcomes, nothing="No sessions match.", what=("session", "sessions")),
    "capture": partial(_outcomes, nothing="The text has no *Remember*: passages."),
}  # fmt: skip
