// For other plugins: import { search, store, extractRemember } from "./vault-index/api.ts"
// Every function throws an Error with the reason of a failure.

import { ask, type Params } from "./link.ts"

const READ_MS = 20_000
const WRITE_MS = 60_000

/** Finds passages, with the options of `vault-index search` in snake_case; returns the answer of
 * `search --json`. */
export async function search(query: string, options: Params = {}): Promise<any> {
  return await ask("search", { directory: process.cwd(), ...options, query }, { within: READ_MS })
}

/** Stores a memory, with the options of `vault-index add`; returns the answer of `add --json`. */
export async function store(text: string, options: Params = {}): Promise<any> {
  return await ask("add", { entered_by: "opencode", directory: process.cwd(), ...options, text }, { within: WRITE_MS })
}

/** Returns each `*Remember*: …` in a text with its type, tags and dates. They are stored only with
 * `{ dry_run: false }`. `agentName` is the author; `currentTask` is accepted and ignored. */
export async function extractRemember(text: string, given: Params = {}): Promise<any> {
  // OpenCodeKit's function has the same parameters; a memory only has the agent.
  const { agentName, currentTask, ...options } = given
  const here = { by: agentName || "opencode", directory: process.cwd() }
  return await ask("capture", { ...here, dry_run: true, ...options, text }, { within: WRITE_MS })
}
