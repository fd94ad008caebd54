"""The table of commands; the module of a command is imported when it is used."""

from typing import NamedTuple


class Command(NamedTuple):
    """A command of one or two words; `module` of this package has `run_<words>`."""

    name: str
    module: str
    summary: str


SECTIONS = {
    "Set up": (
        Command("init", "indexing", "write the configuration, and index a vault"),
        Command("source list", "settings", "list the sources"),
        Command("source add", "settings", "add a vault"),
        Command("source remove", "settings", "forget a vault; its files stay"),
        Command("config get", "settings", "print one setting"),
        Command("config set", "settings", "change one setting"),
        Command("config list", "settings", "print every setting"),
        Command("config delete", "settings", "put one setting back to its default"),
        Command("config path", "settings", "print where the configuration file is"),
        Command(
            "agent install",
            "connect",
            "connect a client: memory tools, recall and capture in its configuration",
        ),
        Command("agent uninstall", "connect", "take that out of its configuration again"),
        Command("agent status", "connect", "say which clients are connected, and how"),
        Command("agent hook", "connect", "answer a hook of a client: what it calls"),
        Command(
            "opencode wake",
            "agents",
            "start the daemon or update the index, as the plugin and the hooks do",
        ),
        Command("mcp", "agents", "offer the memory tools to MCP clients"),
        Command("agent-context", "agents", "print the guide that agents read"),
        Command("token add", "serve", "make a token for a caller of serve, and print it once"),
        Command("token list", "serve", "list the tokens: what each may do and see"),
        Command("token revoke", "serve", "refuse a token from now on"),
        Command("completions", "completions", "print the completions of a shell"),
    ),
    "Ask": (
        Command("search", "search", "find passages"),
        Command("get", "search", "print documents or parts of them"),
        Command(
            "recall",
            "search",
            "print what matters for a task and a project, as one block for an agent",
        ),
        Command("list", "listing", "list documents"),
        Command("sessions", "sessions", "list sessions with agents, or say what was worked on"),
        Command("resume", "sessions", "print how a session is gone on with, or do it"),
        Command(
            "related", "search", "find documents that are linked with one or near it in meaning"
        ),
        Command("timeline", "search", "list what was created before and after a document"),
        Command("tags", "listing", "list tags and how often they occur"),
        Command("stats", "listing", "count documents, chunks and tags"),
        Command("why", "search", "say why a passage is found, or why not"),
    ),
    "Memories": (
        Command("add", "memories", "store a memory (also: store)"),
        Command("update", "memories", "change a memory"),
        Command("delete", "memories", "move memories to the trash"),
        Command("archive", "memories", "leave memories out of search, and their files in place"),
        Command("forget", "memories", "delete sessions of agents for good"),
        Command("prune", "memories", "move expired memories to the trash"),
        Command("history", "memories", "list the versions of a memory"),
        Command("diff", "memories", "say what changed between two versions of a memory"),
        Command("revert", "memories", "have a memory say again what it said in a version"),
        Command(
            "review", "review", "look at what agents left, duplicates and what is over, and decide"
        ),
        Command("undo", "memories", "put back what the last of these commands changed"),
        Command("capture", "memories", "store what is marked *Remember*: in a text"),
        Command("export", "memories", "write the memories to a JSON file or a folder"),
        Command("import", "memories", "store memories of an export or of another program"),
    ),
    "Keep it running": (
        Command("status", "listing", "say how the index, the daemon and the embedder are doing"),
        Command("doctor", "doctor", "look for what is wrong, and mend it with --fix"),
        Command("logs", "service", "print the daemon's log"),
        Command("service install", "service", "have systemd or launchd run the daemon from now on"),
        Command("service uninstall", "service", "stop it and remove the service"),
        Command(
            "service status", "service", "say whether the service runs, and what the daemon says"
        ),
        Command("service restart", "service", "restart the daemon, as after an upgrade"),
        Command("service logs", "service", "print the daemon's log"),
        Command("watch", "indexing", "keep the index up to date and answer queries (the daemon)"),
        Command("open", "open", "open the page in the browser: search, read, review"),
        Command("serve", "serve", "answer callers with a token over HTTP"),
        Command("sync", "indexing", "bring the index up to date once"),
        Command("embed", "indexing", "fill or renew the vectors, or say what that costs"),
        Command("rebuild", "indexing", "read every file again"),
    ),
}
"""The commands grouped by purpose; `--help` and docs/commands.md follow this order."""

COMMANDS = tuple(command for commands in SECTIONS.values() for command in commands)

ALIASES = {"store": "add"}
"""Other names of commands."""

OTHER_NAMES = {
    "observation": "add", "remember": "add", "save": "add", "memory-search": "search", "memory-get": "get",
    "memory-read": "get", "memory-timeline": "timeline", "memory-update": "update", "memory-admin": "status",
    "--agent-context": "agent-context",
}  # fmt: skip
"""What other programs (LLMemory, agmem, OpenCodeKit) call our commands; they work, and no help names them."""

_AS_WORDS = "give it as a word, without an option"
OTHER_OPTIONS = {
    **dict.fromkeys(
        ("--id", "--ids", "--ref", "--anchor", "--anchor-id", "--query", "--text"), _AS_WORDS
    ),
    **dict.fromkeys(
        ("--content", "--narrative", "--body"), "give the text as words, in quotes, or pipe it in"
    ),
    **dict.fromkeys(("--top-k", "--max-results", "--count"), "did you mean --limit?"),
    "--db": "an index lies in a home: --home DIR",
    "--agent-context": "it is a command: vault-index agent-context",
    "--files": "did you mean --files-modified?",
    "--tag": "did you mean --tags?",
}
"""What to say to those who use options of these programs."""

WITHOUT_SOURCE = frozenset(
    {
        "config path", "agent install", "agent uninstall", "agent status", "agent hook", "opencode wake",
        "agent-context", "completions", "status", "doctor", "logs", "service install", "service uninstall",
        "service status", "service restart", "service logs", "watch", "open", "serve", "embed", "rebuild",
        "source remove", "forget", "token add", "token list", "token revoke",
    }
)  # fmt: skip
"""Commands that concern all sources, or none: they do not take `--source`; that of `token add`
is its own, which takes several."""

GROUPS = {
    "config": "read and change settings",
    "source": "list, add and remove vaults",
    "service": "have systemd or launchd run the daemon",
    "agent": "connect Claude Code, Codex, Gemini CLI and OpenCode: memory tools, recall, capture",
    "token": "let others ask over the network: make, list and revoke what they show (serve)",
    "opencode": "what the plugin for OpenCode calls",
}
"""First words of commands of two words."""
