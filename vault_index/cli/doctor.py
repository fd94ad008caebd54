"""`doctor`: what is wrong and what mends it, and which notes are hard to find."""

import argparse
from dataclasses import asdict
from typing import Any

from vault_index.cli.client import call, call_here
from vault_index.cli.options import Options
from vault_index.cli.present import show
from vault_index.cli.progress import progress_bar
from vault_index.errors import VaultIndexError


def add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.description = "Say what is wrong and what mends it. Exit code 1 where there is a problem."
    parser.add_argument("--deep", action="store_true", help="compare the index with one that is built anew")
    parser.add_argument(
        "--fix",
        action="store_true",
        help="mend what comes back from the files and the cache, and the permissions of our own files; notes are"
        " never touched",
    )
    parser.add_argument(
        "--recall",
        action="store_true",
        help="look for notes by their own titles, aliases, link texts and headings; name those hard to find",
    )


def run_doctor(options: Options, args: dict[str, Any]) -> int:
    from vault_index.cli.installation import installation_problems

    report = _report(options, args)
    problems = [*report["problems"], *map(asdict, installation_problems(options))]
    report |= {"healthy": not problems, "problems": problems}
    show(options, "doctor", report)
    return VaultIndexError.exit_code if problems else 0


def _report(options: Options, args: dict[str, Any]) -> dict[str, Any]:
    params = {name: value for name, value in args.items() if name != "fix"}
    if "fix" in args:
        with progress_bar(quiet=options.quiet) as progress:
            mended = call(
                options, "repair", {name: value for name, value in params.items() if name == "deep"}, progress=progress
            )
        assert isinstance(mended, dict)  # no format was asked for
        return mended if "recall" not in args else mended | {"recall": call_here(options, "doctor", params)["recall"]}
    if not params:
        answer = call(options, "doctor", {})
        assert isinstance(answer, dict)  # no format was asked for
        return answer
    # Hundreds of questions, or a whole build: the daemon would be silent for longer than a client waits.
    report = call_here(options, "doctor", params)
    status = call(options, "status", {})
    assert isinstance(status, dict)  # no format was asked for
    known = {problem["code"] for problem in report["problems"]}
    own = [problem for problem in status["problems"] if problem["code"] not in known]
    gone = {"daemon_silent", "daemon_died"} if status["daemon"]["running"] else set[str]()
    kept = [problem for problem in report["problems"] if problem["code"] not in gone]
    return report | {"problems": [*kept, *own]}
