"""What people see: aligned, within the width, harmless."""

import re
from typing import Any

from rich.cells import cell_len

from tests.output import answers
from vault_index.output import render
from vault_index.results.status import DaemonStatus, DoctorReport, HardToFind, WorkStatus

EVIL = "x \x1b[31m\x1b]8;;http://evil\x07 \x9b1m \u202egnp\u2066 \x7f y"


def shown(method: str, answer: dict[str, Any], width: int = 80, **options: bool) -> str:
    return render(method, answer, "human", width=width, **options)


def test_control_characters_of_notes_never_reach_a_terminal() -> None:
    # What rich writes itself: colours, and hyperlinks ended by ESC \.
    own = re.compile(r"\x1b(?:\[[0-9;]*m|\]8;[^;\x1b]*;[^\x1b]*\x1b\\)")
    harmful = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
    leaks = [
        (method, colored)
        for method, answer in answers.every_answer(EVIL)
        for colored in (False, True)
        if harmful.search(own.sub("" if colored else "\x1b", shown(method, answer, color=colored, terminal=colored)))
    ]
    assert leaks == []


def test_lines_fit_the_width() -> None:
    wrong = [
        (method, width, line)
        for method, answer in answers.every_answer("Quite a long title with 数据库 in it")
        for width in (40, 80, 140)
        if method != "get"  # the content is printed as it is
        for line in shown(method, answer, width).split("\n")
        if cell_len(line) > width or line != line.rstrip()
    ]
    assert wrong == []


def test_a_hit_says_where_it_is_and_what_it_says() -> None:
    lines = shown("search", answers.search(answers.hit())).split("\n")
    assert lines[0] == "0.93  Use WAL mode for the index › Consequences"
    assert lines[1].startswith("      30-code/databases/sqlite-wal-0.md:27 · 5f0c3f0e · #sqlite")
    assert "      WAL lets readers run while the daemon writes" in lines[2:4][0] + lines[3]
    assert lines[-1] == "1 hit · hybrid · 8 ms"


def test_matched_words_are_marked_where_there_is_color() -> None:
    colored = shown("search", answers.search(answers.hit()), color=True, terminal=True)
    assert re.search(r"\x1b\[1;33mreaders\x1b\[0m", colored)
    assert "\x1b" not in shown("search", answers.search(answers.hit()), color=False)
    assert "\x1b[1;33m" not in shown("search", answers.search(answers.hit(spans={})), color=True)


def test_marks_stay_in_their_place_where_white_space_is_made_one_space() -> None:
    hit = answers.hit(snippet=" a\tcell,\x07\t\t the  boiler\n on", spans={"snippet": ((17, 23),), "digest": ()})
    assert " a cell,␇ the \x1b[1;33mboiler\x1b[0m on" in shown("search", answers.search(hit), color=True)


def test_links_are_for_terminals_and_for_known_schemes() -> None:
    answer = answers.search(answers.hit())
    assert "\x1b]8;" in shown("search", answer, color=True, terminal=True)
    assert "\x1b]8;" in shown("search", answer, color=False, terminal=True)  # NO_COLOR is about colours
    assert "obsidian://" not in shown("search", answer, color=True)
    other = answers.search(answers.hit(link="javascript:alert(1)"))
    assert "javascript" not in shown("search", other, color=True, terminal=True)


def test_an_empty_answer_says_what_to_do_next() -> None:
    for method, answer, next_step in (
        ("search", answers.search(), "vault-index tags"),
        ("list", answers.documents(), "vault-index sync"),
        ("tags", answers.tags(), "frontmatter"),
        ("status", answers.status(sources=()), "vault-index source add"),
    ):
        assert next_step in shown(method, answer)
    assert shown("status", {"results": [], "total": 0}) == "Nothing has left this machine."


def test_unsure_degraded_and_corrected_answers_say_so() -> None:
    changes = {"degraded": ("no vectors",), "corrections": {"dokcer": "docker"}, "confidence": "low"}
    text = shown("search", answers.search(answers.hit(), **changes))
    assert text.startswith("Read “dokcer” as “docker”.\nDegraded: no vectors\n\n0.93")
    assert text.endswith("not certain")


def test_get_prints_the_content_as_it_is() -> None:
    content = "---\ntags: [a]\n---\n\n    indented\n\n" + "long " * 60 + "end"
    second = answers.text(title="Two", content=content, next="5f0c3f0e:43-90")
    text = shown("get", answers.texts(answers.text(title="One"), second))
    assert text.index("One") < text.index("Readers never wait.") < text.index("Two")
    assert f"\n{content}\n" in text
    assert text.endswith("vault-index get 5f0c3f0e:43-90")


def test_wide_lists_show_tags() -> None:
    answer = answers.documents(answers.record(type="decision"), total=173)
    assert "#sqlite" not in shown("list", answer, 80)
    assert "#sqlite" in shown("list", answer, 140)
    assert shown("list", answer).endswith("1 of 173 documents")


def test_status_says_how_far_long_work_is() -> None:
    daemon = DaemonStatus(True, 4711, None, WorkStatus("text", 1200, 4000, 55.2, 51))
    assert "doing     indexing 1,200 of 4,000 · 55/s · 51 s left" in shown("status", answers.status(daemon=daemon))


def test_status_names_problems_with_what_mends_them() -> None:
    text = shown("status", answers.status())
    assert "running since 2026-11-21 10:00 (pid 4711)" in text
    assert "1,190 vectors, 14 pending" in text
    assert "! a.md:3: broken frontmatter\n  mend the YAML" in text


def test_doctor_says_how_well_notes_are_found_and_which_are_not() -> None:
    hard = [HardToFind(f"Sync {n}", "link", f"sync/{n}.md", 7 if n else None) for n in range(25)]
    text = shown("doctor", answers.doctor(*hard))
    assert text.startswith("No problems found.\n\n")
    for line in ("all +190 +98%", "Sync 0 +sync/0.md +link +none"):
        assert re.search(f"^{line}$", text, re.MULTILINE), line
    assert "5 more; --json names all" in text
    assert "Sync 20" not in text
    assert "vault-index doctor --recall" in shown("doctor", answers.jsonable(DoctorReport(True, ())))


def test_the_plan_says_what_it_costs() -> None:
    text = shown("embed", answers.plan())
    assert "1,184 chunks, 340,112 tokens" in text
    assert "less than $0.01" in text
    assert "about $12.50" in shown("embed", answers.plan(price=12.5))
    assert "price_per_million" in shown("embed", answers.plan(price=None))
    assert "No embedder" in shown("embed", answers.plan(provider="none"))
