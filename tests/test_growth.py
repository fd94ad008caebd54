"""Hostile texts that once took unlimited time:

each is read in a process of its own, with a CPU limit. The limit is at least ten times the need, and far below the time
of backtracking.
"""

import json
import subprocess
import sys

from tests.tables import tables

# Prints the names of those that fail or need more than 30 s of CPU time.
READ_ALL = """
import json, os, pkgutil, resource, sys
cases = {name: (pkgutil.resolve_name(f), code) for name, (f, code) in json.load(sys.stdin).items()}
for name, (f, code) in cases.items():
    if not (child := os.fork()):
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
        exec(code)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name, flush=True)
"""


def test_hostile_texts_are_read_in_linear_time() -> None:
    read = subprocess.run(
        [sys.executable, "-c", READ_ALL],
        input=json.dumps(tables(__file__)["hostile"]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (read.stdout, read.stderr, read.returncode) == ("", "", 0)
