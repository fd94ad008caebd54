"""The table of commands; the module of a command is imported when the command runs."""

from typing import NamedTuple


class Command(NamedTuple):
    """A command of one or two words; `module` of this package has `run_<words>`."""

    name: str
    module: str
    summary: str


SECTIONS = {
    "Set up": (
        Command("init", "indexing", "write the configuration and index a vault"),
        Command("source list", "settings", "list the sources"),
        Command("source add", "settings", "add a vault or a remote source"),
        Command("source sync", "settings", "exchange changes with remote sources now"),
        Command("source remove", "settings", "remove a vault from the index; its files stay"),
        Command("config get", "settings", "print one setting"),
        Command("config set", "settings", "change one setting"),
        Command("config list", "settings", "print every setting"),
        Command("config delete", "settings", "reset one setting to its default"),
        Command("config path", "settings", "print the path of the configuration file"),
        Command(
            "agent install",
            "connect",
            "add memory tools, recall and capture to a client's configuration",
        ),
        Command("agent uninstall", "connect", "remove vault-index from a client's configuration"),
        Command("agent status", "connect", "show which clients are connected"),
        Command("agent hook", "connect", "answer a hook (called by the clients)"),
        Command(
            "opencode wake",
            "connect",
            "start the daemon or update the index (called by plugin and hooks)",
        ),
        Command("mcp", "connect", "serve the memory tools to an MCP client"),
        Command("agent-context", "connect", "print the guide for agents"),
        Command("token add", "serve", "create an access token for `serve` and print it once"),
        Command("token list", "serve", "list access tokens with their permissions"),
        Command("token revoke", "serve", "revoke an access token"),
        Command("pool join", "pool", "join a team's pool in PostgreSQL, or create it"),
        Command("pool publish", "pool", "publish the chosen sources to the pool"),
        Command("pool status", "pool", "show the sources of the pool and what is published"),
        Command("pool members", "pool", "add, list and remove members and servers of the pool"),
        Command("pool export", "pool", "write the memories of the pool to a folder"),
        Command("pool leave", "pool", "remove sources from the pool, or leave it"),
        Command("completions", "completions", "print the completion script for a shell"),
    ),
    "Search": (
        Command("search", "search", "search notes, memories and sessions"),
        Command("get", "search", "print documents or parts of them"),
        Command(
            "recall",
            "search",
            "print a block of context for a task and a project",
        ),
        Command("list", "listing", "list documents (also: ls)"),
        Command("sessions", "listing", "list agent sessions, or summarize the work in them"),
        Command("resume", "listing", "print the command that resumes a session, or run it"),
        Command("related", "search", "find documents linked to a document or similar in meaning"),
        Command("timeline", "search", "list the documents created before and after one"),
        Command("tags", "listing", "list tags with their number of documents"),
        Command("stats", "listing", "count documents, chunks and tags"),
        Command("why", "search", "explain why a search finds a passage, or does not"),
    ),
    "Memories": (
        Command("add", "memories", "store a memory (also: store)"),
        Command("update", "memories", "change a memory"),
        Command("delete", "memories", "move memories to the trash"),
        Command("archive", "memories", "hide memories from search without deleting their files"),
        Command("forget", "memories", "delete agent sessions permanently"),
        Command("prune", "memories", "move expired memories to the trash"),
        Command("history", "memories", "list the versions of a memory"),
        Command("diff", "memories", "show the difference between two versions of a memory"),
        Command("revert", "memories", "restore a memory to an earlier version"),
        Command("review", "review", "review new, duplicate, contradictory and expired memories"),
        Command("undo", "memories", "undo the last change of memories"),
        Command("capture", "memories", "store the passages marked *Remember*: in a text"),
        Command("export", "memories", "write the memories to a JSON file or a folder"),
        Command("import", "memories", "store memories from an export or from another program"),
    ),
    "Keep it running": (
        Command("summary", "listing", "show what is indexed, waits for review or fails (also: vx)"),
        Command("status", "listing", "show the state of the index, the daemon and the embedder"),
        Command("doctor", "doctor", "find problems, and repair them with --fix"),
        Command("logs", "service", "print the log of the daemon or of `serve`"),
        Command("service install", "service", "run the daemon as a service of systemd or launchd"),
        Command("service uninstall", "service", "stop and remove the service"),
        Command("service status", "service", "show the state of the service and the daemon"),
        Command("service restart", "service", "restart the daemon, for example after an upgrade"),
        Command("uninstall", "service", "remove service, client entries, index and settings"),
        Command("watch", "indexing", "keep the index up to date and answer queries (the daemon)"),
        Command("open", "serve", "open the web page in the browser"),
        Command("serve", "serve", "serve API, MCP and web page over HTTP"),
        Command("sync", "indexing", "update the index once"),
        Command("embed", "indexing", "compute missing vectors, or estimate the cost"),
        Command("rebuild", "indexing", "rebuild the index from all files"),
    ),
}
"""The commands grouped by purpose; `--help` and docs/commands.md follow this order."""

COMMANDS = tuple(command for commands in SECTIONS.values() for command in commands)

ALIASES = {"store": "add", "ls": "list"}
"""Other names of commands."""

OTHER_NAMES = {
    "observation": "add", "remember": "add", "save": "add", "memory-search": "search",
    "memory-get": "get", "memory-read": "get", "memory-timeline": "timeline",
    "memory-update": "update", "memory-admin": "status",
    "--agent-context": "agent-context",
}  # fmt: skip
"""Names of these commands in LLMemory, agmem and OpenCodeKit; they work, but no help lists them."""

_AS_WORDS = "pass it as an argument, without an option"
OTHER_OPTIONS = {
    **dict.fromkeys(
        ("--id", "--ids", "--ref", "--anchor", "--anchor-id", "--query", "--text"), _AS_WORDS
    ),
    **dict.fromkeys(
        ("--content", "--narrative", "--body"),
        "pass the text as an argument in quotes, or pipe it in",
    ),
    **dict.fromkeys(("--top-k", "--max-results", "--count"), "did you mean --limit?"),
    "--db": "use --home DIR, the folder that holds the index",
    "--agent-context": "use the command: vault-index agent-context",
    "--files": "did you mean --files-modified?",
    "--tag": "did you mean --tags?",
}
"""Hints for options of these other programs."""

WITHOUT_SOURCE = frozenset(
    {
        "config path", "agent install", "agent uninstall", "agent status", "agent hook",
        "opencode wake", "agent-context", "completions", "status", "doctor", "logs",
        "service install", "service uninstall", "service status", "service restart",
        "uninstall", "summary", "watch", "open", "serve", "embed", "rebuild", "source remove",
        "forget", "token add", "token list", "token revoke", "pool join",
        "pool publish", "pool status", "pool members", "pool export", "pool leave",
    }
)  # fmt: skip
"""Commands without the global option `--source`, because they concern all sources or none.

`token add` has its own `--source`, which takes several names.
"""

GROUPS = {
    "config": "read and change settings",
    "source": "list, add and remove vaults and remote sources",
    "service": "run the daemon as a service of systemd or launchd",
    "agent": "connect Claude Code, Codex, Gemini CLI and OpenCode",
    "token": "create, list and revoke access tokens for `serve`",
    "pool": "publish to a team's pool in PostgreSQL",
    "opencode": "commands that plugin and hooks call",
}
"""The first words of two-word commands."""
