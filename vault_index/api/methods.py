"""The registry of methods: the name of each, its limits, and the callers that may use it.

It imports nothing, because the thin client reads it before it connects.
"""


class Method:
    """One method, named like its command; its parameters are those of the call, in snake_case.

    - `writes`: takes the write lock and runs in the writer thread.
    - `remote`: the daemon may run it for a caller; otherwise it runs in the process of the caller.
    - `long`: reports progress and can be cancelled. Other methods take no longer than a few
      documents and run before long ones.
    - `names_files`: its strings are file names, which may contain any bytes. Other strings must be
      UTF-8.
    - `call`: the method of VaultIndex, if it has a different name.
    - `instead`: options that select a different answer, each with the method of VaultIndex for it.
    - `served`: available to tokens for the whole index (`whole`), or also to tokens with a scope
      (`scoped`).
    - `local`: parameters that only the user of this machine may give, because they name folders or
      sessions of this machine.

    Not a named tuple, because every command imports this module and named tuples are slow to
    create.
    """

    def __init__(
        self,
        name: str,
        *,
        writes: bool = False,
        remote: bool = True,
        long: bool = False,
        names_files: bool = False,
        call: str = "",
        instead: tuple[tuple[str, str], ...] = (),
        served: str = "",
        local: tuple[str, ...] = (),
    ) -> None:
        self.name, self.writes, self.remote, self.long, self.names_files = (
            name,
            writes,
            remote,
            long,
            names_files,
        )
        self.call, self.instead, self.served, self.local = call, instead, served, local


_CALLER_PARAMETERS = ("directory", "exclude_session")

METHODS = {
    method.name: method
    for method in (
        Method("search", served="scoped", local=_CALLER_PARAMETERS),
        Method("why", served="scoped", local=_CALLER_PARAMETERS),
        Method("get", served="scoped"),
        Method("list", served="scoped"),
        Method(
            "sessions",
            instead=(("summary", "session_summary"), ("days", "session_days")),
            served="scoped",
        ),
        Method("resume", served="whole"),
        Method("related", served="scoped"),
        Method("timeline", served="scoped", local=_CALLER_PARAMETERS),
        Method("recall", served="scoped", local=(*_CALLER_PARAMETERS, "session", "token")),
        Method("remind"),
        Method("review", served="scoped"),
        Method("tags", served="scoped"),
        Method("stats", instead=(("agents", "agents"),), served="scoped"),
        Method("status", instead=(("privacy", "privacy"),), served="whole"),
        Method("file_status"),
        Method("doctor", served="whole", local=("deep", "recall")),
        Method("export", remote=False, names_files=True),
        Method("add", writes=True, served="scoped", local=("directory", "session")),
        Method("update", writes=True, served="scoped", local=("client", "directory", "session")),
        Method("delete", writes=True, served="scoped", local=("client",)),
        Method("forget", writes=True, long=True),
        Method("prune", writes=True, served="whole"),
        Method("decide", writes=True, served="scoped", local=("client",)),
        Method("archive", writes=True, served="scoped"),
        Method("history", served="scoped"),
        Method("diff", served="scoped"),
        Method("revert", writes=True, served="scoped"),
        Method("undo", writes=True, served="whole"),
        Method("capture", writes=True, served="whole", local=("session", "auto", "directory")),
        Method("import", writes=True, long=True, names_files=True, call="import_"),
        Method("sync", writes=True, long=True, names_files=True),
        Method("rebuild", writes=True, long=True),
        Method(
            "embed",
            writes=True,
            long=True,
            instead=(("plan", "embed_plan"), ("status", "embed_status")),
        ),
        Method("repair", writes=True, long=True),
    )
}

READING = frozenset(name for name, method in METHODS.items() if not method.writes)
WRITING = frozenset(METHODS) - READING
LONG = frozenset(name for name in METHODS if METHODS[name].long)
