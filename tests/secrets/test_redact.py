import pytest
from hypothesis import given, strategies as st

from tests.secrets.test_find import ASSIGNED, FORMS, GITHUB, TABLES, block
from tests.tables import tables
from vault_index.secrets.find import drop_private, find_secrets, redact

CASES = tables(__file__)


def test_redact_replaces_a_secret_by_its_kind() -> None:
    redacted, count = redact(f"Use {GITHUB} and `password = 'hun7er2'` for it.\n")
    assert redacted == "Use [redacted: a GitHub token] and `password = '[redacted: a password]'` for it.\n"
    assert count == 2


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_redact_keeps_the_lines_of_a_private_key(ending: str) -> None:
    text = f"before\n{block('RSA PRIVATE' + ' KEY')}\nafter\n".replace("\n", ending)
    redacted = redact(text)[0]
    assert redacted.splitlines() == ["before", "[redacted: a private key]", "", "", "", "", "after"]
    assert redacted.endswith(f"{ending}after{ending}")


SECRETS = [("", secret, "") for _, secret in FORMS] + [(before, secret, after) for _, before, secret, after in ASSIGNED]


@given(st.lists(st.sampled_from(SECRETS), max_size=6), st.sampled_from([" ", "\n", "\r\n", '", "', " is one. "]))
def test_redact_leaves_nothing_of_a_secret(secrets: list[tuple[str, str, str]], between: str) -> None:
    text = between.join("".join(parts) for parts in secrets)
    redacted, count = redact(text)
    assert not [secret for _, secret, _ in secrets if secret in redacted]
    assert count > 0 or not secrets
    assert redacted.count("\n") == text.count("\n")
    assert find_secrets(redacted) == ()


@pytest.mark.parametrize(("text", "left"), CASES["drop_private_removes_private_text"])
def test_drop_private_removes_private_text(text: str, left: str) -> None:
    assert drop_private(text) == left


ESCAPED = [
    "\x1b[31m{}\x1b[0m", "\\u001b[1;32m{}\\u001b[0m", "[31m{}[0m", "key%3D{}%26b", "key%253D{}", 'key=3D"{}"',
    "key\\u003d{}", "key\\x3d{}", "key\\075{}", "\\u0022{}\\u0022", "&quot;{}&quot;",
]  # fmt: skip


def test_redact_finds_a_secret_after_an_escape_sequence() -> None:
    texts = [f"50% of it\n\nbefore {around} after\nlast \\x41" for around in ESCAPED]
    told = "[redacted: a GitHub token]"
    assert [text for text in texts if redact(text.replace("{}", GITHUB)) != (text.replace("{}", told), 1)] == []


PIECES = {
    "{c4}": "80" + "17", "{o}": "2YEECB4O", "{p}": "Qe7x^n" + "ACd", "{c}": "maple-" + "Lobster-16",
    "{w}": "orchard ember " + "heron juniper", "{k}": "0X2pnzKq9Xuf" + "LwhIOFSIueOa", "{e}": "erdbeer" + "kuchen",
}  # fmt: skip


def test_redact_leaves_no_secret_in_any_context() -> None:
    left = []
    for context in TABLES["contexts"]:
        text = context
        for mark, secret in PIECES.items():
            text = text.replace(mark, secret)
        redacted, _ = redact(text)
        left += [(mark, redacted) for mark, secret in PIECES.items() if mark in context and secret in redacted]
    assert left == []


def test_redact_finds_a_token_wrapped_by_a_terminal() -> None:
    for width in (80, 100, 120, 132):
        line = f"{'Authorization: Bearer '.rjust(width - 9)}{PIECES['{k}']}"
        assert PIECES["{k}"][12:] not in redact(f"$ ls\n{line[:width]}\n{line[width:]}\nend")[0]


def test_find_secrets_marks_a_weak_password() -> None:
    for password in ("tiger", "summer24", "123456"):
        assert [found.weak for found in find_secrets(f"db_password: {password}\n")] == [True]
        assert redact(f"db_password: {password}\n") == ("db_password: [redacted: a weak password]\n", 1)
    for written in ("password = sunshine", "token: abcdef", "The other box: password = sunshine"):
        assert [found.weak for found in find_secrets(written)] == [True], written
