"""Credentials that are known by their form: the keys of services, JSON web tokens, passwords in URLs.

The forms are those the vendors document. Each is looked for by a literal that stands in it, which costs a fraction of a
search by regular expression; the expression is tried only where the literal stands. No part of it is without bound
where something must follow, so that no text makes it slow.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from vault_index.secrets.placeholders import compiled, positions, stands_for_another

# A token begins where a word does, or after a line break that is written `\n`, as in JSON.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
# In base64 the letters of a key id stand anywhere: there the signs of base64 belong to the word.
_START_BASE64 = r"(?:(?<![A-Za-z0-9+/=_-])|(?<=\\[nrt])|(?<=[A-Za-z_]=))"
_END = r"(?![A-Za-z0-9])"


class Form(NamedTuple):
    kind: str
    literals: tuple[str, ...]
    """One of them begins what `expression` matches. None: the expression itself is looked for."""
    expression: str
    """Its group is the secret, if it has one; else all of it is."""
    before: str = ""
    """What must stand before it and belongs to the secret: at most `_BEFORE` characters."""


FORMS = (
    Form("an AWS access key", ("AKIA", "ASIA"), _START + r"A[KS]IA[A-Z0-9]{16}" + _END),
    Form("a GitHub token", ("gh",), _START + r"gh[pousr]_[A-Za-z0-9]{30,}"),
    Form("a GitHub token", ("github_pat_",), _START + r"github_pat_\w{22,}"),
    Form("a GitLab token", ("gl",), _START + r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[\w.-]{20,}"),
    Form("an Anthropic API key", ("sk-ant-",), _START + r"sk-ant-[\w-]{16,}"),
    Form("an OpenRouter API key", ("sk-or-v1-",), _START + r"sk-or-v1-[0-9a-f]{32,}"),
    Form("an OpenAI API key", ("sk-",), _START + r"sk-(?:(?:proj|svcacct|admin)-[\w-]{16,}|[A-Za-z0-9]{20,}(?![\w-]))"),
    Form("a Google API key", ("AIza",), _START + r"AIza[\w-]{35}(?![\w-])"),
    Form("a Google OAuth secret", ("GOCSPX-",), _START + r"GOCSPX-[\w-]{24,}"),
    Form("a Google OAuth token", ("ya29.",), _START + r"ya29\.[\w-]{20,}"),
    Form("a Slack token", ("xox",), _START + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    Form("a Slack token", ("xapp-",), _START + r"xapp-\d-[A-Za-z0-9-]{10,}"),
    Form(
        "a Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9/]{8,})",
    ),
    Form("a Stripe key", ("k_live_", "k_test_"), r"k_(?:live|test)_[A-Za-z0-9]{16,}", before=_START + "[sr]"),
    Form("a Stripe webhook secret", ("whsec_",), _START + r"whsec_[A-Za-z0-9+/=]{24,}"),
    Form("an npm token", ("npm_",), _START + r"npm_[A-Za-z0-9]{36}" + _END),
    Form("a PyPI token", ("pypi-Ag",), _START + r"pypi-Ag[\w-]{30,}"),
    Form("a Hugging Face token", ("hf_",), _START + r"hf_[A-Za-z0-9]{30,}" + _END),
    Form("a SendGrid API key", ("SG.",), _START + r"SG\.[\w-]{16,32}\.[\w-]{16,64}(?![\w-])"),
    Form("a Twilio key", ("SK", "AC"), _START_BASE64 + r"(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9+/])"),
    Form("a Telegram bot token", (":AA",), r":AA[\w-]{32,33}(?![\w-])", before=r"(?<!\d)\d{8,10}"),
    # The id of a bot is a number in base64; the parts after it are a time and a signature.
    Form(
        "a Discord bot token",
        (),
        r"\.[\w-]{6}\.[\w-]{27,40}(?![\w.-])",
        before=r"(?:(?<![\w-])|(?<=\\[nrt]))[MNO][A-Za-z0-9_-]{22,27}",
    ),
    Form("a Discord webhook", ("/api/webhooks/",), r"/api/webhooks/\d{15,21}/([\w-]{50,})"),
    Form("an Azure storage key", ("AccountKey=",), r"AccountKey=([A-Za-z0-9+/]{40,}={0,2})"),
    Form("an Azure access key", ("SharedAccessKey=",), r"SharedAccessKey=([A-Za-z0-9+/]{40,}={0,2})"),
    Form("an Azure access signature", ("sig=",), r"(?<=[?&])sig=([A-Za-z0-9%+/]{40,}={0,2})"),
    Form(
        "an Azure client secret",
        ("Q~",),
        r"Q~[\w~.-]{31,34}(?![\w~.-])",
        before=r"(?:(?<![\w~.-])|(?<=\\[nrt]))[\w~.-]{3}\d",
    ),
    Form("a DigitalOcean token", ("_v1_",), r"_v1_[0-9a-f]{64}", before=_START + "do[opr]"),
    Form("a Docker token", ("dckr_pat_",), _START + r"dckr_pat_[\w-]{20,}"),
    Form("a Databricks token", ("dapi",), _START_BASE64 + r"dapi[0-9a-f]{32}" + _END),
    Form("a Groq API key", ("gsk_",), _START + r"gsk_[A-Za-z0-9]{40,}"),
    Form("a Notion token", ("ntn_",), _START + r"ntn_[A-Za-z0-9]{40,}"),
    Form("a Linear API key", ("lin_api_",), _START + r"lin_api_[A-Za-z0-9]{32,}"),
    Form("an age key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    Form(
        "a JSON web token",
        ("eyJ",),
        r"(?:(?<![\w-])|(?<=\\[nrt]))eyJ[\w-]{8,8000}\.eyJ[\w-]{8,8000}\.[\w-]{8,}(?:\.[\w-]+)*",
    ),
    Form(
        "a password in a URL",
        ("://",),
        r"""(?<=[A-Za-z0-9+])://[^\s:/?#@"'<>`]{0,100}:([^\s/@"'<>`]{1,200})@[\w\[%$-]""",
    ),
)

_LITERALS = tuple((form, literal) for form in FORMS for literal in form.literals or ("",))

# The other half of an AWS key, which has no mark of its own, stands near the first.
_AWS_SECRET = r"(?<![A-Za-z0-9+/])(?=[^A-Z]{0,39}[A-Z])(?=[^a-z]{0,39}[a-z])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])"
_NEAR = 200
_BEFORE = 40
_SHORTEST = 10
_LONG = b"a" * _SHORTEST
# A sign of a word, or not; `?` stands for what was not ASCII.
_KINDS = bytes(ord("a" if 32 < byte < 127 and chr(byte) not in "?\"'`<>()[]{},;|" else " ") for byte in range(256))
_KEY_MARK = "-----BEGIN "
_KEY_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_LONGEST_KEY = 100_000
_KEY_BODY = r"[A-Za-z0-9+/=]{12}"
# A key whose end is missing: lines of base64, also quoted, indented, or with their breaks written as `\n`. Nothing
# follows the lines, and `+` before one is a mark of a diff: so a long text is read in one way only.
_BEFORE_KEY_LINE = r"[\s>|#*\"'`,+]*(?:\\[nrt][\s>|#*\"'`,+]*)*"
_KEY_LINES = rf"(?:{_BEFORE_KEY_LINE}[A-Za-z0-9/=][A-Za-z0-9+/=]{{11,}})+"
_PUTTY = r"Private-Lines: \d{1,3}\s((?:\s*[A-Za-z0-9+/=]{12,})+)"


def tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each credential with a known form; not in order. The text is ASCII, as they all are."""
    long_words = " ".join(_long_words(text))
    # Most texts hold no literal at all, so nothing is called for those that are not there.
    for form, literal in [(form, literal) for form, literal in _LITERALS if literal in long_words]:
        for match in _matches(form, literal, text):
            group = match.lastindex or 0
            start, end = match.span(group)
            if form.before:
                head = compiled(form.before + r"\Z").search(text, max(start - _BEFORE, 0), start)
                if not head:
                    continue
                start = head.start()
            if stands_for_another(match[group]):
                continue
            yield form.kind, start, end
            if form.kind == "an AWS access key" and (other := compiled(_AWS_SECRET).search(text, end, end + _NEAR)):
                yield "an AWS secret key", *other.span()


def _long_words(text: str) -> Iterator[str]:
    """The words as long as a credential, which few are: what they do not hold need not be looked for in the text."""
    # Bytes of two kinds are several times faster to search than words.
    kinds = text.encode("ascii").translate(_KINDS)
    position = kinds.find(_LONG)
    while position >= 0:
        end = kinds.find(b" ", position)
        end = len(text) if end < 0 else end
        yield text[position:end]
        position = kinds.find(_LONG, end)


def _matches(form: Form, literal: str, text: str) -> Iterator[re.Match[str]]:
    if not literal:
        yield from compiled(form.expression).finditer(text)
        return
    position = text.find(literal)
    while position >= 0:
        match = compiled(form.expression).match(text, position)
        if match:
            yield match
        position = text.find(literal, max(match.end() if match else 0, position + len(literal)))


def private_keys(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each private key. A mark without a key behind it, as in prose, is none."""
    starts = [*positions(_KEY_MARK, text), len(text)]
    for start, following in pairwise(starts):
        if begin := compiled(_KEY_BEGIN).match(text, start):
            limit = min(following, start + _LONGEST_KEY)
            if end := compiled(_KEY_END).search(text, begin.end(), limit):
                if compiled(_KEY_BODY).search(text, begin.end(), end.start()):
                    yield "a private key", start, end.end()
            elif lines := compiled(_KEY_LINES).match(text, begin.end()):
                yield "a private key", start, lines.end()
    if "Private-Lines: " in text:
        for match in compiled(_PUTTY).finditer(text):
            yield "a private key", *match.span(1)
