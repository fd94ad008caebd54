"""What was sent to which server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SentRecord:
    """One line of the privacy ledger: what went to which server, never its text."""

    day: str
    endpoint: str
    model: str
    source: str
    path: str
    """The document, or `(queries)`."""
    texts: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Privacy:
    results: tuple[SentRecord, ...]
    total: int


@dataclass(frozen=True, slots=True)
class SpentDay:
    """What was sent to remote embedders on one day."""

    day: str
    texts: int
    tokens: int
    price: float | None
    """US dollars, estimated; null where the price of a model is not known."""
