"""Whether an answer is one: `high`, `low` or `none`, from what the channels say of its best passages."""

from collections.abc import Sequence
from typing import Literal

from vault_index.query.needles import Needle
from vault_index.query.rank import Ranked

Confidence = Literal["high", "low", "none"]

_FIRST = 3  # hits that are looked at


def confidence(needles: Sequence[Needle], hits: Sequence[Ranked], *, vector: bool) -> Confidence:
    if not hits:
        return "none"
    cosine = max((hit.evidence.cosine or 0.0 for hit in hits[:_FIRST]), default=0.0)
    coverage = max((hit.coverage for hit in hits[:_FIRST]), default=0.0)
    if cosine >= 0.5 or coverage >= 0.8:
        return "high"
    return "low" if cosine >= 0.3 or coverage >= 0.3 else "none"
