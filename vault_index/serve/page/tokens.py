"""`POST /page/tokens`: who may ask by way of this server; tokens are made and revoked as by `vault-index token`."""

import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from vault_index.access import Token, Tokens
from vault_index.api.scopes import all_sources, doubts, end_of, read_scope, token_row
from vault_index.callers import Caller
from vault_index.config import Home, load_config
from vault_index.daemon.client import connect
from vault_index.errors import UsageError, VaultIndexError

_MOST = 100
"""Values of one part of a scope."""


def answer(home: Home, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
    """The tokens, after one was made (`add`) or revoked (`revoke`), and the sources that one may be for. The `token`
    of a new one is told this once, with `doubts` about it in sentences."""
    tokens, made = Tokens(home.tokens_file), dict[str, Any]()
    match dict(params):
        case {"add": dict(asked)} if len(params) == 1:
            made = _add(home, tokens, asked)
        case {"revoke": str(name)} if len(params) == 1:
            _tell_daemon(home, tokens.revoke(name).caller)
        case given if given:
            raise UsageError("nothing of this can be done with tokens", "send add, revoke, or neither")
    now = time.time()
    rows = [{**token_row(token, now), "owner": token.caller.owner} for token in tokens.all()]
    sources = [source.name for source in all_sources(load_config(home))]
    return {**made, "results": rows, "total": len(rows), "name": caller.name, "sources": sources}


def _add(home: Home, tokens: Tokens, asked: Mapping[str, Any]) -> dict[str, Any]:
    config, now = load_config(home), datetime.now().astimezone()
    given = {key: value for key, value in asked.items() if value is not None}
    name, writes, isolated = given.pop("name", ""), given.pop("writes", None), given.pop("isolated", False)
    expires = given.pop("expires", "")
    if not isinstance(name, str) or not isinstance(writes, bool) or not isinstance(isolated, bool):
        raise UsageError("a token has a name, and writes or does not", "say name, and writes: true or false")
    if unknown := next((key for key in given if key not in ("sources", "folders", "projects")), ""):
        raise UsageError(f"a token has no {unknown!r:.40}", "see docs/page.md")
    if not all(map(_is_texts, given.values())) or not _is_text(expires):
        raise UsageError("what a token may see is named by lists of texts", "leave out what restricts nothing")
    scope, absent = read_scope(config, given, isolated=isolated)
    ends = end_of(expires, now, option="expires") if expires else None
    caller = Caller(name, writes, scope)
    secret = tokens.add(caller, created=now.timestamp(), expires=ends)
    _tell_daemon(home, caller)
    made = token_row(Token(caller, now.timestamp(), ends), now.timestamp())
    return {"token": secret, "made": made, "doubts": doubts(config, caller, absent)}


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and len(value) <= _MOST and all(map(_is_text, value))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.isprintable()


def _tell_daemon(home: Home, caller: Caller) -> None:
    """It makes an index of its own for an isolated token, and takes it away after the last one."""
    if not caller.scope.isolated:
        return
    with suppress(VaultIndexError):  # it looks again when somebody asks
        client = connect(home.socket_path)
        if client is not None:
            with client:
                client.call("reload")
