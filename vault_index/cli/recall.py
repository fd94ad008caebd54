"""`recall` and `agent-context`: what agents are told."""

import argparse
import os
from typing import Any

from vault_index.cli.arguments import absolute, positive
from vault_index.cli.client import ask
from vault_index.cli.options import Options
from vault_index.cli.present import show_value


def add_recall(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print one block of context for an agent: the decisions, warnings, patterns and preferences that hold for a "
        "project, what answers the query, and recent sessions, quoted as data with the places they stand at. Nothing "
        "is printed where there is nothing to know."
    )
    parser.add_argument("query", nargs="*", metavar="QUERY", help="a question, or the first message of a session")
    parser.add_argument("--project", metavar="DIR", help="the folder the session works in, or the name of its project")
    parser.add_argument(
        "--budget", metavar="TOKENS", type=positive, help="the most tokens (default: recall.budget, 1200)"
    )
    parser.add_argument("--session", metavar="ID", help="the session that asks: it is not told of itself")
    parser.add_argument(
        "--token", metavar="HEX", help="the token of the marks, to get the same text again (default: a random one)"
    )


def run_recall(options: Options, args: dict[str, Any]) -> int:
    params = {**args, "query": " ".join(args.get("query", ()))}
    if "project" in params and _is_folder(params["project"]):
        params["project"] = absolute(params["project"])
    return ask(options, "recall", params)


def _is_folder(named: str) -> bool:
    return os.sep in named or named.startswith("~") or named in (".", "..")


def add_agent_context(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print a guide for agents, in less than 600 tokens: what to store and what not, how to ask, and how to read "
        "the answers at little cost."
    )
    parser.add_argument("--skill", action="store_true", help="as a skill: with the head of a SKILL.md")


def run_agent_context(options: Options, args: dict[str, Any]) -> int:
    from vault_index.output.guide import guide, skill

    text = skill() if "skill" in args else guide()
    show_value(options, "agent_context", {"text": text}, text.rstrip("\n"))
    return 0
