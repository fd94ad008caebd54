// The tools an agent is offered. Arguments are checked here: OpenCode does not.

import { basename } from "node:path"
import { FIELDS, FILTERS } from "./fields.ts"
import { Fault, told } from "./guard.ts"
import { type Params, ask } from "./link.ts"

const READ_MS = 20_000
const WRITE_MS = 60_000

export interface Schema {
  type: "string" | "integer" | "boolean" | "array"
  description: string
  enum?: string[]
  minimum?: number
  maximum?: number
  items?: { type: "string" }
}

interface Kind {
  method: string
  description: string
  args: Record<string, Schema>
  /** Those of which one must be given. */
  needs: string[]
  format: "toon" | "markdown"
  within: number
}

interface Context {
  sessionID: string
  agent?: string
  directory?: string
  worktree?: string
  abort?: AbortSignal
}

export interface Tool {
  description: string
  args: Record<string, Schema>
  execute(args: unknown, context: Context): Promise<string>
}

const text = (description: string, choices?: string[]): Schema =>
  choices ? { type: "string", description, enum: choices } : { type: "string", description }
const list = (description: string): Schema => ({ type: "array", items: { type: "string" }, description })
const flag = (description: string): Schema => ({ type: "boolean", description })
const number = (description: string, minimum: number, maximum: number): Schema => ({
  type: "integer",
  description,
  minimum,
  maximum,
})

const REF = "id (or its beginning), path, `path:10-42` or [[Note#Heading]]"

const { any_tag: _anyTag, path: PATH, entered_by: ENTERED_BY, ...LISTED } = FILTERS

/** Who enters a memory is known (`author`); what its tags are told depends on the tool. */
const { tags: _tags, entered_by: _author, ...fields } = FIELDS
const MEMORY = { ...fields, files: list("the same as files_read") }

const KINDS: Record<string, Kind> = {
  memory_search: {
    method: "search",
    description:
      "Search notes, memories and past sessions. Use before answering about earlier work, decisions or preferences. " +
      "Gives one short line per hit; read a hit with memory_get.",
    args: {
      query: text('what to look for: a question or words; "exact phrase", -word, tag:x, path:x are understood'),
      limit: number("the most hits (10)", 1, 50),
      offset: number("hits to skip", 0, 10_000),
      ...LISTED,
      path: text(PATH.description),
      entered_by: ENTERED_BY,
    },
    needs: ["query"],
    format: "toon",
    within: READ_MS,
  },
  memory_get: {
    method: "get",
    description: "Read documents, or lines of them, that memory_search found.",
    args: {
      ref: list(REF),
      max_tokens: number("the most tokens; the answer names a reference to go on with", 50, 20_000),
      full: flag("with all metadata"),
    },
    needs: ["ref"],
    format: "markdown",
    within: READ_MS,
  },
  memory_timeline: {
    method: "timeline",
    description: "What was created before and after a document: use to see what led to it and what followed.",
    args: {
      ref: text(`the document: ${REF}`),
      query: text("or: take the best hit of this query"),
      depth_before: number("how many before (5)", 0, 50),
      depth_after: number("how many after (5)", 0, 50),
      kind: FILTERS.kind,
      type: FILTERS.type,
      project: FILTERS.project,
    },
    needs: ["ref", "query"],
    format: "toon",
    within: READ_MS,
  },
  memory_recall: {
    method: "recall",
    description: "One block of what is known for a task, within a budget. Use when a new task begins.",
    args: {
      query: text("the task or question"),
      project: text("the project: its folder or name (this one, unless said)"),
      budget: number("the most tokens", 100, 8000),
    },
    needs: ["query"],
    format: "markdown",
    within: READ_MS,
  },
  memory_store: {
    method: "add",
    description:
      "Store one thing worth knowing later: a decision and its reason, a preference, a finding, a fix. Whole " +
      "sentences that stand alone. What is known already is not stored twice.",
    args: {
      content: text("the text, markdown"),
      narrative: text("the same as content"),
      path: text("a name in the memory folder, as handoffs/2026-01-01"),
      tags: list("its tags"),
      ...MEMORY,
    },
    needs: ["content", "narrative", "title"],
    format: "toon",
    within: WRITE_MS,
  },
  memory_update: {
    method: "update",
    description: "Change a memory that is wrong or incomplete; only what is named changes.",
    args: {
      ref: text("the memory: its id or path"),
      content: text("the new text"),
      narrative: text("the same as content"),
      append: flag("put the text after what is there"),
      section: text("change only what stands under this heading"),
      tags: list("its tags, instead of the old ones"),
      add_tags: list("more tags"),
      remove_tags: list("tags it loses"),
      ...MEMORY,
    },
    needs: ["ref"],
    format: "toon",
    within: WRITE_MS,
  },
  memory_delete: {
    method: "delete",
    description: "Move memories to the trash of the vault. Use only when the user asks for it.",
    args: { ref: list("ids or paths of memories") },
    needs: ["ref"],
    format: "toon",
    within: WRITE_MS,
  },
  memory_list: {
    method: "list",
    description: "List documents, newest first: use to see what there is, not to find something.",
    args: {
      ...LISTED,
      sort: text("by what", ["created", "updated", "access", "expires", "title"]),
      limit: number("the most (20)", 1, 100),
      offset: number("how many to skip", 0, 100_000),
    },
    needs: [],
    format: "toon",
    within: READ_MS,
  },
}

export const tools: Record<string, Tool> = Object.fromEntries(
  Object.entries(KINDS).map(([name, kind]) => [name, tool(kind)]),
)

/** The arguments that must be given; OpenCode would have the model give every one. */
export function required(name: string): string[] | undefined {
  const needs = KINDS[name]?.needs
  return needs && (needs.length === 1 ? needs : [])
}

function tool(kind: Kind): Tool {
  return {
    description: kind.description,
    args: kind.args,
    // A tool that throws shows OpenCode a stack; an agent needs the reason and what to do.
    async execute(args, context) {
      try {
        const params = named(kind, checked(kind, args), context)
        const { format, within } = kind
        return String(await ask(kind.method, params, { format, within, signal: context.abort }))
      } catch (error) {
        return `Error: ${told(error)}`
      }
    },
  }
}

/** The arguments, those that are empty left out. Throws a Fault for what the schema does not allow. */
export function checked(kind: Pick<Kind, "args" | "needs">, given: unknown): Params {
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw new Fault("arguments must be an object")
  const params: Params = {}
  for (const [name, value] of Object.entries(given)) {
    const schema = Object.hasOwn(kind.args, name) ? kind.args[name] : undefined
    if (!schema) throw new Fault(`there is no argument ${name}`, `there are: ${Object.keys(kind.args).join(", ")}`)
    if (value !== undefined && value !== null) params[name] = valid(name, schema, value)
  }
  const empty = (name: string) => params[name] === undefined || String(params[name]).trim() === ""
  if (kind.needs.length && kind.needs.every(empty)) throw new Fault(`${kind.needs.join(" or ")} is missing`)
  return params
}

function valid(name: string, schema: Schema, value: unknown): unknown {
  switch (schema.type) {
    case "string":
      if (typeof value !== "string") throw new Fault(`${name} must be text`)
      if (schema.enum && !schema.enum.includes(value)) throw new Fault(`${name} must be one of ${schema.enum.join(", ")}`)
      return value
    case "boolean":
      if (typeof value !== "boolean") throw new Fault(`${name} must be true or false`)
      return value
    case "integer":
      if (typeof value !== "number" || !Number.isInteger(value)) throw new Fault(`${name} must be a whole number`)
      if (value < (schema.minimum ?? value) || value > (schema.maximum ?? value))
        throw new Fault(`${name} must be from ${schema.minimum} to ${schema.maximum}`)
      return value
    case "array":
      if (typeof value === "string") return value
      if (!Array.isArray(value) || value.some((item) => typeof item !== "string"))
        throw new Fault(`${name} must be a list of texts`)
      return value
  }
}

/** The parameters as the method names them: other programs' names of ours, who writes, and where it is asked. */
function named(kind: Kind, params: Params, context: Context): Params {
  const { content, narrative, files, entered_by, ...rest } = params
  const words = content ?? narrative
  if (files !== undefined) rest.files_read ??= files
  if (entered_by !== undefined) rest.by = entered_by // a daemon of an earlier version knows no other name
  switch (kind.method) {
    case "add":
      return { entered_by: author(context), ...rest, text: words ?? "" }
    case "update":
      return words === undefined ? rest : { ...rest, content: words }
    case "recall":
      return { project: context.directory, ...rest, directory: context.directory }
    case "search":
      return { ...rest, directory: context.directory }
    case "timeline":
      return rest.query === undefined ? rest : { ...rest, directory: context.directory }
    default:
      return rest
  }
}

/** Who says so: the agent, as OpenCode calls it. */
export const author = (context: { agent?: string }): string =>
  context.agent ? `opencode/${basename(context.agent)}` : "opencode"
