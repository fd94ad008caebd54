// For other plugins: import { search, store, extractRemember } from "./vault-index/api.ts"
// All of them throw an Error that says what went wrong.

import { ask, type Params } from "./link.ts"

const READ_MS = 20_000
const WRITE_MS = 60_000

/** Finds passages; options as of `vault-index search`, in snake_case. The answer is that of `search --json`. */
export async function search(query: string, options: Params = {}): Promise<any> {
  return await ask("search", { directory: process.cwd(), ...options, query }, { within: READ_MS })
}

/** Stores a memory; options as of `vault-index add`. The answer is that of `add --json`. */
export async function store(text: string, options: Params = {}): Promise<any> {
  return await ask("add", { entered_by: "opencode", directory: process.cwd(), ...options, text }, { within: WRITE_MS })
}

/** The `*Remember*: …` of a text with their types, tags and dates; nothing is stored, unless `{ dry_run: false }`.
 * `agentName` is the author; `currentTask` is accepted and not stored. */
export async function extractRemember(text: string, given: Params = {}): Promise<any> {
  // Callers of OpenCodeKit's function name the agent and its task; a memory keeps the agent.
  const { agentName, currentTask, ...options } = given
  const here = { by: agentName || "opencode", directory: process.cwd() }
  return await ask("capture", { ...here, dry_run: true, ...options, text }, { within: WRITE_MS })
}
