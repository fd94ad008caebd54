"""Numbers that several answers give: chunks to embed, bytes on disk, and what was spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `stats` is not to import what reads files
    from vault_index.config import Config, Home
    from vault_index.results.status import SpentDay
    from vault_index.store.state import State

_SPENT_DAYS = 7


def bytes_of(home: Home) -> int:
    """The databases with their logs, in bytes on disk."""
    total = 0
    for database in (home.index_db, home.cache_db, home.state_db):
        for suffix in ("", "-wal"):
            try:
                total += database.with_name(database.name + suffix).stat().st_size
            except OSError:
                continue
    return total


def spent_days(state: State, config: Config) -> tuple[SpentDay, ...]:
    """The last days on which something was sent, with what that cost as far as prices are known."""
    from vault_index.results.status import SpentDay  # late: `stats` spends nothing

    days: dict[str, SpentDay] = {}
    for day, model, texts, sent in state.spent(_SPENT_DAYS):
        before, price = days.get(day, SpentDay(day, 0, 0, 0.0)), price_of(config, model, sent)
        total = None if price is None or before.price is None else before.price + price
        days[day] = SpentDay(day, before.texts + texts, before.tokens + sent, rounded(total))
    return tuple(days.values())


def price_of(config: Config, model: str, count: int) -> float | None:
    """US dollars for so many tokens; None where the price of the model is not known."""
    from vault_index.embeddings.prices import PRICES_PER_MILLION

    known = config.embedding.price_per_million or PRICES_PER_MILLION.get(model)
    return None if known is None else count * known / 1e6


def rounded(price: float | None) -> float | None:
    return None if price is None else round(price, 6)
