"""Declare every filter of a query and every field of a memory once.

The command-line options, the keys of the query language, the arguments of the MCP tools and of the
OpenCode plugin, the SQL conditions and the generated reference come from these declarations. Every
command imports this module, so it has no dataclass and only one named tuple, which take long to
create.
"""

from typing import Literal, NamedTuple

Kind = Literal["note", "memory", "session"]
State = Literal["expired", "superseded", "outdated", "archived", "unreviewed"]
Reason = Literal["unreviewed", "contradiction", "duplicate", "expired", "outdated", "unopened"]
Action = Literal["accept", "edit", "merge", "supersede", "archive", "delete", "keep"]
Sort = Literal["created", "time", "updated", "access", "expires", "title", "content"]

KINDS = ("note", "memory", "session")
TYPES = ("note", "decision", "bugfix", "feature", "pattern", "discovery", "learning", "warning")
CONFIDENCES = ("high", "medium", "low")
STATES = ("expired", "superseded", "outdated", "archived", "unreviewed")
REASONS: tuple[Reason, ...] = (
    "unreviewed", "contradiction", "duplicate", "expired", "outdated", "unopened",
)  # fmt: skip
ACTIONS = ("accept", "edit", "merge", "supersede", "archive", "delete", "keep")
SORTS = ("created", "time", "updated", "access", "expires", "title", "content")

NO_TEXT = frozenset(
    (
        "title",
        "id",
        "created",
        "updated",
        "expires",
        "valid_until",
        "supersedes",
        "superseded_by",
        "archived",
    )
)
"""Frontmatter keys that are not part of the text: the title is its heading, and ids and times have
their own filters.
"""
NOT_SEARCHED = NO_TEXT | {
    "type", "tags", "tag", "aliases", "alias", "date", "modified", "confidence", "cssclasses",
    "cssclass", "publish", "permalink",
}  # fmt: skip
"""Keys that are not searched, because they have their own filter or are useless as terms."""
NO_PASSAGE = frozenset({"project", "entered_by", "session", "imported_id"})
"""Keys that are searched but make no passage, because every hit shows them or only programs read
them.
"""
OF_MEMORIES = frozenset(
    {
        "facts", "subtitle", "digest", "concepts", "concept", "files_read", "files_modified",
        "files", "bead_id", "bead",
    }
)  # fmt: skip
"""Keys that memories of every vault have, so they reveal nothing about one vault."""
KNOWN_KEYS = NOT_SEARCHED | NO_PASSAGE | OF_MEMORIES
"""Keys that this program knows, in lower case (`Tags` counts as `tags`)."""

LIST = "A,B"
"""The placeholder of an option with several values, separated by commas."""


class Declared:
    """The common attributes of filters and fields.

    `name` is the keyword of the methods, the option (`--any-tag`) and the argument of the tools;
    `other_names` are aliases. `help` is the help of the option, `brief` the shorter text for
    agents. `flags` are the option strings if they differ from the name. `choices` are the allowed
    values.
    """

    def __init__(
        self,
        name: str,
        help: str,
        brief: str,
        metavar: str,
        choices: tuple[str, ...],
        flags: tuple[str, ...],
        other_names: tuple[str, ...],
    ) -> None:
        self.name, self.help, self.brief, self.metavar = name, help, brief, metavar
        self.choices, self.flags, self.other_names = choices, flags, other_names


class Filter(Declared):
    """One filter; `field` is the attribute of `Filters` that holds its values.

    - `kind` is the syntax of a value: a `property` is `key` or `key:value`, a `moment` is a date or
      a time.
    - `key` is the key in the query language if it differs from the name, or empty if the query
      language has another syntax.
    - `metavar` is the placeholder in the help. With `LIST`, the option takes comma-separated
      values and may be repeated.
    - `many` is whether agents may give several values.
    - `splits` is whether one string may hold several values, because no value has a comma. Paths
      and names may have one.
    - `column` is the column of the table `document` with the value, filled from the keys in
      `frontmatter` (of memories only, if `of_memories`). Without a column, the value is in one of
      these keys.

    Commands have no option for a filter without `help`.
    """

    def __init__(
        self,
        name: str,
        field: str,
        help: str = "",
        brief: str = "",
        metavar: str = "NAME",
        kind: Literal["text", "lower", "tag", "choice", "moment", "property"] = "text",
        *,
        choices: tuple[str, ...] = (),
        flags: tuple[str, ...] = (),
        other_names: tuple[str, ...] = (),
        key: str | None = None,
        many: bool = True,
        splits: bool = False,
        column: str = "",
        frontmatter: tuple[str, ...] = (),
        of_memories: bool = False,
    ) -> None:
        super().__init__(name, help, brief, metavar, choices, flags, other_names)
        self.field, self.kind, self.many, self.splits = field, kind, many, splits
        self.column, self.frontmatter, self.of_memories = column, frontmatter, of_memories
        self.key = name if key is None else key


class Field(Declared):
    """One field of a memory; `name` is also its key in the frontmatter.

    The kind `names` means texts separated by commas, `lines` means texts that may contain commas.
    """

    def __init__(
        self,
        name: str,
        help: str,
        brief: str = "",
        metavar: str = "TEXT",
        kind: Literal["text", "date", "choice", "tags", "names", "lines"] = "text",
        *,
        choices: tuple[str, ...] = (),
        flags: tuple[str, ...] = (),
        other_names: tuple[str, ...] = (),
    ) -> None:
        super().__init__(name, help, brief, metavar, choices, flags, other_names)
        self.kind = kind


_BY = ("--by", "--entered-by")

_FILTERS = (
    Filter(
        "tags", "tags", "documents with all of these tags", "all of these", LIST, "tag", key="tag",
        splits=True,
    ),
    Filter(
        "any_tag", "any_tags", "documents with any of these tags", "any of these", LIST, "tag",
        key="", splits=True,
    ),
    Filter(
        "type", "types", "memories of this type, such as decision or bugfix",
        "types of memory_store", "TYPE", "lower", splits=True, column="type",
    ),
    Filter(
        "kind", "kinds", "documents of this kind: note, memory or session", kind="choice",
        choices=KINDS, many=False, splits=True, column="kind",
    ),
    Filter(
        "project", "projects", "documents of this project", many=False, column="project",
        frontmatter=("project",),
    ),
    Filter(
        "entered_by", "authors", "documents by this person or agent", "a person or agent",
        many=False, flags=_BY, other_names=("by",), column="entered_by",
        frontmatter=("entered_by",),
    ),
    Filter(
        "path", "paths", "documents whose path matches, such as 'projects/**'",
        "glob, such as projects/**", "GLOB",
    ),
    Filter("title", "titles", "documents with this text or glob ('Log*') as title", metavar="TEXT"),
    Filter("file", "files", "documents with this text or glob in the file name"),
    Filter(
        "concept", "concepts", "memories about this concept", frontmatter=("concepts", "concept"),
    ),
    Filter(
        "bead", "beads", "memories of this bead (issue)", metavar="ID",
        frontmatter=("bead_id", "bead"),
        other_names=("bead_id",),
    ),
    Filter(
        "confidence", "confidences", "memories with high, medium or low confidence", metavar=LIST,
        kind="choice", choices=CONFIDENCES, splits=True, column="confidence",
        frontmatter=("confidence",), of_memories=True,
    ),
    Filter(
        "session", "sessions", "this session (id or prefix) and documents from it",
        metavar="ID", many=False,
    ),
    Filter(
        "client", "clients", "sessions of this client, such as codex", splits=True,
        frontmatter=("client",),
    ),
    Filter("model", "models", "sessions with this text or glob ('gpt-*') as model"),
    Filter(
        "state", "states",
        "expired, superseded, outdated, archived, unreviewed",
        metavar=LIST, kind="choice", choices=STATES, key="is", splits=True,
    ),
    Filter(
        "property", "properties",
        "documents with this frontmatter key (and value)",
        metavar="KEY[:VALUE]", kind="property", key="",
    ),
    Filter(
        "after", "after", "created on this day or later",
        "created on this day (2026-11-01) or later", "DATE", "moment", many=False,
    ),
    Filter(
        "before", "before", "created before this day", metavar="DATE", kind="moment", many=False,
    ),
    Filter("source", "sources", splits=True, column="source"),
)  # fmt: skip

FILTERS = {declared.name: declared for declared in _FILTERS}
"""Every filter by name, in the order of the help."""


class Filters(NamedTuple):
    """The restrictions of a query; an empty field restricts nothing.

    Several values of one field are alternatives, except `tags`, which must all match.
    """

    tags: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """A path, a folder, or a glob in which `*` matches `/` too."""
    titles: tuple[str, ...] = ()
    """Parts of the title, or globs."""
    files: tuple[str, ...] = ()
    """Parts of the file name, or globs."""
    concepts: tuple[str, ...] = ()
    beads: tuple[str, ...] = ()
    confidences: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    """Prefixes of session ids, matched against sessions and the `session` of documents."""
    clients: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    """Parts of the model's name, or globs."""
    states: tuple[State, ...] = ()
    properties: tuple[tuple[str, str | None], ...] = ()
    """Frontmatter keys with a value, or None for any value. All keys must match; values of one key
    are alternatives.
    """
    after: float | None = None
    """Created at or after this time."""
    before: float | None = None
    """Created before this time."""
    now: float | None = None
    """The time at which `states` are evaluated; None means now."""
    without: tuple["Filters", ...] = ()
    """Exclude documents that match any of these."""


_FIELDS = (
    Field("title", "title (default: the first heading or sentence)"),
    Field("subtitle", "a line under the title"),
    Field(
        "digest", "summary shown by search (default: the first sentences)",
        "summary shown by search",
    ),
    Field(
        "type",
        "note (the default), decision, bugfix, feature, pattern, discovery, learning or warning",
        metavar="TYPE", kind="choice", choices=TYPES,
    ),
    Field("tags", "tags", metavar=LIST, kind="tags"),
    Field(
        "project", "its project (default: all projects)", "omit for all projects", "NAME"
    ),
    Field(
        "entered_by", "its author, a person or agent", "the author: your name", "NAME", flags=_BY,
        other_names=("by",),
    ),
    Field(
        "expires", "hidden from search after this day: 2027-02-01, in 3 months, Q1 2027",
        "hidden after it: 2027-02-01, in 3 months", "DATE", "date",
    ),
    Field(
        "valid_until", "marked as outdated after this day", "marked outdated after it", "DATE",
        "date",
    ),
    Field("confidence", "high, medium or low", metavar="LEVEL", kind="choice", choices=CONFIDENCES),
    Field("facts", "a fact; repeatable", "one sentence each", kind="lines", flags=(
        "--facts", "--fact",
    )),
    Field("concepts", "its concepts", metavar=LIST, kind="names"),
    Field("files_read", "files it was learned from", metavar=LIST, kind="names"),
    Field("files_modified", "changed files", metavar=LIST, kind="names", other_names=("files",)),
    Field("bead_id", "the bead (issue) it belongs to", metavar="ID", flags=(
        "--bead", "--bead-id",
    ), other_names=("bead",)),
    Field(
        "supersedes", "memories it replaces, which search then hides", "memories it replaces",
        "REF,REF", "names",
    ),
)  # fmt: skip

FIELDS = {declared.name: declared for declared in _FIELDS}
"""Every field of a memory except its text by name, in the order of the help."""
