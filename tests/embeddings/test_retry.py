import pytest

from vault_index.embeddings.faults import Patience, Unavailable, retry_after
from vault_index.errors import EmbedderError

NOW = 1_795_255_200.0  # Sat, 21 Nov 2026 10:00:00 GMT


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None), ({"retry-after": "2"}, 2.0), ({"retry-after": "Sat, 21 Nov 2026 10:00:30 GMT"}, 30.0),
        ({"retry-after": "Sat, 21 Nov 2026 09:00:00 GMT"}, 0.0), ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None), ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5), ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
    ],
)  # fmt: skip
def test_retry_after_parses_seconds_dates_and_milliseconds(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


class Failing:
    """Fails with each of the errors in turn, then answers."""

    def __init__(self, *errors: EmbedderError) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"


def down(seconds: float | None = None, most: int | None = None) -> Unavailable:
    return Unavailable("down", "wait", retry_after=seconds, most_retries=most)


def test_patience_grows_and_caps_the_waits() -> None:
    waits: list[float] = []
    assert Patience(12, 20.0).keep_trying(Failing(*[down() for _ in range(12)]), waits.append) == "answer"
    assert len(waits) == 12
    for number, wait in enumerate(waits):
        full = min(0.5 * 2**number, 20.0)
        assert full / 2 <= wait <= full


def test_patience_obeys_the_wait_of_the_server_within_the_cap() -> None:
    waits: list[float] = []
    Patience(3, 120.0).keep_trying(Failing(down(2.0), down(0.0), down(9999.0)), waits.append)
    assert 2.0 <= waits[0] <= 2.25
    assert 0.0 <= waits[1] <= 0.25
    assert waits[2] == 120.0


@pytest.mark.parametrize(
    ("patience", "failing", "calls"),
    [
        (Patience(0, 1.0), Failing(down()), 1),
        (Patience(2, 1.0), Failing(down(), down(), down(), down()), 3),
        (Patience(6, 1.0), Failing(down(most=1), down(most=1), down(most=1)), 2),
        (Patience(6, 1.0, or_give_up=True), Failing(down(0.5), down(20.0), down()), 2),
    ],
)
def test_patience_ends_with_the_last_error(patience: Patience, failing: Failing, calls: int) -> None:
    with pytest.raises(Unavailable, match="down"):
        patience.keep_trying(failing, lambda seconds: None)
    assert failing.calls == calls
