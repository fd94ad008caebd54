"""The options of a question as the query module takes them: what was given, else what the configuration says."""

from vault_index.api.arguments import AskOptions, at_least, between, one_of
from vault_index.config.schema import SearchConfig
from vault_index.models import Filters
from vault_index.query.filters import parse_day
from vault_index.query.search import SearchOptions


def search_options(asked: AskOptions, settings: SearchConfig, filters: Filters) -> SearchOptions:
    """Raises UsageError for what is no such option, or out of range."""
    day, fuzzy = asked.get("as_of"), asked.get("fuzzy")
    return SearchOptions(
        limit=settings.limit,
        mode=one_of("mode", asked.get("mode"), "hybrid", ("hybrid", "text", "vector")),
        match=one_of("match", asked.get("match"), settings.match, ("any", "all")),
        per_document=at_least(1, "per_document", asked.get("per_document"), settings.per_document),
        filters=filters,
        fuzzy=settings.fuzzy if fuzzy is None else fuzzy,
        threshold=between(0.5, 1.0, "threshold", asked.get("threshold"), settings.threshold),
        include_expired=asked.get("include_expired", False),
        include_superseded=asked.get("include_superseded", False),
        as_of=parse_day(day) if day else None,
    )
