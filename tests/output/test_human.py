"""Output for humans: aligned, within the width, harmless."""

import re
from typing import Any

from rich.cells import cell_len

from tests.output import answers
from vault_index.output import render
from vault_index.results.status import DaemonStatus, DoctorReport, HardToFind, WorkStatus

EVIL = "x \x1b[31m\x1b]8;;http://evil\x07 \x9b1m \u202egnp\u2066 \x7f y"


def rendered(method: str, answer: dict[str, Any], width: int = 80, **options: bool) -> str:
    return render(method, answer, "human", width=width, **options)


def test_render_human_escapes_control_characters_of_notes() -> None:
    # Sequences of rich itself: colours, and hyperlinks ended by ESC \.
    own = re.compile(r"\x1b(?:\[[0-9;]*m|\]8;[^;\x1b]*;[^\x1b]*\x1b\\)")
    harmful = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
    leaks = [
        (method, colored)
        for method, answer in answers.every_answer(EVIL)
        for colored in (False, True)
        if harmful.search(own.sub("" if colored else "\x1b", rendered(method, answer, color=colored, terminal=colored)))
    ]
    assert leaks == []


def test_render_human_lines_fit_the_width() -> None:
    wrong = [
        (method, width, line)
        for method, answer in answers.every_answer("Quite a long title with 数据库 in it")
        for width in (40, 80, 140)
        if method != "get"  # the content is printed unchanged
        for line in rendered(method, answer, width).split("\n")
        if cell_len(line) > width or line != line.rstrip()
    ]
    assert wrong == []


def test_render_human_hit_shows_place_and_text() -> None:
    lines = rendered("search", answers.search(answers.hit())).split("\n")
    assert lines[0] == "0.93  Use WAL mode for the index… · 30-code/…/sqlite-wal-0.md:27 · 5f0c3f0e"
    assert "      WAL lets readers run while the daemon writes" in lines[1]
    assert lines[-1] == "1 hit · hybrid · 8 ms"
    wide = rendered("search", answers.search(answers.hit()), 140).split("\n")[0]
    assert " › Consequences · 30-code/databases/sqlite-wal-0.md:27 · 5f0c3f0e · #sqlite" in wide


def test_render_human_shows_ten_hits_on_a_screen_of_24_lines() -> None:
    hits = [answers.hit(number, score=0.9, snippet="- one\n- two\n- three", spans={}) for number in range(10)]
    text = rendered("search", answers.search(*hits))
    assert text.count("\n") < 24
    assert text.count("      - one\n0.90") == 9
    assert "      - one\n      - two\n0.90" in rendered("search", answers.search(*hits[:7]))
    found = answers.search(*(answers.hit(n, snippet="- one\n- two", spans={"snippet": ((8, 11),)}) for n in range(8)))
    assert "      - two\n0.88" in rendered("search", found)


def test_render_human_highlights_matched_words_with_color() -> None:
    colored = rendered("search", answers.search(answers.hit()), color=True, terminal=True)
    assert re.search(r"\x1b\[1;33mreaders\x1b\[0m", colored)
    assert "\x1b" not in rendered("search", answers.search(answers.hit()), color=False)
    assert "\x1b[1;33m" not in rendered("search", answers.search(answers.hit(spans={})), color=True)


def test_render_human_links_only_on_terminals_and_known_schemes() -> None:
    answer = answers.search(answers.hit())
    assert "\x1b]8;" in rendered("search", answer, color=True, terminal=True)
    assert "\x1b]8;" in rendered("search", answer, color=False, terminal=True)  # NO_COLOR is about colours
    assert "obsidian://" not in rendered("search", answer, color=True)
    other = answers.search(answers.hit(link="javascript:alert(1)"))
    assert "javascript" not in rendered("search", other, color=True, terminal=True)


def test_render_human_empty_answer_names_the_next_step() -> None:
    for method, answer, next_step in (
        ("search", answers.search(), "vault-index tags"),
        ("list", answers.documents(), "vault-index sync"),
        ("tags", answers.tags(), "frontmatter"),
        ("status", answers.status(sources=()), "vault-index source add"),
    ):
        assert next_step in rendered(method, answer)
    assert rendered("status", {"results": [], "total": 0}) == "Nothing has left this machine."


def test_render_human_shows_low_confidence_and_corrections() -> None:
    changes = {"degraded": ("no vectors",), "corrections": {"dokcer": "docker"}, "confidence": "low"}
    text = rendered("search", answers.search(answers.hit(), **changes))
    assert text.startswith("Corrected “dokcer” to “docker”.\nDegraded: no vectors\n\n0.93")
    assert text.endswith("not certain")


def test_render_human_get_prints_the_content_unchanged() -> None:
    content = "---\ntags: [a]\n---\n\n    indented\n\n" + "long " * 60 + "end"
    second = answers.text(title="Two", content=content, next="5f0c3f0e:43-90")
    text = rendered("get", answers.texts(answers.text(title="One"), second))
    assert text.index("One") < text.index("Readers never wait.") < text.index("Two")
    assert f"\n{content}\n" in text
    assert text.endswith("vault-index get 5f0c3f0e:43-90")


def test_render_human_status_shows_progress_of_long_work() -> None:
    daemon = DaemonStatus(True, 4711, None, WorkStatus("text", 1200, 4000, 55.2, 51))
    assert "doing     indexing 1,200 of 4,000 · 55/s · 51 s left" in rendered("status", answers.status(daemon=daemon))


def test_render_human_status_names_problems_with_hints() -> None:
    text = rendered("status", answers.status())
    assert "running since 2026-11-21 10:00 (pid 4711)" in text
    assert "1,190 vectors, 14 pending" in text
    assert "! a.md:3: broken frontmatter\n  mend the YAML" in text


def test_render_human_sources_show_the_state_of_remotes() -> None:
    vault = {"name": "notes", "kind": "vault", "path": "/v", "include": [], "exclude": [], "local_only": True}
    state = {"remote": "s3://b", "pending": 2, "bytes": 211, "synced": None, "problem": "no answer", "hint": "try"}
    shown = rendered("source_list", {"results": [vault, {**vault, "name": "team", **state}], "total": 2})
    assert re.findall(r"\S+", shown.splitlines()[2]) == ["team", "s3://b", "true", "2", "211", "B"]
    assert "no answer" in shown


def test_render_human_doctor_shows_recall_and_hard_notes() -> None:
    hard = [HardToFind(f"Sync {n}", "link", f"sync/{n}.md", 7 if n else None) for n in range(25)]
    text = rendered("doctor", answers.doctor(*hard))
    assert text.startswith("No problems found.\n\n")
    for line in ("in the first five +98%", "alias +40 +92%", "Sync 0 +link +sync/0.md"):
        assert re.search(f"^{line}$", text, re.MULTILINE), line
    assert "5 more; --json lists all" in text
    assert "Sync 20" not in text
    assert "vault-index doctor --recall" in rendered("doctor", answers.jsonable(DoctorReport(True, ())))


def test_render_human_plan_shows_its_cost() -> None:
    prices = {0.0068: "less than $0.01", 12.5: "about $12.50", None: "embedding.price_per_million", 0: "free"}
    for price, shown in prices.items():
        assert shown in rendered("embed", answers.plan(price=price))
    assert "config set embedding.provider" in rendered("embed", answers.plan(provider="none"))
