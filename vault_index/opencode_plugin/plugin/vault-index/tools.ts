// The agent's tools are the MCP tools; vault-index answers the calls as it does for MCP clients.

import { basename } from "node:path"
import { TOOLS } from "./fields.ts"
import { asking, told } from "./guard.ts"
import { ask } from "./link.ts"

const READ_MS = 20_000
const WRITE_MS = 60_000

export interface Declared {
  description: string
  /** The required arguments; without this list, OpenCode requires all of them. */
  required: string[]
  writes: boolean
  /** The JSON schema of each argument. */
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
    // If a tool throws, OpenCode shows a stack trace; an agent needs the reason and the hint.
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

/** The author of a text: the agent, by its name in OpenCode. */
export const author = (context: { agent?: string }): string =>
  context.agent ? `opencode/${basename(context.agent)}` : "opencode"
