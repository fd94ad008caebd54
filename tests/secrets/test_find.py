"""Credentials are put together at run time, so that no scanner takes this file for a leak."""

import string

import pytest
from hypothesis import given, strategies as st

from vault_index.secrets.find import Secret, find_secrets, redact

MIXED = "Zq3vK8mR1tYx7Bd0LwP5nHc2JfG9sUe4AiVo6TkMrXyD1bNz8hQwE5gC"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
DASHES = "-" * 5


def block(kind: str, end: bool = True) -> str:
    body = "\n".join((MIXED + MIXED)[:64] for _ in range(3))
    return f"{DASHES}BEGIN {kind}{DASHES}\n{body}\n" + (f"{DASHES}END {kind}{DASHES}" if end else "")


FORMS = [
    ("an AWS access key", "AK" + "IA" + "IOSFODNN7EXAMPLE"),
    ("an AWS access key", "AS" + "IA" + "Q3EGRHJ5X7Y2ZKLM"),
    *(("a GitHub token", f"gh{letter}_" + MIXED[:36]) for letter in "pousr"),
    ("a GitHub token", "github" + "_pat_" + MIXED[:22] + "_" + MIXED[:50]),
    ("a GitLab token", "gl" + "pat-" + MIXED[:20]),
    ("an OpenAI API key", "s" + "k-" + MIXED[:48]),
    ("an OpenAI API key", "s" + "k-proj-" + MIXED[:30] + "_-" + MIXED[:30]),
    ("an OpenRouter API key", "s" + "k-or-v1-" + HEX),
    ("an Anthropic API key", "s" + "k-ant-api03-" + MIXED + "-" + MIXED[:30]),
    ("a Google API key", "AI" + "za" + MIXED[:35]),
    ("a Slack token", "xo" + "xb-123456789012-1234567890123-" + MIXED[:24]),
    ("a Slack token", "xo" + "xp-" + "1" * 12 + "-" + MIXED[:24]),
    ("a Stripe key", "s" + "k_live_" + MIXED[:24]),
    ("a Stripe key", "r" + "k_test_" + MIXED[:24]),
    ("an npm token", "np" + "m_" + MIXED[:36]),
    ("a PyPI token", "py" + "pi-AgEIcHlwaS5vcmc" + MIXED + MIXED),
    ("a Hugging Face token", "h" + "f_" + MIXED[:34]),
    ("a SendGrid API key", "S" + "G." + MIXED[:22] + "." + MIXED[:43]),
    ("a Twilio key", "S" + "K" + HEX[:32]),
    ("a Telegram bot token", "123456789" + ":AA" + MIXED[:33]),
    ("a Discord bot token", "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + MIXED[:27]),
    ("a JSON web token", "ey" + "J" + MIXED[:20] + ".ey" + "J" + MIXED[:40] + "." + MIXED[:43]),
    ("an Azure client secret", "aB3" + "8Q~" + MIXED[:34]),
    ("a DigitalOcean token", "dop" + "_v1_" + HEX),
    ("an age key", "AGE-SECRET" + "-KEY-1" + MIXED.upper() + "AB"),
    ("a private key", block("RSA PRIVATE" + " KEY")),
    ("a private key", block("PRIVATE" + " KEY")),
    ("a private key", block("OPENSSH PRIVATE" + " KEY")),
    ("a private key", block("PGP PRIVATE" + " KEY BLOCK")),
    ("a private key", block("EC PRIVATE" + " KEY").replace("\n", "\\n")),
]

# The value is the secret; what stands around it is kept.
ASSIGNED = [
    ("a Slack webhook", "https://hooks.slack." + "com/services/", "T0ABCDEFG/B0HIJKLMN/" + MIXED[:24], ""),
    ("a Discord webhook", "https://discord.com/api/webhooks/" + "123456789012345678/", MIXED + MIXED[:12], ""),
    ("an Azure storage key", "AccountName=a;AccountKey=", MIXED + MIXED[:30] + "==", ";EndpointSuffix=b"),
    ("an AWS secret key", "aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY", ""),
    ("an AWS secret key", '"SecretAccessKey": "', MIXED[:40], '",'),
    ("an Azure access signature", "https://a.blob.core.windows.net/b?sv=2022&sig=", MIXED[:43] + "%3D", "&se=2027"),
    ("a password in a URL", "postgres://admin:", "hun7er2", "@db.example.com/app"),
    ("a password in a URL", "redis://:", "s3cr3t", "@cache:6379"),
    ("a password", 'password = "', "hun7er2", '"'),
    ("a password", "password: ", "hun7er2", "\n"),
    ("a password", '{"password": "', "Sup3r-S3cret!", '"}'),
    ("a password", '{\\"password\\": \\"', "Sup3rS3cret!", '\\"}'),
    ("a password", "DB_PASSWORD=", "Tr0ub4dor&3", ""),
    ("a password", "DB_PASSWORD=", "correct!horse", ""),
    ("a password", "export PGPASSWORD='", "tr0ub4dor", "'"),
    ("a password", "**Password:** `", "hun7er2", "`"),
    ("a password", "| Password | ", "hun7er2", " |"),
    ("a password", "<password>", "hun7er2", "</password>"),
    ("a password", "mysql --password ", "hun7er2", " -u root"),
    ("a password", "machine example.com login me password ", "hun7er2", "\n"),
    ("a password", "Server=db;Pwd=", "hun7er2", ";Encrypt=true"),
    ("a password", "Passwort: ", "Gehe1m77", ""),
    ("a key", "API_KEY=", MIXED[:32], ""),
    ("a key", 'apiKey: "', HEX[:32], '"'),
    ("a key", "X-Api-Key: ", HEX[:40], ""),
    ("a token", "token: ", HEX[:40], ""),
    ("a token", "//registry.example.com/:_authToken=", HEX[:36], ""),
    ("a token", "https://example.com/?access_token=", MIXED[:24], ""),
    ("a secret", "CLIENT_SECRET_PROD=", MIXED[:30], ""),
    ("an authorization header", "Authorization: Bearer ", MIXED[:32], ""),
    ("an authorization header", "curl -H 'authorization: Basic ", "dXNlcjpodW50ZXIy", "'"),
]

INNOCENT = [
    "the password is stored in the keychain",
    "Password: required, at least 12 characters",
    "password: string",
    "password: string;",
    "password?: Optional[str] = None",
    'token = os.environ["GITHUB_TOKEN"]',
    "const token = process.env.GITHUB_TOKEN2",
    "token = get_token(user_id=12345678)",
    "self.password = settings.db_password2",
    "secret: my-app-secret-2",
    "password: sha256",
    "<th>Password</th><td>8 characters</td>",
    "password changed: 2024-01-31",
    "password: 2024-01-31",
    "API_KEY=<your key>",
    "API_KEY=your-api-key-123456",
    "API_KEY=${API_KEY_2024_PRODUCTION}",
    "API_KEY=$API_KEY_2024",
    "password = {{ vault_password_123 }}",
    "password: '***'",
    "password: ********",
    "token=xxxxxxxxxxxxxxxxxxxxxxxx",
    "password=changeme",
    "PASSWORD=change_me_123",
    'password = "password"',
    "password: [redacted: a password]",
    "postgres://user:password@host/db",
    "postgres://user:pass@host/db",
    "postgres://user:${DB_PASSWORD}@host/db",
    "postgres://user:<password>@host/db",
    "postgres://localhost:5432/db@2",
    "https://example.com:8080/@scope/package",
    "max_tokens: 4096, prompt_tokens=123456789012a",
    "nextPageToken: CAUQAA12345678901234",
    f"publicSigningKey: {MIXED}",
    "primary_key=abcdef1234567890abcd",
    "token: /run/secrets/token_2024_file",
    "secret = arn:aws:secretsmanager:eu-west-1:123456789012:secret:x",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    f"sha256:{HEX}",
    f'"integrity": "sha512-{MIXED}{MIXED[:30]}=="',
    f"![](data:image/png;base64,{MIXED * 20})",
    "ghp_" + "x" * 36,
    "AK" + "IA" + "X" * 16,
    "sk-circle-fade-dot and disk-usage-of-the-whole-machine",
    "a task_id, risk_live_value and npm_config_registry",
    f"{DASHES}BEGIN PRIVATE" + f" KEY{DASHES} begins the file of the key.",
    f"{DASHES}BEGIN PRIVATE" + f" KEY{DASHES}\n...\n{DASHES}END PRIVATE" + f" KEY{DASHES}",
    block("CERTIFICATE"),
    block("PUBLIC KEY"),
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN_2024_PRODUCTION",
    "Authorization: Bearer eyJ0eX...FWSXfwtQ",
    "the bearer of this letter",
    "version 1.2.3.4 at 10.0.0.1:8080",
]


def found(text: str) -> list[tuple[str, str]]:
    return [(secret.kind, text[secret.start : secret.end]) for secret in find_secrets(text)]


AROUND = ("{}", "Use {} for it.", '"{}"', "`{}`", "x={}", "(the one: {})", "a\\n{}")


def test_find_secrets_knows_every_form_in_any_surroundings() -> None:
    missed = [
        (kind, around)
        for kind, secret in FORMS
        for around in AROUND
        if found(around.replace("{}", secret)) != [(kind, secret)]
    ]
    assert missed == []


def test_find_secrets_knows_what_is_assigned_to_a_name() -> None:
    missed = [row for row in ASSIGNED if found("".join(row[1:])) != [(row[0], row[2])]]
    assert missed == []


def test_find_secrets_and_redact_leave_innocent_text() -> None:
    wrong = [text for text in INNOCENT if found(text) or redact(text) != (text, 0)]
    assert wrong == []


AWS_KEY = "AK" + "IA" + "IOSFODNN7EXAMPLE"
AWS_SECRET = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
GITHUB = "gh" + "p_" + MIXED[:36]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (f"key {AWS_KEY} with {AWS_SECRET}", ["an AWS access key", "an AWS secret key"]),
        (f"cat /tmp/{AWS_KEY}/credentials", ["an AWS access key"]),
        (f"GITHUB_TOKEN={GITHUB}", ["a GitHub token"]),  # its form says more than its name
    ],
)
def test_find_secrets_tells_the_kind(text: str, kinds: list[str]) -> None:
    assert [kind for kind, _ in found(text)] == kinds


def test_find_secrets_tells_line_and_offsets_without_the_secret() -> None:
    password = "hun7er2"
    text = f"one\r\npassword: {password}\r\n\r\n{GITHUB} and {GITHUB}\n"
    first, second, third = find_secrets(text)
    assert first == Secret("a password", 2, text.index(password), text.index(password) + len(password))
    assert (second.line, third.line) == (4, 4)
    assert password not in repr(find_secrets(text))


def test_a_private_key_that_is_cut_off_ends_with_its_lines() -> None:
    key = block("RSA PRIVATE" + " KEY", end=False)
    assert found(f"{key}\nIt was cut off here.") == [("a private key", key.rstrip("\n"))]


REPEATED = [
    "a", "=", DASHES + "BEGIN", " ", ".", "\\n", DASHES + "BEGIN PRIVATE" + f" KEY{DASHES}", "-eyJ", "eyJaaaaaaaaa.",
    "SK", "api_key=", "://", "token=a1b2", "password", "password: ", "a://u:p", "login a password ",
    "authorization: bearer ",
]  # fmt: skip


def test_find_secrets_reads_repeated_beginnings_in_linear_time() -> None:
    """With quadratic time this takes minutes."""
    for unit in REPEATED:
        for secret in find_secrets("password" + unit * (200_000 // len(unit))):
            assert secret.line == 1


PIECES = [secret for _, secret in FORMS] + ["".join(parts) for _, *parts in ASSIGNED] + INNOCENT


@given(st.lists(st.sampled_from(PIECES) | st.text(alphabet=string.printable + "İß🙂", max_size=8), max_size=6))
def test_any_text_gives_places_in_order(pieces: list[str]) -> None:
    text = " ".join(pieces)
    end = 0
    for secret in find_secrets(text):
        assert end <= secret.start < secret.end <= len(text)
        assert secret.line == text.count("\n", 0, secret.start) + 1
        end = secret.end
