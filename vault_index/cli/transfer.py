"""`export` and `import`: memories out of a vault and into one."""

import argparse
import os
from typing import Any

from vault_index.cli.arguments import absolute
from vault_index.cli.client import call, home_of
from vault_index.cli.options import Options
from vault_index.cli.present import show, write
from vault_index.cli.progress import progress_bar

_STDOUT = "-"


def add_export(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write the memories of a vault to a JSON file (one array, every key), or to a folder of markdown: when the "
        "name is that of a folder or ends with /, or with --markdown. `import` brings them back as they were. Only you "
        "can read what is written."
    )
    parser.add_argument("file", metavar="FILE", help="where to; - is stdout")
    parser.add_argument("--force", action="store_true", help="overwrite what is there")


def run_export(options: Options, args: dict[str, Any]) -> int:
    source = {"source": options.source} if options.source is not None else {}
    if args["file"] == _STDOUT:
        from vault_index.api import VaultIndex

        with VaultIndex.open(home_of(options)) as index:
            write(index.export_json(**source).rstrip("\n"))
        return 0
    place = absolute(args["file"])
    folder = options.format == "markdown" or args["file"].endswith("/") or os.path.isdir(place)
    params = {**source, "path": place, "folder": folder, "force": "force" in args}
    show(options, "export", call(options, "export", params))
    return 0


def add_import(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Store the memories of an export, or of another program: a JSON array (LLMemory, agmem, mem0), a folder of "
        "markdown, or the .opencode/memory of OpenCodeKit. What is here already stays as it is, so that importing "
        "twice changes nothing. A memory that cannot be read is named, and the others are stored."
    )
    parser.add_argument("path", metavar="FILE|DIR", help="what to import")
    parser.add_argument("--force", action="store_true", help="store even what looks like a credential")
    parser.add_argument("--dry-run", action="store_true", help="say what would be stored, and store nothing")
    parser.add_argument("--no-embed", action="store_true", help="stop when the text is searchable")


def run_import(options: Options, args: dict[str, Any]) -> int:
    params = {key: value for key, value in args.items() if key != "no_embed"}
    params["path"] = absolute(args["path"])
    if "no_embed" in args:
        params["embed"] = False
    if options.source is not None:
        params["source"] = options.source
    with progress_bar(quiet=options.quiet) as progress:
        answer = call(options, "import", params, progress=progress)
    assert isinstance(answer, dict)  # no format was asked for
    show(options, "import", answer)
    return 1 if answer["failed"] else 0
