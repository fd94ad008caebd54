"""`sync`, `rebuild`, `embed`: bring the index up to date once."""

import argparse
from typing import Any

from vault_index.cli.arguments import absolute
from vault_index.cli.client import call, call_here
from vault_index.cli.options import Options
from vault_index.cli.present import answer_format, print_error, remark, show
from vault_index.cli.progress import progress_bar
from vault_index.errors import EmbedderError


def add_sync(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="only these files and folders of the sources")
    parser.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")
    parser.add_argument("--no-embed", action="store_true", help="stop when the text is searchable")


def run_sync(options: Options, args: dict[str, Any]) -> int:
    params = _embedding(args)
    if params.get("paths"):
        params["paths"] = [absolute(path) for path in params["paths"]]
    else:
        params.pop("paths", None)
    if params.get("dry_run"):
        remark(options, "vault-index: a dry run: nothing is changed")
    return bring_up_to_date(options, "sync", params)


def add_rebuild(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-embed", action="store_true", help="stop when the text is searchable")


def run_rebuild(options: Options, args: dict[str, Any]) -> int:
    return bring_up_to_date(options, "rebuild", _embedding(args))


def add_embed(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--plan", action="store_true", help="say what it would cost, and send nothing")
    which.add_argument("--status", action="store_true", help="say how far it is")
    which.add_argument(
        "--rebuild", action="store_true", help="compute every vector again; the old ones serve until then"
    )


def run_embed(options: Options, args: dict[str, Any]) -> int:
    if "plan" in args or "status" in args:
        # The daemon would let the question wait behind the very work it asks about.
        show(options, "embed", call_here(options, "embed", args))
        return 0
    return bring_up_to_date(options, "embed", args)


def bring_up_to_date(options: Options, method: str, params: dict[str, Any]) -> int:
    """Call a writing method with a progress bar and show its report; 6 where the embedder failed."""
    report = work(options, method, params)
    show(options, method, report)
    return exit_code(options, method, report)


def work(options: Options, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The report of a writing method, which may take minutes."""
    if options.source is not None and method == "sync":
        params = {**params, "source": options.source}
    with progress_bar(quiet=options.quiet) as progress:
        report = call(options, method, params, progress=progress)
    assert isinstance(report, dict)  # no format was asked for
    return report


def exit_code(options: Options, method: str, report: dict[str, Any]) -> int:
    """6 when the text is in the index and its vectors could not be made; the error is printed where no report is."""
    problems = report.get("problems", ())
    failed = next((problem for problem in problems if problem["code"] == EmbedderError.code), None)
    if failed is None:
        return 0
    form = answer_format(options, method)
    if form != "human":  # there the report names it
        print_error(EmbedderError(failed["message"], failed["hint"]), as_json=form in ("json", "jsonl"))
    return EmbedderError.exit_code


def _embedding(args: dict[str, Any]) -> dict[str, Any]:
    params = {key: value for key, value in args.items() if key != "no_embed"}
    return {**params, "embed": False} if "no_embed" in args else params
