// The tools an agent is offered: those of MCP, whose calls vault-index checks and answers as it does for MCP clients.

import { basename } from "node:path"
import { TOOLS } from "./fields.ts"
import { asking, told } from "./guard.ts"
import { ask } from "./link.ts"

const READ_MS = 20_000
const WRITE_MS = 60_000

export interface Declared {
  description: string
  /** The arguments that must be given; OpenCode would have the model give every one. */
  required: string[]
  writes: boolean
  /** The JSON schema of each. */
  args: Record<string, { type: string; description?: string; enum?: string[]; items?: { type: string } }>
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
  args: Declared["args"]
  execute(args: unknown, context: Context): Promise<string>
}

export const tools: Record<string, Tool> = Object.fromEntries(
  Object.entries(TOOLS).map(([name, declared]) => [name, tool(name, declared)]),
)

export const required = (name: string): string[] | undefined => TOOLS[name]?.required

function tool(name: string, { description, args, writes }: Declared): Tool {
  return {
    description,
    args,
    // A tool that throws shows OpenCode a stack; an agent needs the reason and what to do.
    async execute(given, context) {
      try {
        const { directory, sessionID } = context
        const session = await asking(sessionID)
        const params = { name, arguments: given, entered_by: author(context), directory, session }
        const within = writes ? WRITE_MS : READ_MS
        return String(await ask("tool", params, { format: "markdown", within, signal: context.abort }))
      } catch (error) {
        return `Error: ${told(error)}`
      }
    },
  }
}

/** Who says so: the agent, as OpenCode calls it. */
export const author = (context: { agent?: string }): string =>
  context.agent ? `opencode/${basename(context.agent)}` : "opencode"
