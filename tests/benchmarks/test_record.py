"""What the record of recall is made of: the plainest search, graded measures, the table and going on after an end."""

import json
from pathlib import Path

import pytest

from benchmarks.baseline import PlainIndex
from benchmarks.judged import read_set
from benchmarks.record import record_all

PAGES = {
    "en/heat.md": "# Heat\n\nThe boiler is serviced every spring by a plumber.\n",
    "en/tax.md": "# Tax\n\nReceipts lie in the blue folder.\n\nThe boiler was paid in March.\n",
    "th/heat.md": "หม้อไอน้ำได้รับการบริการทุกฤดูใบไม้ผลิ\n",
    "zh/heat.md": "锅炉每年春天都要保养一次。\n",
}
QUERIES = [
    {"id": "en", "text": 'who "serviced" the boilers?', "lang": "en"},
    {"id": "zh", "text": "春天保养", "lang": "zh"},
    {"id": "th", "text": "ฤดูใบไม้ผลิ", "lang": "th"},
]
GRADES = ["en\tdocs/en/heat.md\t2", "en\tdocs/zh/heat.md\t1", "zh\tdocs/zh/heat.md\t2", "th\tdocs/th/heat.md\t2"]


@pytest.fixture
def judged_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sets" / "small"
    for name, text in PAGES.items():
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    slip = {**QUERIES[0], "text": "who serviced the biolers?", "orig": QUERIES[0]["text"]}
    for name, queries in (("queries.jsonl", QUERIES), ("queries.typo1.jsonl", [slip])):
        lines = "".join(json.dumps(query) + "\n" for query in queries)
        (folder / name).write_text(lines, encoding="utf-8")
    (folder / "qrels.tsv").write_text("\n".join(["query\tdoc\tgrade", *GRADES, ""]), encoding="utf-8")
    (folder / "qrels.lines.tsv").write_text("query\tline\tgrade\nen\tdocs/en/heat.md:3\t1\n", encoding="utf-8")
    return folder


def test_the_plainest_search_takes_any_word_and_pairs_of_letters_only_where_told(judged_folder: Path) -> None:
    judged = read_set(judged_folder)
    plain, grams = (PlainIndex(judged, grams=grams).ask_all(judged.queries) for grams in (False, True))
    assert plain == {"en": ["docs/en/heat.md", "docs/en/tax.md"], "zh": [], "th": plain["th"]}
    assert (grams["en"], grams["zh"], grams["th"]) == (plain["en"], ["docs/zh/heat.md"], ["docs/th/heat.md"])


def test_a_record_is_written_into_the_page_and_taken_up_where_it_ended(
    judged_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- record: benchmarks/recall.py --record-all -->\nold\n<!-- end of the record -->\nafter\n"
    )
    monkeypatch.setattr("benchmarks.record._PAGE", page)
    record_all(judged_folder.parent, tmp_path / "home", ["", "no-such-model"], 0)
    written = page.read_text(encoding="utf-8")
    assert written.startswith("before\n")
    assert written.endswith("\nafter\n")
    assert "old" not in written
    [row] = [line for line in written.splitlines() if line.startswith("| small | documents | nDCG@10 |")]
    assert row.count(" |") == 14
    assert "| small | passages | hit@10 | all-MiniLM-L6-v2 | 1 |" in written
    assert "| small | zh | MRR@10 | all-MiniLM-L6-v2 | 1 | .000 | 1.000 | 1.000 |" in written
    printed = capsys.readouterr()
    assert "no-such-model is left out" in printed.err
    assert "as measured before" not in printed.out

    record_all(judged_folder.parent, tmp_path / "home", [""], 0)
    assert "1 of 1: small, all-MiniLM-L6-v2, as measured before" in capsys.readouterr().out
    assert page.read_text(encoding="utf-8") == written
