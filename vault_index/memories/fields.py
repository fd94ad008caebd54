"""What is said of a memory beside its text, as it stands in the frontmatter."""

from dataclasses import dataclass

TYPES = ("note", "decision", "bugfix", "feature", "pattern", "discovery", "learning", "warning")
CONFIDENCES = ("high", "medium", "low")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Checked and normalised. None is "not given"; in a change, an empty string or tuple takes the key away.

    Dates are ISO 8601 (`2027-02-01`), ids whole UUIDs, tags as they are searched (no `#`, `project/x`).
    """

    type: str | None = None
    title: str | None = None
    subtitle: str | None = None
    digest: str | None = None
    tags: tuple[str, ...] | None = None
    project: str | None = None
    entered_by: str | None = None
    expires: str | None = None
    valid_until: str | None = None
    confidence: str | None = None
    supersedes: tuple[str, ...] | None = None
    facts: tuple[str, ...] | None = None
    concepts: tuple[str, ...] | None = None
    files_read: tuple[str, ...] | None = None
    files_modified: tuple[str, ...] | None = None
    bead_id: str | None = None
