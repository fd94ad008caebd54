"""`search`, `why`, `get`, `related`, `timeline`, `recall`: queries of the index."""

import argparse
import os
from typing import Any

from vault_index.cli.arguments import (
    FILTER,
    FILTER_OPTIONS,
    LIMIT_AND_OFFSET,
    Group,
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
from vault_index.errors import UsageError

_MODE = argument(
    "--mode",
    choices=("hybrid", "text", "vector"),
    metavar="MODE",
    help="text (keywords), vector (meaning), hybrid (default)",
)

_RANKING = (
    argument(
        "--match",
        choices=("any", "all"),
        help="match any word (default: any) or all words",
    ),
    argument(
        "--per-document",
        metavar="N",
        type=positive,
        help="maximum hits per document (default: 3)",
    ),
    argument(
        "--fuzzy",
        action=argparse.BooleanOptionalAction,
        help="correct misspelled words (default: yes)",
    ),
    argument(
        "--threshold",
        metavar="SHARE",
        type=likeness,
        help="similarity of corrections, 0.5 to 1 (default: 0.7)",
    ),
    argument(
        "--as-of",
        metavar="DATE",
        help="search as of this day, without newer documents",
    ),
    flag("--include-expired", "also show expired memories"),
    flag("--include-superseded", "also show superseded memories"),
)
"""Options that rarely change how a query is parsed and ranked."""

_EXCLUDE_SESSION = argument(
    "--exclude-session",
    metavar="ID",
    help="hide this session (default: $VAULT_INDEX_SESSION)",
)


@takes(
    argument(
        "query",
        nargs="*",
        metavar="QUERY",
        help='words, "exact phrases", prefix*, -without, AND, OR, NOT, and filters like tag:x',
    ),
    argument("--limit", metavar="N", type=positive, help="maximum number of hits (default: 10)"),
    argument("--offset", metavar="N", type=natural, help="skip the first N hits (default: 0)"),
    flag("--all", "also show weak hits after the best three"),
    argument(
        "--interactive",
        "-i",
        action="store_true",
        help="search while you type, with a preview; Enter opens the editor (needs prompt_toolkit)",
    ),
    flag("--explain", "explain the score of each hit"),
    _MODE,
    Group("advanced", *_RANKING, _EXCLUDE_SESSION),
    FILTER_OPTIONS,
)
def run_search(options: Options, args: dict[str, Any]) -> None:
    """Search, and print a remark if the query only excludes words."""
    query = " ".join(args.pop("query", ()))
    interactive = args.pop("interactive", False)
    params = _with_caller(args, "exclude_session")
    if interactive:
        from vault_index.cli import picker  # slow to import

        picker.search(options, params, query)
        return
    if not query:
        raise UsageError("a query is missing", "give words to search, or search while you type: -i")
    ask(options, "search", {**params, "query": query})
    if query.strip() and all(word.startswith("-") for word in query.split()):
        remark(
            options,
            "vault-index: the query only excludes words; add a word to find: search compose "
            "-docker",
        )


def _with_caller(args: dict[str, Any], name: str) -> dict[str, Any]:
    """Add the working folder and, as `name`, the session in which the command runs."""
    session = os.environ.get("VAULT_INDEX_SESSION")
    return {**({name: session} if session else {}), **args, "directory": working_directory()}


@takes(
    argument("query", metavar="QUERY", help="query of search; put several words in quotes"),
    argument(
        "ref",
        metavar="PATH[:LINE]",
        help="path with a line or lines (10-42), id, or [[Note#Heading]]",
    ),
    argument(
        "--limit", metavar="N", type=positive, help="hits that the search returns (default: 10)"
    ),
    _MODE,
    Group("advanced", *_RANKING),
    FILTER_OPTIONS,
    description="Explain why a search finds the passage at a location, or does not. The answer is "
    "its rank with the parts of its score, or the reasons that exclude it.",
)
def run_why(options: Options, args: dict[str, Any]) -> None:
    """Explain why a search finds a passage, or does not."""
    ask(options, "why", _with_caller(args, "exclude_session"))


@takes(
    argument(
        "ref",
        nargs="+",
        metavar="REF",
        help="id or its prefix, id:10-42, path, path:10-42, or [[Note#Heading]]",
    ),
    flag("--full", "print the whole file with frontmatter, and all metadata"),
    argument(
        "--max-tokens",
        metavar="N",
        type=positive,
        help="cut the text, and print where it continues (default: no limit)",
    ),
    argument(
        "--neighbors",
        metavar="N",
        type=natural,
        help="add N passages before and after (default: 0)",
    ),
    description="Print documents without their frontmatter, or parts of them. In a pipe, each text "
    "is unchanged between two comment lines, `<!-- id path:lines (tokens); … -->` and `<!-- end … "
    "-->`. --toon and --json print it as a value.",
)
def run_get(options: Options, args: dict[str, Any]) -> int:
    """Print documents or parts of them; return 1 if one of several is missing."""
    if len(args["ref"]) > 1:
        return ask_of_several(options, "get", args)
    ask(options, "get", args)
    return 0


@takes(
    argument(
        "ref",
        nargs="+",
        metavar="REF",
        help="id or its prefix, path, [[Note]], or a part: path:10-42, [[Note#Heading]]",
    ),
    *LIMIT_AND_OFFSET,
    FILTER_OPTIONS,
    description="Find the documents that a document links to (link), that link to it (backlink) or "
    "that are similar in meaning (near), and the memories that a memory supersedes or is "
    "superseded by. Documents with the most relations come first, then the most similar ones. The "
    "filters apply to the results.",
)
def run_related(options: Options, args: dict[str, Any]) -> None:
    """Print related documents."""
    ask(options, "related", _one_ref(args))


@takes(
    argument("ref", nargs="*", metavar="REF", help="id or its prefix, path, or [[Note]]"),
    argument("--query", metavar="TEXT", help="use the best hit of this search instead of REF"),
    argument("--depth-before", metavar="N", type=natural, help="documents before it (default: 5)"),
    argument("--depth-after", metavar="N", type=natural, help="documents after it (default: 5)"),
    FILTER["kind"],
    FILTER["type"],
    FILTER["project"],
    _EXCLUDE_SESSION,
    description="List the documents created before and after a document, oldest first. The filters "
    "apply to its neighbours; --project also applies to the search of --query.",
)
def run_timeline(options: Options, args: dict[str, Any]) -> None:
    """Print the documents created before and after one."""
    ask(
        options,
        "timeline",
        _with_caller(_one_ref(args), "exclude_session") if "query" in args else _one_ref(args),
    )


def _one_ref(args: dict[str, Any]) -> dict[str, Any]:
    """Join the words to one reference, because names of notes contain spaces."""
    return {**args, "ref": " ".join(args["ref"])} if args.get("ref") else args


@takes(
    argument("query", nargs="*", metavar="QUERY", help="question, or first message of a session"),
    argument(
        "--project",
        metavar="DIR",
        help="working folder of the session, or name of its project",
    ),
    argument(
        "--budget",
        metavar="TOKENS",
        type=positive,
        help="maximum tokens (default: recall.budget, 1200)",
    ),
    argument("--session", metavar="ID", help="hide this session (default: $VAULT_INDEX_SESSION)"),
    argument(
        "--token",
        metavar="HEX",
        help="token in the markers of the block, for reproducible output (default: random)",
    ),
    description="Print one block of context for an agent: current decisions, warnings, patterns "
    "and preferences of a project, passages that answer the query, and recent sessions. All are "
    "quoted as data, each with its location. Without results, nothing is printed.",
)
def run_recall(options: Options, args: dict[str, Any]) -> None:
    """Print the context block for a task and a project."""
    params = {**_with_caller(args, "session"), "query": " ".join(args.get("query", ()))}
    if project := args.get("project"):
        params["project"] = project_named(project)
    ask(options, "recall", params)
