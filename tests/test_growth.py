"""Hostile texts that once took unlimited time:

each is read in a process of its own, with a CPU limit. The limit is at least ten times the need, and far below the time
of backtracking.
"""

import json
import subprocess
import sys

SECRETS = "vault_index.secrets.find:find_secrets"
TREE = "vault_index.markdown.tree:tree"
INLINE = "vault_index.markdown.inline:read_inline"
BEGIN = "'-----BEGIN PRIVATE ' + 'KEY-----'"

HOSTILE = {
    "a row of dashes behind a name": (SECRETS, "f('token: v1' + '-' * 60 + '+')"),
    "spaces between numbers": (SECRETS, "f('token: \"' + '1 ' * 40 + 'a1!\"')"),
    "numbers and dots behind a name": (SECRETS, "f('password: ' + '.1' * 40 + 'a+')"),
    "a private key without lines": (SECRETS, f"f({BEGIN} + ' +' * 400_000 + '!')"),
    "a private key without an end": (SECRETS, f"f({BEGIN} + 'A' * 800_000 + '!')"),
    "private keys without an end": (SECRETS, f"f(({BEGIN} + 'A' * 9) * 20_000)"),
    "private lines without an end": (SECRETS, "f('Private-Lines: 1 ' + (' ' * 9 + 'A' * 15) * 30_000 + '!')"),
    "beginnings of tokens": (SECRETS, "f('eyJ' * 200_000 + ' eyJaaaaaaaa.' * 50_000)"),
    "names without a value": (SECRETS, "f('key=' * 100_000)"),
    "escapes without an end": (SECRETS, "f('\\\\' * 400_000 + '%25' * 90_000 + '\\x1b[' * 200_000 + '&amp;' * 90_000)"),
    "options without a value": (SECRETS, "f('curl -u mysql -p sshpass -p echo a | ' * 20_000)"),
    "names behind names": (SECRETS, "f('next_token:' * 30_000 + 'bearer ' * 50_000)"),
    "spaces in a heading": ("vault_index.markdown.blocks:plain_spans", "f(['# a' + ' ' * 9_000 + 'b'] * 500)"),
    "spaces in a tag": ("vault_index.markdown.normalize:normalize_tag", "f('a' + ' ' * 800_000 + 'b')"),
    "spaces in a list": ("vault_index.markdown.frontmatter:string_list", "f('a' + ' ' * 800_000 + 'b')"),
    "a deep indentation": ("vault_index.markdown.nest:nest", "f('# a\\n' + '\\t' * 500_000 + 'b', 2)"),
    "openings of terminal sequences": ("vault_index.markdown.normalize:harmless", "f('\\x90' * 5_000_000)"),
    "spaces in the address of a link": (
        INLINE,
        "f(['[a](' + ' ' * 500_000, 'b' + ' ' * 500_000 + '!', '[c](d' + '(e' * 200_000])",
    ),
    "brackets without partners": (INLINE, "f(['[[a] [b' * 100_000])"),
    "openings of what a page shows": (TREE, "[f(mark * 10_000) for mark in ('[', '[[', '![', '<a>', '#a ')]"),
    "openings of marks and links": (TREE, "[f(mark * 10_000) for mark in ('==a ', '$a ', '$$a', 'http://a ', '://')]"),
    "spaces before a question's id": (
        "vault_index.query.ranking.passages:split_passages",
        "f('a?' + ' ' * 800_000 + 'b')",
    ),
    "blank lines in a memory": (
        "vault_index.memories.capture.markers",
        "f.with_tags_and_expiry(f.Captured('a' + '\\n' * 300_000 + 'b', 1), now=f.datetime.now(), tag_words={})",
    ),
    "a rule with many stars": (
        "vault_index.sources.gitignore:Rules",
        "f(['*a' * 12 + 'b']).covers('a' * 250); f(['**/a/' * 12 + 'b']).covers('a/' * 100 + 'a')",
    ),
}
"""The function `f`, and the call."""

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
        [sys.executable, "-c", READ_ALL], input=json.dumps(HOSTILE), capture_output=True, text=True, check=False
    )
    assert (read.stdout, read.stderr, read.returncode) == ("", "", 0)
