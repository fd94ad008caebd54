// Recalls text once, at the start of a session. It does not change, so prompt caches stay valid.

import { existsSync } from "node:fs"
import { mkdir, readdir, readFile, rename, stat, unlink, writeFile } from "node:fs/promises"
import { HOOK_MS, asking, bounded, sayOnce, shared, told } from "./guard.ts"
import { ask } from "./link.ts"
import { PLACE } from "./place.ts"

const LONGEST_QUERY = 2000
const KEPT_DAYS = 30
/** OpenCode does not wait this long: the recall runs while OpenCode prepares the first request. */
const RECALL_MS = 10_000
const SETTLE_MS = HOOK_MS - 100

/** Starts the recall of a session, once. A child session (`isChild`) gets no text, because its
 * parent did. */
export function beginRecall(session: string, project: string, query: string, isChild: Promise<boolean>): void {
  dropDeleted(session)
  if (!PLACE.state || shared.recalls.has(session)) return
  shared.settled.delete(session)
  const recall = recallOnce(session, project, query, isChild).catch((error: unknown) => {
    sayOnce("recall", `vault-index: recall failed: ${told(error)}`)
    return ""
  })
  shared.recalls.set(session, recall)
}

/** Returns the text for a session's requests; empty if there is none, or it was too late for the
 * first request. */
export async function settledRecall(session: string): Promise<string> {
  dropDeleted(session)
  const known = shared.settled.get(session)
  if (known !== undefined) return known
  const recall = shared.recalls.get(session)
  const text = recall ? await bounded(() => recall, "", SETTLE_MS) : ""
  if (!shared.settled.has(session)) shared.settled.set(session, text)
  return shared.settled.get(session) ?? ""
}

/** Drops a text if something it quotes was deleted; the next message starts another recall. */
function dropDeleted(session: string): void {
  const path = file(session)
  if (!path || !shared.kept.has(session) || existsSync(path)) return
  for (const known of [shared.kept, shared.recalls, shared.settled]) known.delete(session)
}

/** Returns the relevant memories for a query in a project folder; empty if none is relevant. */
export async function recallText(session: string, query: string, project: string): Promise<string> {
  const params = { query: query.slice(0, LONGEST_QUERY), project, session: await asking(session) }
  const answer = (await ask("recall", params, { within: RECALL_MS })) as Record<string, unknown>
  // `confidence` is about the query only: decisions of the project are useful even if the user
  // wrote "hi".
  return typeof answer.text === "string" ? answer.text.trim() : ""
}

async function recallOnce(session: string, project: string, query: string, isChild: Promise<boolean>): Promise<string> {
  const known = await read(session)
  if (known !== undefined) {
    shared.kept.add(session)
    return known
  }
  if (await isChild) return ""
  const text = await recallText(session, query, project)
  if (!shared.settled.has(session)) await keep(session, text).catch(() => {})
  return text
}

// --- files for sessions that are resumed in another process --------------------------------------

const folder = () => `${PLACE.state}/recalled`
const file = (session: string) => (/^[\w-]{1,100}$/.test(session) ? `${folder()}/${session}.txt` : undefined)

async function read(session: string): Promise<string | undefined> {
  const path = file(session)
  return path ? await readFile(path, "utf8").catch(() => undefined) : undefined
}

async function keep(session: string, text: string): Promise<void> {
  const path = file(session)
  if (!path) return
  await mkdir(folder(), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  await writeFile(draft, text, { mode: 0o600 })
  await rename(draft, path)
  shared.kept.add(session)
}

/** Deletes the files of sessions that were not used for a long time. */
export async function forgetOld(now = Date.now()): Promise<void> {
  for (const name of await readdir(folder()).catch(() => [])) {
    const path = `${folder()}/${name}`
    const age = await stat(path).then((found) => now - found.mtimeMs, () => 0)
    if (age > KEPT_DAYS * 86_400_000) await unlink(path).catch(() => {})
  }
}
