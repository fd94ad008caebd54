"""Record forgotten sessions in `state.db`, and delete their traces there."""

from collections.abc import Collection, Iterable

from vault_index.markdown.recalled import fingerprint
from vault_index.store.connection import ANY_OF, any_of
from vault_index.store.state import State


def forgotten(state: State, sessions: Iterable[str]) -> set[str]:
    """Return the forgotten ones among these sessions. Raises StateDamagedError."""
    state.check()
    known = {hash_ for (hash_,) in state.database().execute("SELECT hash FROM forgotten")}
    if not known:
        return set()
    salt, _ = state.deleted()
    return {session for session in sessions if fingerprint(session, salt) in known}


def put_forgotten(state: State, sessions: Collection[str]) -> None:
    """Mark sessions as forgotten."""
    if sessions:
        salt, _ = state.deleted()
        rows = [(fingerprint(session, salt),) for session in sessions]
        with state.transaction() as database:
            database.execute_many("INSERT OR IGNORE INTO forgotten (hash) VALUES (?)", rows)


def delete_session_rows(
    state: State,
    sessions: Collection[str],
    places: Collection[tuple[str, str]],
    uids: Collection[str],
) -> None:
    """Delete the traces of sessions, given by ids, by source and path, and by document ids.

    The ledger keeps the amounts that were sent, without the path.
    """
    with state.transaction() as database:
        database.execute(f"DELETE FROM mirrored WHERE session {ANY_OF}", [any_of(sessions)])
        database.execute(f"DELETE FROM usage WHERE uid {ANY_OF}", [any_of(uids)])
        for source, path in places:
            database.execute("DELETE FROM origin WHERE source = ? AND path = ?", (source, path))
            database.execute(
                "INSERT INTO sent (day, endpoint, model, source, path, texts, tokens)"
                " SELECT day, endpoint, model, source, '(forgotten)', texts, tokens FROM sent"
                " WHERE source = ? AND path = ? ON CONFLICT (day, endpoint, model, source, path)"
                " DO UPDATE SET texts = texts + excluded.texts, tokens = tokens + excluded.tokens",
                (source, path),
            )
            database.execute("DELETE FROM sent WHERE source = ? AND path = ?", (source, path))
