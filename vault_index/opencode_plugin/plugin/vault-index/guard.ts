// What keeps OpenCode safe from us: everything is bounded in time, and what fails is said once, in OpenCode's log.

/** How long a hook may keep OpenCode waiting. */
export const HOOK_MS = 1000
const GRACE_MS = 30

/** Shared by two copies of the plugin (one for all projects, one in this project), so that neither does a thing twice. */
interface Shared {
  said: Set<string>
  log: Log | undefined
  /** When a daemon was last asked to start. */
  wokenAt: number
  /** Until when the daemon, which hangs, is not asked. */
  hungUntil: number
  recalls: Map<string, Promise<string>>
  /** What a session's requests carry, once its first one went out. */
  settled: Map<string, string>
  /** Sessions whose text lies in a file: the file goes when something in it was deleted. */
  kept: Set<string>
  /** The session that began each, or "", as far as it was asked for. */
  parents: Map<string, Promise<string>>
  compacting: Set<string>
  heard: Map<string, Heard[]>
  /** The last messages of the user, the newest first, by session. */
  asked: Map<string, string[]>
  seen: Set<string>
  sending: Set<Promise<unknown>>
}

/** A text that may hold something worth keeping. */
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

/** A session that asks, and the one that began it, which the index may not know yet: they are not told of themselves. */
export const asking = async (session: string): Promise<string> =>
  [session, await shared.parents.get(session)].filter(Boolean).join(",")

/** Something went wrong in a way that an agent or a log can be told. */
export class Fault extends Error {
  constructor(
    message: string,
    readonly hint = "",
    /** Whether nobody answered, so that the command may be asked instead. */
    readonly unreachable = false,
  ) {
    super(message)
  }
}

export const told = (error: unknown): string =>
  error instanceof Fault && error.hint ? `${error.message}; ${error.hint}` : String((error as Error)?.message ?? error)

/** One line in OpenCode's log, the first time it is about `what`. */
export function sayOnce(what: string, message: string): void {
  if (shared.said.has(what)) return
  shared.said.add(what)
  try {
    void Promise.resolve(shared.log?.("warn", message)).catch(() => {})
  } catch {
    // A log that fails is no reason to fail.
  }
}

/** Calls `act` after `ms`, unless the returned function is called. OpenCode may block for seconds: what has arrived
 * meanwhile is read before time is up. */
export function after(ms: number, act: () => void): () => void {
  let timer = setTimeout(() => {
    timer = setTimeout(act, GRACE_MS)
  }, ms - GRACE_MS)
  return () => clearTimeout(timer)
}

/** The value, or `otherwise` when it fails or takes longer than `ms`; never throws. */
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
