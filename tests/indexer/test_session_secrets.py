"""Ten kinds of secrets, joined at run time, so that no scanner takes this file for a leak."""

import json

_MIXED = "Zq3vK8mR1tYx7Bd0LwP5nHc2JfG9sUe4AiVo6TkMrXyD1bNz8hQwE5gC"
_BODY = "\n".join((_MIXED + _MIXED)[at : at + 64] for at in (0, 7, 21))
SECRETS = {  # the text said, and the part that must not be stored
    "AWS": ("AK" + "IAQ3EGRVZTN4W7M2XB",) * 2,
    "GitHub": ("gh" + "p_" + _MIXED[:36],) * 2,
    "Anthropic": ("s" + "k-ant-api03-" + _MIXED + "-" + _MIXED[:30],) * 2,
    "OpenAI": ("s" + "k-proj-" + _MIXED[4:34] + "_-" + _MIXED[:30],) * 2,
    "Slack": ("xo" + "xb-123456789012-1234567890123-" + _MIXED[3:27],) * 2,
    "Stripe": ("s" + "k_live_" + _MIXED[9:33],) * 2,
    "JSON web token": ("ey" + "J" + _MIXED[:20] + ".ey" + "J" + _MIXED[:40] + "." + _MIXED[:43],) * 2,
    "private key": ("-" * 5 + f"BEGIN RSA PRIVATE KEY-----\n{_BODY}\n" + "-" * 5 + "END RSA PRIVATE KEY-----", _BODY),
    "password in a URL": ("postgres://admin:" + "Tr0ub4dor-and-3" + "@db.example.org/app", "Tr0ub4dor-and-3"),
    "assigned password": ("DB_PASS" + "WORD=correct9!horse", "correct9!horse"),
}


def forms_of(secret: str) -> set[bytes]:
    """As written, in lower case like indexed words, as JSON, and line by line."""
    forms = {secret, secret.lower(), json.dumps(secret)[1:-1], *secret.split("\n")}
    return {form.encode() for form in forms}
