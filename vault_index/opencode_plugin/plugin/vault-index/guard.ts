// Protects OpenCode from our failures: all work has a time limit, and an error is logged once in
// OpenCode's log.

/** How long a hook may keep OpenCode waiting. */
export const HOOK_MS = 1000
const GRACE_MS = 30

/** State shared by both copies of the plugin (user and project), so that no work is done twice. */
interface Shared {
  said: Set<string>
  log: Log | undefined
  /** When a daemon was last asked to start. */
  wokenAt: number
  /** Until this time, a daemon that hangs gets no requests. */
  hungUntil: number
  recalls: Map<string, Promise<string>>
  /** The recalled text in the requests of a session, fixed with the first one. */
  settled: Map<string, string>
  /** Sessions with a file for their text; deleting a document in the text removes the file. */
  kept: Set<string>
  /** The parent of a session, or "", as far as it was requested. */
  parents: Map<string, Promise<string>>
  compacting: Set<string>
  heard: Map<string, Heard[]>
  /** The last messages of the user, the newest first, by session. */
  asked: Map<string, string[]>
  seen: Set<string>
  sending: Set<Promise<unknown>>
}

/** A text that may contain memories. */
export interface Heard {
  role: "user" | "assistant"
  by: string
  project: string
  text: string
}

export type Log = (level: "info" | "warn", message: string) => unknown

const KEY = Symbol.for("vault-index.opencode.2")
const world = globalThis as unknown as Record<symbol, Shared | undefined>

export const shared: Shared = (world[KEY] ??= {
  said: new Set(),
  log: undefined,
  wokenAt: 0,
  hungUntil: 0,
  recalls: new Map(),
  settled: new Map(),
  kept: new Set(),
  parents: new Map(),
  compacting: new Set(),
  heard: new Map(),
  asked: new Map(),
  seen: new Set(),
  sending: new Set(),
})

/** Returns the session and its parent, as `session` of a request: recall leaves both out. The index
 * may not know yet which session is the parent. */
export const asking = async (session: string): Promise<string> =>
  [session, await shared.parents.get(session)].filter(Boolean).join(",")

/** An error with a message for an agent or a log. */
export class Fault extends Error {
  constructor(
    message: string,
    readonly hint = "",
    /** Whether there was no answer, so that the command can be used instead. */
    readonly unreachable = false,
  ) {
    super(message)
  }
}

export const told = (error: unknown): string =>
  error instanceof Fault && error.hint ? `${error.message}; ${error.hint}` : String((error as Error)?.message ?? error)

/** Logs a warning in OpenCode, once for each value of `what`. */
export function sayOnce(what: string, message: string): void {
  if (shared.said.has(what)) return
  shared.said.add(what)
  try {
    void Promise.resolve(shared.log?.("warn", message)).catch(() => {})
  } catch {
    // Ignore errors of the log.
  }
}

/** Calls `act` after `ms`, unless the returned function is called. OpenCode may block for seconds:
 * in the grace period, answers that have arrived are read first. */
export function after(ms: number, act: () => void): () => void {
  let timer = setTimeout(() => {
    timer = setTimeout(act, GRACE_MS)
  }, ms - GRACE_MS)
  return () => clearTimeout(timer)
}

/** Returns the value, or `otherwise` if the work fails or takes longer than `ms`; never throws. */
export async function bounded<T>(work: () => Promise<T> | T, otherwise: T, ms = HOOK_MS): Promise<T> {
  let inTime = () => {}
  const late = new Promise<T>((resolve) => {
    inTime = after(ms, () => {
      sayOnce("late", `vault-index: no answer within ${ms} ms; going on without`)
      resolve(otherwise)
    })
  })
  const done = (async () => work())().catch((error: unknown) => {
    sayOnce("failed", `vault-index: ${told(error)}; going on without`)
    return otherwise
  })
  return Promise.race([done, late]).finally(inTime)
}
