"""Values of options, and the filters that several commands share."""

import argparse
import os


def positive(text: str) -> int:
    return _whole(text, 1)


def natural(text: str) -> int:
    return _whole(text, 0)


def likeness(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.5 <= share <= 1.0:
        raise argparse.ArgumentTypeError(f"must be a number from 0.5 to 1, not {text!r}")
    return share


def names(text: str) -> list[str]:
    """Values between commas."""
    found = [name.strip() for name in text.split(",")]
    return [name for name in found if name]


def absolute(path: str) -> str:
    """The daemon stands in another folder."""
    return os.path.abspath(os.path.expanduser(path))


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Which documents an answer is about; the same words as in the query language."""
    group = parser.add_argument_group("filters")
    group.add_argument(
        "--tags", metavar="A,B", type=names, action="extend", help="documents that have all of these tags"
    )
    group.add_argument("--any-tag", metavar="A,B", type=names, action="extend", help="documents that have one of these")
    group.add_argument("--type", metavar="TYPE", help="memories of this type, as decision or bugfix")
    group.add_argument("--kind", choices=("note", "memory", "session"), help="documents of this kind")
    group.add_argument("--project", metavar="NAME", help="documents of this project")
    group.add_argument(
        "--by", "--entered-by", dest="by", metavar="NAME", help="documents entered by this person or agent"
    )
    group.add_argument("--path", metavar="GLOB", help="documents whose path matches, as 'projects/**'")
    group.add_argument("--title", metavar="TEXT", help="documents whose title holds this, or is like 'Log*'")
    group.add_argument("--file", metavar="NAME", help="documents whose file name holds this, or is like '*.canvas'")
    group.add_argument("--concept", metavar="NAME", help="memories about this concept")
    group.add_argument("--bead", metavar="ID", help="memories of this bead")
    group.add_argument(
        "--confidence", metavar="A,B", type=names, help="memories held with high, medium or low confidence"
    )
    group.add_argument("--session", metavar="ID", help="this session, and what was written in it; a prefix will do")
    group.add_argument(
        "--state", metavar="A,B", type=names, help="memories that are expired, superseded or outdated (is: in a query)"
    )
    group.add_argument(
        "--property",
        metavar="KEY[:VALUE]",
        action="append",
        help="documents with this frontmatter key, or this value of it, as status:done",
    )
    group.add_argument("--after", metavar="DATE", help="created on this day or later")
    group.add_argument("--before", metavar="DATE", help="created before this day")


def _whole(text: str, low: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if number < low:
        raise argparse.ArgumentTypeError(f"must be a whole number of {low} or more, not {text!r}")
    return number
