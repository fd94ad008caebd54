"""`search`, `why`, `get`, `related`, `timeline`, `recall`: questions to the index."""

import argparse
import os
from typing import Any

from vault_index.cli.arguments import (
    FILTER,
    FILTER_OPTIONS,
    LIMIT_AND_OFFSET,
    Options,
    argument,
    flag,
    likeness,
    natural,
    positive,
    project_named,
    takes,
)
from vault_index.cli.client import ask, ask_of_several
from vault_index.cli.present import remark
from vault_index.config.home import working_directory

_RANKING = (
    argument(
        "--mode",
        choices=("hybrid", "text", "vector"),
        help="by keywords and meaning (the default), by keywords only, by meaning only",
    ),
    argument(
        "--match",
        choices=("any", "all"),
        help="any: one word may be enough (the default); all: every word is needed",
    ),
    argument(
        "--per-document",
        metavar="N",
        type=positive,
        help="the most hits of one document (default: 3)",
    ),
    argument(
        "--fuzzy",
        action=argparse.BooleanOptionalAction,
        help="read words that no text holds as words that are spelled almost so (the default), or as they are",
    ),
    argument(
        "--threshold",
        metavar="SHARE",
        type=likeness,
        help="how alike a word must be to be meant, from 0.5 to 1 (default: 0.7)",
    ),
    argument(
        "--as-of",
        metavar="DATE",
        help="ask as on that day: without what was created later, with what held then",
    ),
    flag("--include-expired", "show memories past `expires`, too"),
    flag("--include-superseded", "show memories that were replaced, too"),
)
"""How a question is read and ranked."""

_EXCLUDE_SESSION = argument(
    "--exclude-session",
    metavar="ID",
    help="the session that asks: it is not told of itself (default: VAULT_INDEX_SESSION, which the plugin sets)",
)


@takes(
    argument(
        "query",
        nargs="+",
        metavar="QUERY",
        help='words, "exact phrases", prefix*, -without, AND, OR, NOT, and filters like tag:x; several are one query',
    ),
    argument("--limit", metavar="N", type=positive, help="how many hits (default: 10)"),
    argument("--offset", metavar="N", type=natural, help="skip the first N hits"),
    flag("--all", "show all weak hits (default: only those among the best three)"),
    flag("--explain", "say why each hit is where it is"),
    _EXCLUDE_SESSION,
    *_RANKING,
    FILTER_OPTIONS,
)
def run_search(options: Options, args: dict[str, Any]) -> None:
    query = " ".join(args["query"])
    ask(options, "search", {**_asked(args, "exclude_session"), "query": query})
    if query.strip() and all(word.startswith("-") for word in query.split()):
        remark(
            options,
            "vault-index: that only leaves out; say what to look for as well: search compose -docker",
        )


def _asked(args: dict[str, Any], name: str) -> dict[str, Any]:
    """The arguments with who asks: the folder, and the session that a command is run in."""
    session = os.environ.get("VAULT_INDEX_SESSION")
    return {**({name: session} if session else {}), **args, "directory": working_directory()}


@takes(
    argument(
        "query", metavar="QUERY", help="as search takes it, in quotes if it has several words"
    ),
    argument(
        "ref",
        metavar="PATH[:LINE]",
        help="a path, with a line or lines (10-42); or an id, or [[Note#Heading]]",
    ),
    argument(
        "--limit", metavar="N", type=positive, help="how many hits the answer has (default: 10)"
    ),
    *_RANKING,
    FILTER_OPTIONS,
    description="Say why a search finds the passage at a place, or why not: its number and what its score is made of, "
    "or what leaves it out. Takes the options of search.",
)
def run_why(options: Options, args: dict[str, Any]) -> None:
    ask(options, "why", _asked(args, "exclude_session"))


@takes(
    argument(
        "ref",
        nargs="+",
        metavar="REF",
        help="an id or its beginning, id:10-42, a path, path:10-42, or [[Note#Heading]]",
    ),
    flag("--full", "the file as it stands, with its frontmatter, and all metadata"),
    argument(
        "--max-tokens", metavar="N", type=positive, help="cut the text, and say where it goes on"
    ),
    argument("--neighbors", metavar="N", type=natural, help="add N passages before and after"),
    description="Print documents, without their frontmatter, or parts of them. In a pipe each text stands as it is "
    "between two comment lines, "
    "`<!-- id path:lines (tokens); … -->` and `<!-- end … -->`; --toon and --json wrap it.",
)
def run_get(options: Options, args: dict[str, Any]) -> int:
    if len(args["ref"]) > 1:
        return ask_of_several(options, "get", args)
    ask(options, "get", args)
    return 0


@takes(
    argument(
        "ref",
        nargs="+",
        metavar="REF",
        help="an id or its beginning, a path, or [[Note]]; of path:10-42 and [[Note#Heading]] only that part counts",
    ),
    *LIMIT_AND_OFFSET,
    FILTER_OPTIONS,
    description="Find the documents that one links to (link), that link to it (backlink), and that are near it in "
    "meaning (near), and the memories that a memory supersedes or is superseded by: those with most relations first, "
    "then the nearest. The filters concern what is found.",
)
def run_related(options: Options, args: dict[str, Any]) -> None:
    ask(options, "related", _one_ref(args))


@takes(
    argument("ref", nargs="*", metavar="REF", help="an id or its beginning, a path, or [[Note]]"),
    argument("--query", metavar="TEXT", help="around the best hit of a search, instead of REF"),
    argument("--depth-before", metavar="N", type=natural, help="how many before (default: 5)"),
    argument("--depth-after", metavar="N", type=natural, help="how many after (default: 5)"),
    FILTER["kind"],
    FILTER["type"],
    FILTER["project"],
    _EXCLUDE_SESSION,
    description="List the documents created before and after one, oldest first. The filters concern its neighbours, "
    "and --project also the hit of --query.",
)
def run_timeline(options: Options, args: dict[str, Any]) -> None:
    ask(
        options,
        "timeline",
        _asked(_one_ref(args), "exclude_session") if "query" in args else _one_ref(args),
    )


def _one_ref(args: dict[str, Any]) -> dict[str, Any]:
    """Joins the words to one reference: names of notes have blanks, and few people quote them."""
    return {**args, "ref": " ".join(args["ref"])} if args.get("ref") else args


@takes(
    argument(
        "query", nargs="*", metavar="QUERY", help="a question, or the first message of a session"
    ),
    argument(
        "--project",
        metavar="DIR",
        help="the folder the session works in, or the name of its project",
    ),
    argument(
        "--budget",
        metavar="TOKENS",
        type=positive,
        help="the most tokens (default: recall.budget, 1200)",
    ),
    argument("--session", metavar="ID", help="the session that asks: it is not told of itself"),
    argument(
        "--token",
        metavar="HEX",
        help="the token of the marks, to get the same text again (default: a random one)",
    ),
    description="Print one block of context for an agent: the decisions, warnings, patterns and preferences that hold "
    "for a project, what answers the query, and recent sessions, quoted as data with the places they stand at. "
    "Nothing is printed where there is nothing to know.",
)
def run_recall(options: Options, args: dict[str, Any]) -> None:
    params = {**_asked(args, "session"), "query": " ".join(args.get("query", ()))}
    if project := args.get("project"):
        params["project"] = project_named(project)
    ask(options, "recall", params)
