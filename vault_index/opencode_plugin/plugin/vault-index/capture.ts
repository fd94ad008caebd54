// Sends messages to `capture`, which extracts memories and stores them as `agents.capture` says.

import { type Heard, bounded, sayOnce, shared, told } from "./guard.ts"
import { ask } from "./link.ts"

const LONGEST_TEXT = 1_000_000
const SEND_MS = 20_000
const MOST_SEEN = 2000

/** Keeps a text until the session is idle. Repeated events of the same part are ignored. */
export function hear(session: string, part: string, heard: Heard): void {
  if (shared.seen.has(part)) return
  if (shared.seen.size > MOST_SEEN) shared.seen.clear()
  shared.seen.add(part)
  if (!heard.text.trim()) return
  shared.heard.set(session, [...(shared.heard.get(session) ?? []), heard])
}

/** Sends the texts of a session so far; returns at once. */
export function send(session: string): void {
  const heard = shared.heard.get(session) ?? []
  shared.heard.delete(session)
  for (const [key, texts] of grouped(heard)) {
    const first = texts[0]
    if (!first || !key) continue
    const sending = capture(session, first, texts.map((one) => one.text).join("\n\n"))
      .catch((error: unknown) => sayOnce("capture", `vault-index: nothing was captured: ${told(error)}`))
      .finally(() => shared.sending.delete(sending))
    shared.sending.add(sending)
  }
}

/** Sends the texts of every session and waits for the answers, at most as long as a hook may. */
export async function sendAll(): Promise<void> {
  for (const session of [...shared.heard.keys()]) send(session)
  await bounded(() => Promise.all(shared.sending), [])
}

async function capture(session: string, from: Heard, text: string): Promise<void> {
  await ask(
    "capture",
    {
      text: text.slice(0, LONGEST_TEXT),
      by: from.by,
      project: from.project,
      session,
      statements: from.role === "user",
      auto: true,
    },
    { within: SEND_MS, outlive: true },
  )
}

/** Groups texts of the same speaker, which are sent in one request. */
function grouped(heard: Heard[]): Map<string, Heard[]> {
  const groups = new Map<string, Heard[]>()
  for (const one of heard) {
    const key = `${one.role} ${one.by} ${one.project}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return groups
}
