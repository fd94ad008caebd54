"""Lay out state and changes of the index, and any answer without its own view."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vault_index.output.text import counted, duration, flat, joined, kept, moment, size
from vault_index.output.view import (
    GAP,
    Blocks,
    Column,
    Pairs,
    Record,
    Table,
    is_records,
    line,
    shown_if,
)

_DOING = {"text": "indexing", "embed": "embedding"}
_SHOWN = 20
"""Maximum number of listed files or notes."""
_HARD_HINT = (
    "To make a note easier to find, add an alias with specific words (aliases: […] in its "
    "frontmatter), or a unique title."
)


# --- State ----------------------------------------------------------------------------------------


def _status(status: Record, width: int) -> Blocks:
    if "results" in status:
        return _privacy(status)
    daemon, index, embedder, watch = (
        status[key] for key in ("daemon", "index", "embedder", "watch")
    )
    since = f" since {moment(daemon['since'])}" if daemon["since"] else ""
    known, contents = index["documents"] is not None, "cannot be read, see below"
    if known:
        contents = f"{counted(index['documents'], 'document')}, {counted(index['chunks'], 'chunk')}"
        contents += f", {index['vectors']:,} vectors{_number(index['pending'], ', {:,} pending')}"
    days = status.get("spent") or ()
    pairs = [
        (
            "daemon",
            f"running{since} (pid {daemon['pid']})"
            if daemon["running"]
            else "not running (start: vault-index watch)",
        ),
        ("doing", _work(daemon.get("work"))),
        ("watch", joined(
            watch["backend"],
            watch["last_event"] and f"last change {moment(watch['last_event'])}",
            watch["last_reconcile"] and f"last comparison {moment(watch['last_reconcile'])}",
            _number(watch["missed"], "{:,} missed"),
        )),
        ("index", contents),
        ("size", size(index["bytes"])),
        ("embedder", joined(
            embedder["provider"], embedder["model"],
            _number(embedder["dimensions"], "{} dimensions"),
            "" if embedder["ready"] else "not ready",
        )),
        ("", embedder.get("advice", "")),
        *((head, joined(day["day"], counted(day["tokens"], "token"),
                        _dollars(day["price"])))
          for head, day in zip(["sent", *[""] * len(days)], days, strict=False)),
    ]  # fmt: skip
    none = line(("No sources yet; add one: vault-index source add ~/Vault", "dim"))
    sources = _sources(status["sources"], known=known) if status["sources"] else none
    waiting = counted(index.get("waiting", 0), "memory waits", "memories wait")
    review = shown_if(
        index.get("waiting"), GAP, line((f"{waiting} for review: vault-index review", "yellow"))
    )
    head = line((f"vault-index {status['version']}", "bold"))
    return [head, GAP, Pairs(pairs), GAP, sources, *review, *_problems(status)]


def _sources(sources: Sequence[Record], *, known: bool) -> Table:
    empty = {
        key
        for key in ("since", "kept", "failed", "unsent")
        if not any(source.get(key) for source in sources)
    }
    if "since" not in empty:  # of sessions: no room for paths, which `source list` prints
        empty.add("path")
    shown = (
        Column("name", "text", "source", "bold"), Column("path", "text", "path", "cyan", 1),
        Column("documents", "count", "documents#"), Column("chunks", "count", "chunks#"),
        Column("since", head="since"),
        Column("kept", head="kept"),
        Column("coverage", "text", "up to date#"), Column("failed", "count", "failed#", "yellow"),
        Column("unsent", "count", "unsent#", "yellow"),
    )  # fmt: skip
    wanted = [one for one in shown if one.key not in empty][: None if known else 2]
    return Table(
        wanted,
        [
            {"since": None, "unsent": 0, **one, "coverage": _coverage(one), "kept": kept(one)}
            for one in sources
        ],
    )


def _source_list(answer: Record, width: int) -> Blocks:
    rows = [
        {
            "pending": None,
            "synced": None,
            **row,
            "path": row.get("remote") or row["path"],
            "bytes": size(row["bytes"]) if "bytes" in row else "",
            **{key: flat(row[key]) for key in ("include", "exclude", "local_only")},
        }
        for row in answer["results"]
    ]
    columns = (
        Column("name", "text", "source", "bold"), Column("path", "text", "path", "cyan", 1),
        Column("include", head="include"), Column("exclude", head="exclude"),
        Column("local_only", head="local only"), Column("pending", "count", "unsent#", "yellow"),
        Column("bytes", "text", "size#"), Column("synced", "minute", "synced", "dim"),
    )  # fmt: skip
    problems = [
        {"message": row["problem"], "hint": row["hint"]}
        for row in answer["results"]
        if row.get("problem")
    ]
    table = Table([one for one in columns if any(row[one.key] for row in rows)], rows)
    return [table, *_problems({"problems": problems})]


def _coverage(source: Record) -> str:
    found, current = source.get("found"), source.get("current", 0)
    if found is None:
        return "missing" if source["documents"] else "none yet"
    return "all" if found == current == source["documents"] else f"{current:,} of {found:,}"


def _work(work: Record | None) -> str:
    if work is None:
        return ""
    progress = f"{work['done']:,} of {work['total']:,}" if work["total"] else f"{work['done']:,}"
    rate = f"{work['rate']:,.0f}/s" if work["rate"] >= 10 else f"{work['rate']:.1f}/s"
    seconds = work["seconds_left"]
    left = ""
    if seconds is not None:
        left = f"{duration(seconds)} left" if seconds >= 60 else f"{seconds} s left"
    return joined(f"{_DOING.get(work['stage'], work['stage'])} {progress}", rate, left)


def _privacy(ledger: Record) -> Blocks:
    if not ledger["results"]:
        return [line(("Nothing has left this machine.", "bold green"))]
    shown = (
        Column("day", "text", "day", "dim"), Column("endpoint", "text", "to", "", 2),
        Column("what", "text", "what", "cyan", 3), Column("texts", "count", "texts#"),
        Column("tokens", "count", "tokens#"),
    )  # fmt: skip
    rows = [
        {**sent, "what": f"{sent['source']}: {sent['path']}" if sent["source"] else sent["path"]}
        for sent in ledger["results"]
    ]
    total = line((f"{len(rows):,} of {counted(ledger['total'], 'entry', 'entries')}", "dim"))
    private = ledger.get("private") or ()
    names = [
        line(
            (f"{one['source']}: {one['path']}", "cyan"),
            f" · {one['reason']} · {', '.join(one['endpoints'])}",
        )
        for one in private
    ]
    head, hint = (
        line(("Sent earlier, now private", "bold")),
        line((ledger.get("hint", ""), "dim")),
    )
    return [Table(shown, rows), GAP, total, *shown_if(private, GAP, head, *names, hint)]


def _doctor(report: Record, width: int) -> Blocks:
    problems, fixed = report["problems"], report.get("fixed") or ()
    found = f"{counted(len(problems), 'problem')}" if problems else "No problems"
    hint = line(
        ("To check how well search finds notes by name: vault-index doctor --recall", "dim")
    )
    return [
        *(line(("Repaired: ", "green"), problem["message"]) for problem in fixed),
        line((f"{found} {'left' if fixed else 'found'}.", "bold")),
        *_problems(report),
        *shown_if(report.get("advice"), GAP, line(report.get("advice", ""))),
        GAP,
        *([hint] if report["recall"] is None else _recall(report["recall"])),
    ]


def _recall(recall: Record) -> Blocks:
    if not recall["queries"]:
        return [line(("No notes are indexed; index them: vault-index sync", "dim"))]
    hard = recall["hard"]
    found = any_report({**recall, "hard": hard[:_SHOWN]})
    return [
        line(("Search for notes by their names", "bold")),
        *found,
        *shown_if(hard, *_rest(hard), line((_HARD_HINT, "dim"))),
    ]


def _settings(answer: Record, width: int) -> Blocks:
    """Lay out settings with their values as `config set` takes them."""
    return [_any_table([{**row, "value": flat(row["value"])} for row in answer["results"]])]


# --- Changes --------------------------------------------------------------------------------------


def _sync(report: Record, width: int) -> Blocks:
    failed, pending = report["failed"], report["pending"]
    up_to_date = "Text is up to date" if pending else "Up to date"
    done = ("Done", "bold") if failed else (up_to_date, "bold green")
    changes = [
        f"{report[key]:,} {key}" for key in ("added", "changed", "moved", "removed") if report[key]
    ]
    summary = f"{counted(report['scanned'], 'file')}, {', '.join(changes) or 'nothing changed'}."
    vectors = [
        f"{report[key]:,} {words}"
        for key, words in (
            ("embedded", "embedded"),
            ("cached", "from the cache"),
            ("pending", "pending"),
        )
        if report[key]
    ]
    chunks = counted(report["chunks"], "chunk") + (
        f"; vectors: {', '.join(vectors)}" if vectors else ""
    )
    unread = line((f"{counted(len(failed), 'file')} could not be read:", "yellow"))
    named = [
        line((failure["path"], "cyan"), f"  {failure['error']}", indent=2)
        for failure in failed[:_SHOWN]
    ]
    return [
        line(done, f" in {duration(report['seconds'])}: {summary}"),
        *shown_if(report["chunks"] or vectors, line((chunks, "dim"))),
        *shown_if(failed, GAP, unread, *named, *_rest(failed, indent=2)),
        *_problems(report),
        *shown_if(
            pending and not report.get("problems"),
            line(
                (
                    "Compute pending vectors: vault-index embed; see failures: vault-index status",
                    "dim",
                )
            ),
        ),
    ]


def _init(answer: Record, width: int) -> Blocks:
    report, vault, sessions = (
        answer["sync"],
        answer.get("vault"),
        " · {path} · {sessions:,} sessions since {since}",
    )
    known = "Added" if answer.get("added") else "Already indexed:"
    steps = {
        **({} if report else {"vault-index sync": "index it"}),
        'vault-index search "…"': "search it",
        **({} if answer["daemon"] else {"vault-index service install": "keep it up to date"}),
        "vault-index status": "show its state",
    }
    wide = max(map(len, steps)) + 2
    return [
        *shown_if(answer["source"], line(f"{known} ", (answer["source"], "bold"), f" · {vault}")),
        *(
            line((one["title"], "bold"), sessions.format(**one))
            for one in answer.get("sessions", ())
            if one["since"]
        ),
        *(_sync(report, width) if report else ()),
        GAP,
        line(("Next steps", "bold")),
        *(
            line((command.ljust(wide), "cyan"), (purpose, "dim"), indent=2)
            for command, purpose in steps.items()
        ),
    ]


def _embed(answer: Record, width: int) -> Blocks:
    """Lay out the plan, the status or the report of `embed`, which differ in their keys."""
    if "price" in answer:
        return _embed_plan(answer)
    if "building" in answer:
        return any_report(answer)
    done = f"{answer['embedded']:,} embedded, {answer['cached']:,} from the cache"
    head = ("Vectors", "bold") if answer["pending"] else ("Vectors are complete", "bold green")
    pending = _number(answer["pending"], ", {:,} pending")
    reasons = line(("See pending vectors and reasons: vault-index status", "dim"))
    return [
        line(head, f" in {duration(answer['seconds'])}: {done}{pending}."),
        *_problems(answer),
        *shown_if(pending and not answer.get("problems"), reasons),
    ]


def _embed_plan(plan: Record) -> Blocks:
    next_step = "Start with: vault-index embed"
    if plan["provider"] == "none":
        next_step = "Configure an embedder: vault-index config set embedding.provider local"
    elif plan["chunks"] == plan["cached"]:
        next_step = "Nothing to do."
    return [line(("Cost of embedding", "bold")), *any_report(plan), line((next_step, "dim"))]


def _dollars(price: float | None) -> str:
    if not price:
        return "unknown without embedding.price_per_million" if price is None else "free"
    return f"about ${price:.2f}" if price >= 0.01 else "less than $0.01"


# --- Parts ----------------------------------------------------------------------------------------


def any_report(record: Record, width: int = 0) -> Blocks:
    """Lay out any answer: its scalars as pairs, its records as tables, its problems with hints."""
    tables = {key: rows for key, rows in record.items() if key != "problems" and is_records(rows)}
    hidden = {"problems", *tables, *(("total",) if "results" in record else ())}
    pairs = [(_label(key), _value(key, record[key])) for key in record if key not in hidden]
    blocks = [
        block
        for key, rows in tables.items()
        for block in (
            *shown_if(key != "results", GAP, line((_label(key), "bold"))),
            _any_table(rows),
        )
    ]
    return [*shown_if(any(text for _, text in pairs), Pairs(pairs)), *blocks, *_problems(record)]


def _any_table(rows: Sequence[Record]) -> Table:
    keys = dict.fromkeys(key for row in rows for key in row)
    return Table(
        [Column(key, head=_label(key)) for key in keys],
        [{key: _value(key, row[key]) if key in row else "" for key in keys} for row in rows],
    )


def _value(key: str, value: Any) -> str:
    if key in _FORMATS:
        return _FORMATS[key](value)
    return f"{value:,}" if type(value) is int else flat(value)


def _problems(record: Record) -> Blocks:
    """Return each problem with its hint."""
    return [
        block
        for problem in record.get("problems") or ()
        for block in (
            GAP,
            line(("! ", "yellow"), problem["message"]),
            *shown_if(problem["hint"], line((problem["hint"], "dim"), indent=2)),
        )
    ]


def _rest(records: Sequence[object], indent: int = 0) -> Blocks:
    more = f"… and {len(records) - _SHOWN:,} more; --json lists all"
    return shown_if(len(records) > _SHOWN, line((more, "dim"), indent=indent))


def _number(count: int, words: str = "{:,}") -> str:
    """Format a count, or return an empty string for 0."""
    return words.format(count) if count else ""


def _label(key: str) -> str:
    return "in the first five" if key == "recall_5" else key.replace("_", " ")


_FORMATS: Mapping[str, Callable[[Any], str]] = {
    "bytes": size, "indexed": moment, "price": _dollars, "recall_5": "{:.0%}".format,
    "seconds": duration,
}  # fmt: skip
"""How a report without its own view shows values, by key; others by their type."""
REPORTS: Mapping[str, Callable[[Record, int], Blocks]] = {
    "status": _status, "source_list": _source_list, "doctor": _doctor, "config_list": _settings,
    "init": _init, "sync": _sync, "rebuild": _sync, "embed": _embed,
}  # fmt: skip
