"""Run tool calls, from arguments to answers; every failure is a VaultIndexError."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vault_index.errors import NotFoundError, UsageError, VaultIndexError, did_you_mean
from vault_index.mcp_server.budget import (
    BETWEEN,
    Answer,
    Page,
    Text,
    cut_records,
    cut_texts,
    cut_timeline,
    page,
    place_of,
)
from vault_index.mcp_server.tools import HUMP, TOOLS, Tool, in_words_of_tools

Ask = Callable[[str, Mapping[str, Any]], dict[str, Any]]
"""Runs a method with its parameters: through a daemon, in one, or in this process."""

MAX_TOKENS = 5000
"""The default of `max_tokens`."""

_HITS = 10
"""The default `limit` of search and review; a list fills `max_tokens`."""

_LEAST_ROW = 10  # minimum tokens of a document in a list

_NAMED = 10
"""Maximum number of memories that a question names."""
_LONGEST_NAME = 120

_OBSERVATION = ("narrative", "files")
"""Arguments of OpenCodeKit's tool, whose facts are one text with commas."""

_OTHER_TOOLS = {
    **dict.fromkeys(("observation", "add", "remember", "save", "create"), "memory_store"),
    "read": "memory_get",
    "find": "memory_search",
}
"""Names of our tools in OpenCodeKit and others, without `memory_`."""
_NO_TOOLS = {
    "memory_admin": "run in a shell: vault-index status, vault-index import or vault-index prune"
}


class Toolbox:
    """Runs calls of these tools; safe for several threads.

    `source` is the default of that argument.
    """

    def __init__(self, tools: Sequence[Tool], ask: Ask, source: str | None = None) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._ask_backend = ask
        self._source = source

    def call(
        self,
        name: str,
        given: Mapping[str, Any],
        client: str = "",
        folders: Sequence[str] = (),
        **more: Any,
    ) -> Page:
        """Run a tool and return its answer.

        `client` is the default author of a memory, `folders` are the client's folders, and `more`
        are defaults of `memory_recall`. Raises VaultIndexError with a hint that names tools.
        """
        try:
            return self._called(_tool_called(name, self._tools), given, client, folders, more)
        except VaultIndexError as error:
            error.hint = in_words_of_tools(error.hint)
            raise

    @property
    def writes(self) -> bool:
        """Whether any tool writes."""
        return not all(tool.read_only for tool in self._tools.values())

    def question(self, name: str, given: Mapping[str, Any]) -> str:
        """Return the question to the user before a deleting call.

        Empty for others, and for invalid calls.
        """
        try:
            args = (tool := _tool_called(name, self._tools)).checked(given)
        except UsageError:
            return ""
        if not args.get("ref") or (tool.method != "delete" and args.get("action") != "delete"):
            return ""
        refs = [args["ref"]] if isinstance(args["ref"], str) else args["ref"]
        where = {} if self._source is None else {"source": self._source}
        named = [self._named({**where, **args, "ref": ref}) for ref in refs]
        more = [f"and {len(named) - _NAMED} more"] if len(named) > _NAMED else []
        if tool.method == "review":
            end = "Memories go to the trash; sessions are forgotten for good."
        else:
            end = (
                "This cannot be undone."
                if args.get("permanent")
                else "They go to the trash of their source."
            )
        return "\n".join((f"Delete {len(named)} of your memories?", *named[:_NAMED], *more, end))

    def _named(self, args: Mapping[str, Any]) -> str:
        """Return title and path of a memory, or the reference if it is not found.

        In one line, because notes and agents may contain anything.
        """
        of_history = {name: args[name] for name in ("ref", "source") if name in args}
        try:
            memory = self._ask_backend("history", {**of_history, "limit": 1})
            told = f"{memory['title'][:_LONGEST_NAME]} ({memory['path']})"
        except (NotFoundError, UsageError):
            told = args["ref"][:_LONGEST_NAME]
        return f"- {' '.join(told.split())}"

    def _called(
        self,
        tool: Tool,
        given: Mapping[str, Any],
        client: str,
        folders: Sequence[str],
        more: Mapping[str, Any],
    ) -> Page:
        args = tool.checked(given)
        if folders:
            args |= _typed_in(tool.method, list(folders), more.get("session"), asks="query" in args)
        if tool.method == "recall":
            args = {**more, **args}
        if self._source is not None:
            args.setdefault("source", self._source)
        if isinstance(args.get("facts"), str) and not given.keys().isdisjoint(_OBSERVATION):
            args["facts"] = [fact.strip() for fact in args["facts"].split(",")]
        if tool.method == "add":
            args = {**({"entered_by": client} if client else {}), "text": "", **args}
        if tool.method == "update":
            if args.pop("mode", "") == "append":
                args["append"] = True
            if not args.get("content", "x") and "section" not in args:
                # An empty default from the model, because no agent empties a memory.
                del args["content"]
            args["allow_empty"] = True  # for a section
        if client and tool.method in ("update", "delete", "review"):
            args["client"] = client
        answers: dict[str, Callable[[str, dict[str, Any]], Page]] = {
            "search": self._records, "list": self._list, "review": self._review,
            "timeline": self._timeline, "get": self._get,
        }  # fmt: skip
        return answers.get(tool.method, self._whole)(tool.method, args)

    def _review(self, method: str, args: dict[str, Any]) -> Page:
        """Return the list.

        With an action and a reference, decide instead, without the list's limits.
        """
        if args.keys().isdisjoint(("action", "ref")):
            return self._records(
                method, {name: value for name, value in args.items() if name != "client"}
            )
        if not {"action", "ref"} <= args.keys():
            raise UsageError(
                "to decide, memory_review needs action and ref",
                "pass both; to list the items, pass neither",
            )
        of_list = ("reason", "project", "limit", "offset", "max_tokens", "cursor")
        return self._whole(
            "decide", {name: value for name, value in args.items() if name not in of_list}
        )

    def _list(self, method: str, args: dict[str, Any]) -> Page:
        """List documents; with `touched` or `summary` list sessions or their work."""
        of_sessions = {"file": args.pop("touched", ""), "summary": args.pop("summary", False)}
        if not any(of_sessions.values()):
            return self._records(method, args)
        if (kind := args.pop("kind", "session")) not in ("session", ["session"]):
            raise UsageError(f"touched and summary need kind session, not {kind}", "omit kind")
        since = {"since": args.pop("after")} if "after" in args else {}
        wanted = {name: value for name, value in of_sessions.items() if value}
        return self._records("sessions", {**args, **wanted, **since})

    def _whole(self, method: str, args: dict[str, Any]) -> Page:
        return page(method, self._ask(method, args))

    def _records(self, method: str, args: dict[str, Any]) -> Page:
        budget, cursor = _bounds(args)
        if cursor is not None:
            args["offset"] = _number(cursor)
        limit = args.get("limit", budget // _LEAST_ROW + 1 if method == "list" else _HITS)
        # One more detects a next page; the method refuses other limits.
        answer = self._ask(method, {**args, "limit": limit + int(limit > 0)})
        return cut_records(method, answer, offset=args.get("offset", 0), limit=limit, budget=budget)

    def _timeline(self, method: str, args: dict[str, Any]) -> Page:
        budget, cursor = _bounds(args)
        before, _, after = (cursor or "0,0").partition(",")
        return cut_timeline(
            self._ask(method, args), shown=(_number(before), _number(after)), budget=budget
        )

    def _get(self, method: str, args: dict[str, Any]) -> Page:
        budget, cursor = _bounds(args)
        places = args.pop("ref", [])
        if cursor is not None:
            places = cursor.split(BETWEEN)
            args.pop("neighbors", None)  # the cursor already includes them
        places = [places] if isinstance(places, str) else places
        texts: list[Text] = []
        failed: list[Answer] = []
        for number, place in enumerate(places):
            ref, skip = place_of(place)
            try:
                [text] = self._ask(method, {**args, "ref": ref, "max_tokens": budget})["results"]
            except VaultIndexError as error:
                failed.append(
                    {
                        "position": ref,
                        "error": error.message,
                        "hint": in_words_of_tools(error.hint),
                    }
                )
                if len(failed) == len(places):
                    raise
                continue
            texts.append(Text(text, skip, places[number + 1 :]))
            if text["next"]:  # it fills the budget
                break
        return cut_texts(texts, failed, budget)

    def _ask(self, method: str, args: Mapping[str, Any]) -> dict[str, Any]:
        answer = self._ask_backend(method, args)
        for failed in answer.get("failed", ()):
            failed["hint"] = in_words_of_tools(failed["hint"])
        if "question" in answer:
            answer["question"] = in_words_of_tools(answer["question"])
        return answer


def _tool_called(name: str, tools: Mapping[str, Tool]) -> Tool:
    """Return the tool with this name, or with another program's name for it. Raises UsageError."""
    written = HUMP.sub("_", name).lower().replace("-", "_")
    short = written.removeprefix("memory_")
    if tool := tools.get(_OTHER_TOOLS.get(short, f"memory_{short}")):
        return tool
    there_are = did_you_mean(written, tools, f"the tools are {', '.join(tools)}")
    raise UsageError(f"there is no tool {name!r}", _NO_TOOLS.get(written, there_are))


def answer_tool(ask: Ask, params: Mapping[str, Any]) -> str:
    """Run one tool call of the OpenCode plugin and return its text.

    `params` are `name`, `arguments`, `entered_by`, `directory` and `session`. Raises
    VaultIndexError.
    """
    name, given = params.get("name"), params.get("arguments") or {}
    if not isinstance(name, str) or not isinstance(given, dict):
        raise UsageError(
            "a call needs the name of a tool and an object of arguments", "give name and arguments"
        )
    client, directory, session = (
        str(params.get(key) or "") for key in ("entered_by", "directory", "session")
    )
    more = {"project": directory or None, "session": session or None}
    return (
        Toolbox(TOOLS, ask).call(name, given, client, [directory] if directory else [], **more).text
    )


def _typed_in(
    method: str, folders: list[str], session: str | None, *, asks: bool
) -> dict[str, Any]:
    """Return the arguments for the origin of a call. MCP clients do not name their session."""
    if method in ("add", "update"):
        return {"directory": folders, **({"session": session} if session else {})}
    asking = "session" if method == "recall" else "exclude_session"
    return (
        {"directory": folders, asking: session or "current"}
        if asks or method in ("search", "recall")
        else {}
    )


def _bounds(args: dict[str, Any]) -> tuple[int, str | None]:
    """Remove `max_tokens` and the cursor from the arguments and return them."""
    budget = args.pop("max_tokens", MAX_TOKENS)
    if budget < 1:
        raise UsageError(
            f"max_tokens must be at least 1, not {budget}",
            f"omit it for the default ({MAX_TOKENS})",
        )
    return budget, args.pop("cursor", None) or None


def _number(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdigit()):
        raise UsageError(f"{cursor!r} is not a cursor of this tool", "start again without it")
    return int(cursor[:9])
