"""Create, list and revoke tokens of `serve`, and exchange sign-in codes, for the page."""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from vault_index.access import Token, Tokens
from vault_index.api.scopes import all_sources, end_of, read_scope, scope_warnings, token_row
from vault_index.callers import Caller
from vault_index.config import Home, load_config
from vault_index.errors import UsageError
from vault_index.times import iso_time

_MOST = 100
"""Maximum number of values in one part of a scope."""
_SIGNED_IN_SECONDS = 30 * 86_400.0
"""Lifetime of the token of a signed-in page."""


def sign_in(home: Home, params: Mapping[str, Any]) -> dict[str, Any]:
    """Exchange a code from `vault-index open` for a token; return nothing for an invalid code."""
    code, now = params.get("code"), time.time()
    expires = now + _SIGNED_IN_SECONDS
    made = (
        Tokens(home.tokens_file).exchange(code, now, expires=expires)
        if isinstance(code, str)
        else None
    )
    return {"token": made[0], "name": made[1], "expires": iso_time(expires)} if made else {}


def list_tokens(home: Home, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tokens and the possible sources, after adding (`add`) or revoking (`revoke`) one.

    `drop` removes a one-time code that a page does not need because it is signed in.

    The answer to `add` also has the secret as `token`, which is never shown again, and `warnings`
    about probable mistakes.
    """
    tokens, made = Tokens(home.tokens_file), dict[str, Any]()
    match dict(params):
        case {"add": dict(asked)} if len(params) == 1:
            made = _add(home, tokens, asked)
        case {"revoke": str(name)} if len(params) == 1:
            tokens.revoke(name)
        case {"drop": str(code)} if len(params) == 1:
            tokens.drop(code)
        case given if given:
            raise UsageError("the request must be add, revoke, drop or empty", "send one of these")
    now = time.time()
    rows = [{**token_row(token, now), "owner": token.caller.owner} for token in tokens.all()]
    sources = [source.name for source in all_sources(load_config(home))]
    return {**made, "results": rows, "total": len(rows), "name": caller.name, "sources": sources}


def _add(home: Home, tokens: Tokens, asked: Mapping[str, Any]) -> dict[str, Any]:
    config, now = load_config(home), datetime.now().astimezone()
    given = {key: value for key, value in asked.items() if value is not None}
    name, writes = given.pop("name", ""), given.pop("writes", None)
    expires = given.pop("expires", "")
    if not isinstance(name, str) or not isinstance(writes, bool):
        raise UsageError("a token needs name and writes", "send name, and writes as true or false")
    if unknown := next((key for key in given if key not in ("sources", "folders", "projects")), ""):
        raise UsageError(f"unknown token field {unknown!r:.40}", "see docs/serve.md")
    if not _is_text(expires) or not all(
        isinstance(one, list) and len(one) <= _MOST and all(map(_is_text, one))
        for one in given.values()
    ):
        raise UsageError(
            "sources, folders and projects must be lists of texts",
            "omit those that restrict nothing",
        )
    scope, absent = read_scope(config, given)
    ends = end_of(expires, now, option="expires") if expires else None
    caller = Caller(name, writes, scope)
    secret = tokens.add(caller, created=now.timestamp(), expires=ends)
    made = token_row(Token(caller, now.timestamp(), ends), now.timestamp())
    return {"token": secret, "made": made, "warnings": scope_warnings(config, caller, absent)}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.isprintable()
