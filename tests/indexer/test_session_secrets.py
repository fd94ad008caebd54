"""Ten kinds of secrets, in every field of a session:

none reaches a disk, a log or a request. They are joined at run time, so that no scanner takes this file for a leak.
"""

import json

from tests.embeddings.server import EmbeddingServer
from tests.sources.opencode.stores import Client, tool
from vault_index.config import Home
from vault_index.daemon.client import connect
from vault_index.errors import VaultIndexError

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
EARLY, LATE = "A heron at the lake", "An owl by night"


def tell_all(client: Client, secret: str, session: str, about: str = EARLY) -> None:
    """A session with this text in every field."""
    client.session(session, title=f"Rotate {secret}", directory="/home/user/api")
    prompt = client.user(f"{about}. Use {secret} for it", session=session)
    client.part(prompt, {"type": "file", "mime": "text/plain", "filename": f"{secret}.txt"})
    client.part(prompt, {"type": "subtask", "description": f"try {secret}", "agent": "general"})
    client.assistant(
        {"type": "reasoning", "text": f"They gave me {secret}"},
        tool("bash", {"command": f"curl -H 'x: {secret}'"}, output=f"you sent\n{secret}"),
        tool("odd", {"anything": 1}, title=f"with {secret}"),
        tool("read", {"filePath": f"/tmp/{secret}"}, status="error", error=f"Error: no file {secret}"),
        tool("edit", {"filePath": "app.py"}, metadata={"diff": f"+key = '{secret}'"}),
        tool("task", {"description": f"find {secret}"}, metadata={"sessionId": "ses_child"}),
        f"I used {secret}.",
        session=session,
        error={"name": "APIError", "data": {"message": f"401 for {secret}"}},
    )
    client.assistant(f"The key was {secret}", session=session, agent="compaction", summary=True)


def sent(server: EmbeddingServer) -> str:
    return "\n".join(json.dumps(request.body, ensure_ascii=False) for request in list(server.requests))


def forms_of(secret: str) -> set[bytes]:
    """As written, in lower case like indexed words, as JSON, and line by line."""
    forms = {secret, secret.lower(), json.dumps(secret)[1:-1], *secret.split("\n")}
    return {form.encode() for form in forms}


def indexed(home: Home) -> tuple[int, int]:
    """Count the sessions in the index and the chunks without a vector."""
    try:
        client = connect(home.socket_path)
        if client is None:
            return 0, -1
        with client:
            stats = client.call("stats", {})
    except (ConnectionError, VaultIndexError):
        return 0, -1
    assert isinstance(stats, dict)
    return stats["sessions"], stats["pending"]
