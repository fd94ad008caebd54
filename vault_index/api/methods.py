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
    VaultIndex that gives it. No named tuple: every command imports this.
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
    ) -> None:
        self.name, self.writes, self.remote, self.long, self.names_files = name, writes, remote, long, names_files
        self.call, self.instead = call, instead


METHODS = {
    method.name: method
    for method in (
        Method("search"),
        Method("why"),
        Method("get"),
        Method("list"),
        Method("sessions", instead=(("summary", "session_summary"),)),
        Method("resume"),
        Method("related"),
        Method("timeline"),
        Method("recall"),
        Method("review"),
        Method("tags"),
        Method("stats", instead=(("agents", "agents"),)),
        Method("status", instead=(("privacy", "privacy"),)),
        Method("file_status"),
        Method("doctor"),
        Method("export", remote=False, names_files=True),
        Method("add", writes=True),
        Method("update", writes=True),
        Method("delete", writes=True),
        Method("forget", writes=True, long=True),
        Method("prune", writes=True),
        Method("decide", writes=True),
        Method("archive", writes=True),
        Method("history"),
        Method("diff"),
        Method("revert", writes=True),
        Method("undo", writes=True),
        Method("capture", writes=True),
        Method("import", writes=True, long=True, names_files=True, call="import_"),
        Method("sync", writes=True, long=True, names_files=True),
        Method("rebuild", writes=True, long=True),
        Method("embed", writes=True, long=True, instead=(("plan", "embed_plan"), ("status", "embed_status"))),
        Method("repair", writes=True, long=True),
    )
}

READING = frozenset(name for name, method in METHODS.items() if not method.writes)
WRITING = frozenset(METHODS) - READING
LONG = frozenset(name for name in METHODS if METHODS[name].long)
