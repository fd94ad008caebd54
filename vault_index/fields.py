"""The filters of a question and the fields of a memory, each declared once.

The options of the command line, the keys of the query language, the arguments of the MCP tools and of the OpenCode
plugin, the conditions in SQL and the generated reference are made from what stands here. Every command imports it, so
that it has neither dataclasses nor more than one named tuple: they take long to make.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

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
    ("title", "id", "created", "updated", "expires", "valid_until", "supersedes", "superseded_by", "archived")
)
"""Keys of a frontmatter whose values are not part of the text: the title stands at its head, ids and times have filters
of their own."""
NOT_SEARCHED = NO_TEXT | {
    "type", "tags", "tag", "aliases", "alias", "date", "modified", "confidence", "cssclasses", "cssclass", "publish",
    "permalink",
}  # fmt: skip
"""What is known otherwise, or says nothing that anybody would search for."""
NO_PASSAGE = frozenset({"project", "entered_by", "session", "imported_id"})
"""What is shown beside every hit, and what only programs read, is searched for, but is no passage."""
OF_MEMORIES = frozenset(
    {
        "facts", "subtitle", "digest", "concepts", "concept", "files_read", "files_modified", "files", "bead_id",
        "bead",
    }
)  # fmt: skip
"""What the memories of every vault have, so that the key itself says nothing of what is there."""
KNOWN_KEYS = NOT_SEARCHED | NO_PASSAGE | OF_MEMORIES
"""Keys that mean something to this program, in lower case: `Tags` is `tags`."""

LIST = "A,B"
"""The placeholder of an option that takes several values with commas between them."""


class Declared:
    """What a filter and a field of a memory have in common.

    `name` is the keyword of the methods, the option (`--any-tag`) and the argument of the tools; `other_names` mean the
    same. `help` is the help of the option, and `brief` what agents are told, who pay for every word. `flags` are how
    the option is written, where not as the name. `choices` are the values there are.
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

    `kind` is how a value is read: a `property` is `key` or `key:value`, a `moment` a date or a time. `key` is the key
    in the query language where that is not the name, empty where it has another spelling there. `many` is whether
    agents may give several values; `splits`, whether one string may hold several, for no value holds a comma (paths and
    names may). The value stands in a `column` of the table `document`, which is filled from `frontmatter` (for memories
    only, if `of_memories`), or, without a column, in one of the keys of `frontmatter`. Without `help` it is
    no option of commands.
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
    """One field of a memory; `name` is its key in the frontmatter as well.

    Of its kinds, `names` are texts with commas between them, `lines` are texts that may hold commas.
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
        "tags", "tags", "documents that have all of these tags", "all of these", LIST, "tag", key="tag", splits=True
    ),
    Filter("any_tag", "any_tags", "documents that have one of these", "one of these", LIST, "tag", key="", splits=True),
    Filter(
        "type", "types", "memories of this type, as decision or bugfix", "types of memory_store", "TYPE", "lower",
        splits=True, column="type",
    ),
    Filter(
        "kind", "kinds", "documents of this kind", kind="choice", choices=KINDS, many=False, splits=True, column="kind"
    ),
    Filter("project", "projects", "documents of this project", many=False, column="project", frontmatter=("project",)),
    Filter(
        "entered_by", "authors", "documents entered by this person or agent", "who entered it", many=False, flags=_BY,
        other_names=("by",), column="entered_by", frontmatter=("entered_by",),
    ),
    Filter("path", "paths", "documents whose path matches, as 'projects/**'", "glob, as projects/**", "GLOB"),
    Filter("title", "titles", "documents whose title holds this, or is like 'Log*'", metavar="TEXT"),
    Filter("file", "files", "documents whose file name holds this, or is like '*.canvas'"),
    Filter("concept", "concepts", "memories about this concept", frontmatter=("concepts", "concept")),
    Filter(
        "bead", "beads", "memories of this bead", metavar="ID", frontmatter=("bead_id", "bead"),
        other_names=("bead_id",),
    ),
    Filter(
        "confidence", "confidences", "memories held with high, medium or low confidence", metavar=LIST, kind="choice",
        choices=CONFIDENCES, splits=True, column="confidence", frontmatter=("confidence",), of_memories=True,
    ),
    Filter(
        "session", "sessions", "this session, and what was written in it; a prefix will do", metavar="ID", many=False
    ),
    Filter("client", "clients", "sessions of this client, as codex", splits=True, frontmatter=("client",)),
    Filter("model", "models", "sessions whose model holds this, or is like 'gpt-*'"),
    Filter(
        "state", "states", "memories that are expired, superseded, outdated, archived or unreviewed (is: in a query)",
        metavar=LIST, kind="choice", choices=STATES, key="is", splits=True,
    ),
    Filter(
        "property", "properties", "documents with this frontmatter key, or this value of it, as status:done",
        metavar="KEY[:VALUE]", kind="property", key="",
    ),
    Filter(
        "after", "after", "created on this day or later", "created on this day (2026-11-01) or later", "DATE", "moment",
        many=False,
    ),
    Filter("before", "before", "created before this day", metavar="DATE", kind="moment", many=False),
    Filter("source", "sources", splits=True, column="source"),
)  # fmt: skip

FILTERS = {declared.name: declared for declared in _FILTERS}
"""Every filter by its name, in the order of the help."""


class Filters(NamedTuple):
    """What an answer is restricted to; empty means no restriction. Several values of one field are alternatives,
    but for `tags`, which must all be there."""

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
    """A part of the title, or a glob."""
    files: tuple[str, ...] = ()
    """A part of the file name, or a glob."""
    concepts: tuple[str, ...] = ()
    beads: tuple[str, ...] = ()
    confidences: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    """How the id of a session begins: the session itself, and what names it in its frontmatter."""
    clients: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    """A part of the model's name, or a glob."""
    states: tuple[State, ...] = ()
    properties: tuple[tuple[str, str | None], ...] = ()
    """Frontmatter keys with a value, or None where any will do. All keys must be there; values of one are
    alternatives."""
    after: float | None = None
    """Created at or after."""
    before: float | None = None
    """Created before."""
    now: float | None = None
    """The moment `states` are judged at; None is the moment of asking."""
    without: tuple["Filters", ...] = ()
    """None of these may hold."""


_FIELDS = (
    Field("title", "its title (default: its first heading or sentence)"),
    Field("subtitle", "a line under the title"),
    Field("digest", "what search shows of it (default: its first sentences)", "what search shows of it"),
    Field(
        "type", "note (the default), decision, bugfix, feature, pattern, discovery, learning or warning",
        metavar="TYPE", kind="choice", choices=TYPES,
    ),
    Field("tags", "its tags", metavar=LIST, kind="tags"),
    Field(
        "project", "the project it is for; without one it is for every project", "leave out for every project", "NAME"
    ),
    Field(
        "entered_by", "the person or agent it comes from", "who says so: your name", "NAME", flags=_BY,
        other_names=("by",),
    ),
    Field(
        "expires", "hidden from search after this day: 2027-02-01, in 3 months, Q1 2027",
        "hidden after it: 2027-02-01, in 3 months", "DATE", "date",
    ),
    Field("valid_until", "marked as outdated after this day", "marked outdated after it", "DATE", "date"),
    Field("confidence", "how sure it is: high, medium or low", metavar="HOW", kind="choice", choices=CONFIDENCES),
    Field("facts", "a fact of it; once for each", "one sentence each", kind="lines", flags=("--facts", "--fact")),
    Field("concepts", "concepts it is about", metavar=LIST, kind="names"),
    Field("files_read", "files it was learned from", metavar=LIST, kind="names"),
    Field("files_modified", "files that were changed", metavar=LIST, kind="names", other_names=("files",)),
    Field("bead_id", "the bead it belongs to", metavar="ID", flags=("--bead", "--bead-id"), other_names=("bead",)),
    Field(
        "supersedes", "memories it replaces: they are marked, and no longer found", "memories that it replaces",
        "REF,REF", "names",
    ),
)  # fmt: skip

FIELDS = {declared.name: declared for declared in _FIELDS}
"""Every field of a memory beside its text by its name, in the order of the help."""


def scalars(value: Any) -> Iterator[str]:
    """The texts and numbers in a value of a frontmatter."""
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from scalars(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value).strip()
