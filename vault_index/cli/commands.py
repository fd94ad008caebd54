"""The commands there are; the module of each is imported when it is used."""

from typing import NamedTuple


class Command(NamedTuple):
    """A command of one or two words; `module` of this package has `add_<words>(parser)` and `run_<words>(…)`."""

    name: str
    module: str
    summary: str


COMMANDS = (
    Command("init", "init", "set up: write the configuration, index a vault"),
    Command("sync", "indexing", "bring the index up to date once"),
    Command("rebuild", "indexing", "read every file again"),
    Command("embed", "indexing", "fill or renew the vectors, or say what that costs"),
    Command("watch", "watch", "keep the index up to date and answer queries (the daemon)"),
    Command("mcp", "mcp", "offer the memory tools to MCP clients"),
    Command("search", "search", "find passages"),
    Command("why", "search", "say why a passage is found, or why not"),
    Command("get", "search", "print documents or parts of them"),
    Command("related", "related", "find documents that are linked with one, or near it in meaning"),
    Command("timeline", "related", "list what was created before and after a document"),
    Command("list", "listing", "list documents"),
    Command("recall", "recall", "print what an agent should know of a project and a question"),
    Command("add", "memories", "store a memory (also: store)"),
    Command("update", "memories", "change a memory"),
    Command("delete", "memories", "move memories to the trash"),
    Command("prune", "memories", "move expired memories to the trash"),
    Command("capture", "memories", "take what is marked *Remember*: out of a text"),
    Command("export", "transfer", "write the memories to a JSON file or a folder"),
    Command("import", "transfer", "store memories of an export or of another program"),
    Command("tags", "listing", "list tags and how often they occur"),
    Command("stats", "listing", "count what there is"),
    Command("status", "listing", "say how the index, the daemon and the embedder are doing"),
    Command("doctor", "doctor", "say what is wrong, and which notes are hard to find"),
    Command("logs", "logs", "print the daemon's log"),
    Command("agent-context", "recall", "print a guide for agents"),
    Command("completions", "completions", "print the completions of a shell"),
    Command("config get", "settings", "print one setting"),
    Command("config set", "settings", "change one setting"),
    Command("config list", "settings", "print every setting"),
    Command("config delete", "settings", "put one setting back to its default"),
    Command("config path", "settings", "print where the configuration file is"),
    Command("source list", "sources", "list the sources"),
    Command("source add", "sources", "add a vault"),
    Command("source remove", "sources", "forget a vault; its files stay"),
    Command("service install", "service", "have systemd or launchd run the daemon from now on"),
    Command("service uninstall", "service", "stop it and remove the service"),
    Command("service status", "service", "say whether the service runs, and what the daemon says"),
    Command("service restart", "service", "restart the daemon, as after an upgrade"),
    Command("service logs", "service", "print the daemon's log"),
    Command("opencode install", "opencode", "put the plugin for OpenCode in place"),
    Command("opencode uninstall", "opencode", "take the plugin away"),
    Command("opencode status", "opencode", "say where the plugin is, and how"),
    Command("opencode wake", "opencode", "start the daemon, or bring the index up to date: what the plugin calls"),
)

ALIASES = {"store": "add"}
"""Other names of commands."""

GROUPS = {
    "config": "read and change the settings",
    "source": "the vaults that are indexed",
    "service": "the daemon under systemd or launchd",
    "opencode": "the plugin for OpenCode: recall, memory tools, capture",
}
"""First words of commands of two words."""
