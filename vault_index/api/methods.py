"""The registry of methods: the names that commands, the socket and MCP call `VaultIndex` by, and what each may do.

Importing this costs nothing: the thin client asks it before there is an index.
"""


class Method:
    """One method, named as the command is; its parameters are those of the call, in snake_case.

    It `writes` if it takes the write lock, and belongs to the thread that writes. `remote` is whether the daemon may do
    it for a caller; otherwise it reads or writes where the caller is. One that is `long` reports its progress and can
    be cancelled; a quick one takes no longer than a few documents do, and goes before long ones. If it `names_files`,
    its texts are names of files, which may hold any bytes; other texts must be UTF-8. `call` is the method of
    VaultIndex where that has another name; `instead` are options that ask for another answer, and the method of
    VaultIndex that gives it. It is `served` to callers with a token: to those who may see all of the index (`whole`),
    or to those of a part of it as well (`scoped`); `local` are parameters that only this machine's user may give, for
    they name its folders or its sessions. No named tuple: every command imports this.
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


_ASKED_FROM = ("directory", "exclude_session")

METHODS = {
    method.name: method
    for method in (
        Method("search", served="scoped", local=_ASKED_FROM),
        Method("why", served="scoped", local=_ASKED_FROM),
        Method("get", served="scoped"),
        Method("list", served="scoped"),
        Method(
            "sessions",
            instead=(("summary", "session_summary"), ("days", "session_days")),
            served="scoped",
        ),
        Method("resume", served="whole"),
        Method("related", served="scoped"),
        Method("timeline", served="scoped", local=_ASKED_FROM),
        Method("recall", served="scoped", local=(*_ASKED_FROM, "session", "token")),
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
