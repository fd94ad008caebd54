"""Texts that others write and that once took time without end: each is read in a process of its own, with a deadline.

The deadline is a hundred times what is needed, and far below what backtracking would take.
"""

import subprocess
import sys

import pytest

DEADLINE = 60

SECRETS = "from vault_index.secrets.find import find_secrets as f;"
BEGIN = "'-----BEGIN PRIVATE ' + 'KEY-----'"

HOSTILE = {
    "a row of dashes behind a name": f"{SECRETS} f('token: v1' + '-' * 60 + '+')",
    "spaces between numbers": f"{SECRETS} f('token: \"' + '1 ' * 40 + 'a1!\"')",
    "numbers and dots behind a name": f"{SECRETS} f('password: ' + '.1' * 40 + 'a+')",
    "a private key without lines": f"{SECRETS} f({BEGIN} + ' +' * 400_000 + '!')",
    "a private key without an end": f"{SECRETS} f({BEGIN} + 'A' * 800_000 + '!')",
    "private keys without an end": f"{SECRETS} f(({BEGIN} + 'A' * 9) * 20_000)",
    "private lines without an end": f"{SECRETS} f('Private-Lines: 1 ' + (' ' * 9 + 'A' * 15) * 30_000 + '!')",
    "beginnings of tokens": f"{SECRETS} f('eyJ' * 200_000 + ' eyJaaaaaaaa.' * 50_000)",
    "names without a value": f"{SECRETS} f('key=' * 100_000)",
    "escapes without an end": f"{SECRETS} f('\\\\' * 400_000 + '%25' * 90_000 + '\\x1b[' * 200_000 + '&amp;' * 90_000)",
    "options without a value": f"{SECRETS} f('curl -u mysql -p sshpass -p echo a | ' * 20_000)",
    "names behind names": f"{SECRETS} f('next_token:' * 30_000 + 'bearer ' * 50_000)",
    "spaces in a heading": "from vault_index.markdown.blocks import plain_spans as f;"
    " f(['# a' + ' ' * 9_000 + 'b'] * 500)",
    "spaces in a tag": "from vault_index.markdown.normalize import normalize_tag as f; f('a' + ' ' * 800_000 + 'b')",
    "spaces in a list": "from vault_index.markdown.frontmatter import string_list as f; f('a' + ' ' * 800_000 + 'b')",
    "a deep indentation": "from vault_index.markdown.nest import nest as f; f('# a\\n' + '\t' * 500_000 + 'b', 2)",
    "openings of terminal sequences": "from vault_index.markdown.sanitize import harmless as f; f('\\x90' * 5_000_000)",
    "spaces in the address of a link": "from vault_index.markdown.obsidian import read_inline as f;"
    " f(['[a](' + ' ' * 500_000, 'b' + ' ' * 500_000 + '!', '[c](d' + '(e' * 200_000])",
    "brackets without partners": "from vault_index.markdown.obsidian import read_inline as f; f(['[[a] [b' * 100_000])",
    "beginnings of what a page shows": "from vault_index.markdown.tree import tree as f;"
    " [f(mark * 40_000) for mark in ('[', '[[', '![', '==a ', '$a ', '$$a', '<a>', 'http://a ', '://', '#a ')]",
    "spaces before a question's id": "from vault_index.query.ranking.passages import split_passages as f;"
    " f('a?' + ' ' * 800_000 + 'b')",
    "blank lines in a memory": "from datetime import date\n"
    "from vault_index.memories.capture.markers import Captured, inferred as f\n"
    "f(Captured('a' + '\\n' * 300_000 + 'b', 1), today=date.min, tag_words={})",
    "a rule with many stars": "from vault_index.sources.ignore import Rules as f;"
    " f(['*a' * 12 + 'b']).covers('a' * 250); f(['**/a/' * 12 + 'b']).covers('a/' * 100 + 'a')",
}


@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE)
def test_no_text_is_read_without_end(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, timeout=DEADLINE)
