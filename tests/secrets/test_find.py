"""Credentials are joined at run time, so that no scanner takes this file for a leak."""

import string
import tomllib
from pathlib import Path

from hypothesis import given, strategies as st

from vault_index.secrets.find import Secret, find_secrets

MIXED = "Zq3vK8mR1tYx7Bd0LwP5nHc2JfG9sUe4AiVo6TkMrXyD1bNz8hQwE5gC"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
DASHES = "-" * 5


def block(kind: str, end: bool = True) -> str:
    body = "\n".join((MIXED + MIXED)[:64] for _ in range(3))
    return f"{DASHES}BEGIN {kind}{DASHES}\n{body}\n" + (f"{DASHES}END {kind}{DASHES}" if end else "")


TABLES = tomllib.loads(Path(__file__).with_name("forms.toml").read_text("utf-8"))
FORMS = [
    *((kind, "".join(parts)) for kind, *parts in TABLES["forms"]),
    *(("a private key", block(kind + " KEY")) for kind in ("RSA PRIVATE", "PRIVATE", "OPENSSH PRIVATE")),
    ("a private key", block("PGP PRIVATE" + " KEY BLOCK")),
    ("a private key", block("EC PRIVATE" + " KEY").replace("\n", "\\n")),
]
ASSIGNED = [(kind, before, first + rest, after) for kind, before, first, rest, after in TABLES["assigned"]]
"""The value is the secret; the text around it is kept."""


def found(text: str) -> list[tuple[str, str]]:
    return [(secret.kind, text[secret.start : secret.end]) for secret in find_secrets(text)]


AROUND = ("{}", "Use {} for it.", '"{}"', "`{}`", "x={}", "(the one: {})", "a\\n{}")


def test_find_secrets_finds_every_form_in_any_context() -> None:
    missed = [
        (kind, around)
        for kind, secret in FORMS
        for around in AROUND
        if found(around.replace("{}", secret)) != [(kind, secret)]
    ]
    assert missed == []


def test_find_secrets_finds_values_assigned_to_a_name() -> None:
    missed = [row for row in ASSIGNED if found("".join(row[1:])) != [(row[0], row[2])]]
    assert missed == []


AWS_KEY = "AK" + "IA" + "IOSFODNN7EXAMPLE"
AWS_SECRET = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
GITHUB = "gh" + "p_" + MIXED[:36]


def test_find_secrets_returns_the_kind() -> None:
    for text, kinds in (
        (f"key {AWS_KEY} with {AWS_SECRET}", ["an AWS access key", "an AWS secret key"]),
        (f"cat /tmp/{AWS_KEY}/credentials", ["an AWS access key"]),
        (f"GITHUB_TOKEN={GITHUB}", ["a GitHub token"]),  # its form says more than its name
    ):
        assert [kind for kind, _ in found(text)] == kinds


def test_find_secrets_returns_line_and_offsets_without_the_secret() -> None:
    password = "hun7er2"
    text = f"one\r\npassword: {password}\r\n\r\n{GITHUB} and {GITHUB}\n"
    first, second, third = find_secrets(text)
    assert first == Secret("a password", 2, text.index(password), text.index(password) + len(password))
    assert (second.line, third.line) == (4, 4)
    assert password not in repr(find_secrets(text))


def test_find_secrets_ends_a_truncated_private_key_with_its_lines() -> None:
    key = block("RSA PRIVATE" + " KEY", end=False)
    assert found(f"{key}\nIt was cut off here.") == [("a private key", key.rstrip("\n"))]


REPEATED = [
    "a", "=", DASHES + "BEGIN", " ", ".", "\\n", DASHES + "BEGIN PRIVATE" + f" KEY{DASHES}", "-eyJ", "eyJaaaaaaaaa.",
    "SK", "api_key=", "://", "token=a1b2", "password", "password: ", "a://u:p", "login a password ",
    "authorization: bearer ",
]  # fmt: skip


def test_find_secrets_is_linear_in_repeated_beginnings() -> None:
    """With quadratic time this takes minutes."""
    for unit in REPEATED:
        for secret in find_secrets("password" + unit * (50_000 // len(unit))):
            assert secret.line == 1


PIECES = [secret for _, secret in FORMS] + ["".join(parts) for _, *parts in ASSIGNED] + [block("PUBLIC KEY")]


@given(st.lists(st.sampled_from(PIECES) | st.text(alphabet=string.printable + "İß🙂", max_size=8), max_size=6))
def test_find_secrets_returns_places_in_order_for_any_text(pieces: list[str]) -> None:
    text = " ".join(pieces)
    end = 0
    for secret in find_secrets(text):
        assert end <= secret.start < secret.end <= len(text)
        assert secret.line == text.count("\n", 0, secret.start) + 1
        end = secret.end
