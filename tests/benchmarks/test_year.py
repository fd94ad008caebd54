from pathlib import Path

from benchmarks.year import Year, found
from tests.api.vaults import opened


def test_year_benchmark_is_deterministic_and_keeps_used_facts(tmp_path: Path) -> None:
    years = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with opened(tmp_path / name) as index:
            year = Year(index, tmp_path / name / "vault", 100, seed=3)
            year.fill()
            asked = [fact for fact in year.facts if fact.asked]
            before = {fact.id: fact.statement for fact in asked}
            year.live(40, lambda *_: None)
            assert {fact.id: fact.statement for fact in asked} == before
            assert all(fact.statement in (year.vault / fact.path).read_text("utf-8") for fact in asked)
            assert found(index, asked).among_five > 0.5
        assert not year.failed
        years.append(year)
    one, two = ([fact.statement for fact in year.facts] for year in years)
    assert one == two
