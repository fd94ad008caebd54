// Sends requests to the daemon's socket (docs/protocol.md, version 1), or runs the command if no
// daemon answers.

import { spawn } from "node:child_process"
import { existsSync, lstatSync, statSync } from "node:fs"
import { createConnection } from "node:net"
import { dirname } from "node:path"
import { after, Fault, sayOnce, shared } from "./guard.ts"
import { PLACE } from "./place.ts"

const PROTOCOL = 1
const MOST_ANSWER = 8 * 1024 * 1024
const WAKE_AGAIN_MS = 60_000
const GREETING_MS = 1000
/** After this long without data, a ping on a second connection checks the daemon. */
const LOOK_MS = 700
/** How long a daemon that hangs gets no requests. */
const HUNG_MS = 20_000
const READING = /^(search|recall|memory_(search|get|timeline|recall|list))$/

export type Params = Record<string, unknown>
export interface Asking {
  /** The time limit in milliseconds. */
  within: number
  /** Return a text in this `--format`; without it, return the object of `--json`. */
  format?: "toon" | "markdown"
  /** Let the command finish after `within`, even after OpenCode itself. */
  outlive?: boolean
  signal?: AbortSignal
}

/** Returns the answer of a method. Throws a Fault. */
export async function ask(method: string, params: Params, asking: Asking): Promise<unknown> {
  try {
    return await askDaemon(method, params, asking)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const outdated = /^there is no method 'tool'|has no parameter 'directory'$/.test(error.message)
    if (!error.unreachable && !outdated) throw error
    const why = outdated ? "the daemon is of an earlier version: restart it" : "no daemon answers"
    sayOnce("daemon", `vault-index: ${why}; using the command instead, which is slower`)
    wake()
    return await askCommand(method, params, asking)
  }
}

/** Runs the command that starts a daemon or updates the index, depending on `agents.start_daemon`;
 * does not wait. */
export function wake(): void {
  if (Date.now() - shared.wokenAt < WAKE_AGAIN_MS) return
  shared.wokenAt = Date.now()
  launch(["opencode", "wake", "--quiet"], { outlive: true, input: "" }).child.catch(() => {})
}

/** Starts the daemon unless it answers. */
export async function greet(within: number): Promise<void> {
  try {
    await askDaemon("ping", {}, { within })
  } catch {
    wake()
  }
}

/** Returns whether only this user can have created the socket: this user owns it and its folder,
 * and others cannot write to the folder. */
export function isOwnSocket(path: string, user = process.geteuid?.()): boolean {
  if (user === undefined) return true
  try {
    const folder = dirname(path)
    const socket = lstatSync(path)
    let place = lstatSync(folder)
    if (place.isSymbolicLink() && [0, user].includes(place.uid)) place = statSync(folder)
    return (
      place.isDirectory() && place.uid === user && (place.mode & 0o022) === 0 && socket.isSocket() && socket.uid === user
    )
  } catch {
    return false
  }
}

async function askDaemon(method: string, params: Params, asking: Asking): Promise<unknown> {
  if (!PLACE.socket) throw new Fault("no socket is known", "", true)
  if (Date.now() < shared.hungUntil || !isOwnSocket(PLACE.socket)) throw new Fault("the daemon does not answer", "", true)
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path: PLACE.socket })
    let greeted = false
    let over = false
    let received = ""
    let heard = () => {}
    const end = (act: () => void) => {
      over = true
      inTime()
      heard()
      asking.signal?.removeEventListener("abort", aborted)
      socket.destroy()
      act()
    }
    const fail = (message: string, unreachable = !greeted) =>
      end(() => reject(new Fault(message, "", unreachable)))
    const hung = (unreachable = true) => {
      if (!over) shared.hungUntil = Date.now() + HUNG_MS
      fail("the daemon does not answer", unreachable)
    }
    const listen = (ms: number) => {
      heard()
      if (!over) heard = after(ms, quiet)
    }
    const quiet = () => {
      if (!greeted) hung()
      else if (READING.test(String(method === "tool" ? params.name : method))) askDaemon("ping", {}, { within: LOOK_MS }).then(() => listen(LOOK_MS), () => hung())
    }
    const aborted = () => fail("interrupted", false)
    const inTime = after(asking.within, () =>
      greeted ? fail("the daemon did not answer in time", false) : hung(false),
    )
    listen(GREETING_MS)
    asking.signal?.addEventListener("abort", aborted)
    socket.setEncoding("utf8")
    socket.on("error", () => fail("the daemon does not answer"))
    socket.on("close", () => fail("the daemon stopped before it answered", true))
    socket.on("connect", () => {
      const request = { v: PROTOCOL, id: 1, method, params, format: asking.format ?? null }
      // A daemon that hangs and later continues finds the connection closed at the ping, and never
      // runs the request.
      const ping = { v: PROTOCOL, id: 0, method: "ping" }
      socket.write(`${JSON.stringify(ping)}\n${JSON.stringify(request)}\n`)
    })
    socket.on("data", (data: string) => {
      received += data
      if (received.length > MOST_ANSWER) return fail("the daemon's answer is too long", false)
      const lines = received.split("\n")
      received = lines.pop() ?? ""
      for (const line of lines) {
        try {
          const reply = finalReply(line)
          if (reply && greeted) return end(() => resolve(reply.answer))
          greeted = true
          listen(LOOK_MS)
        } catch (error) {
          return end(() => reject(error))
        }
      }
    })
  })
}

/** Returns the answer in a line of a reply, or undefined for a progress line. */
function finalReply(line: string): { answer: unknown } | undefined {
  const reply = object(parsed(line, "the daemon's answer"), "the daemon's answer")
  if ("progress" in reply) return undefined
  if ("error" in reply) throw faultOf(reply.error)
  if ("text" in reply) return { answer: String(reply.text) }
  if ("result" in reply) return { answer: object(reply.result, "the daemon's answer") }
  throw new Fault("the daemon's answer cannot be read")
}

async function askCommand(method: string, params: Params, asking: Asking): Promise<unknown> {
  const { directory, ...rest } = params
  const { words, input } = commandLine(method, rest)
  const args = [method === "tool" ? "mcp" : method, `--${asking.format ?? "json"}`, "--quiet", ...words]
  const { child, stop } = launch(args, { input, outlive: asking.outlive, directory, alone: true })
  const inTime = after(asking.within, stop)
  asking.signal?.addEventListener("abort", stop)
  try {
    const { code, stdout, stderr } = await child
    // 1: it failed for some of the items; the answer lists them.
    if (code === 0 || (code === 1 && stdout.trim())) {
      return asking.format ? stdout.replace(/\n$/, "") : object(parsed(stdout, "the command's answer"), "the command's answer")
    }
    throw code === null ? new Fault("the command did not answer in time") : commandFault(stderr, code)
  } finally {
    inTime()
    asking.signal?.removeEventListener("abort", stop)
  }
}

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

interface Given {
  input: string
  outlive?: boolean
  /** The working folder of the request; the command runs in it. */
  directory?: unknown
  /** The command must not use the daemon, which did not answer. */
  alone?: boolean
}

/** Runs the installed command, or else the one on PATH. */
function launch(args: string[], given: Given): { child: Promise<Ended>; stop: () => void } {
  let stopped = false
  let kill = () => {}
  const cwd = [given.directory].flat().map(String).find(existsSync)
  const env = given.alone ? { ...process.env, VAULT_INDEX_DAEMON: "off" } : process.env
  const run = (command: string[]) =>
    new Promise<Ended>((resolve, reject) => {
      const ended: Ended = { code: null, stdout: "", stderr: "" }
      const [file = "vault-index", ...options] = command
      const child = spawn(file, [...options, ...args], { cwd, env, stdio: "pipe", detached: given.outlive ?? false })
      kill = () => {
        if (given.outlive) resolve(ended)
        else child.kill("SIGKILL")
      }
      if (stopped) kill()
      if (given.outlive) child.unref()
      child.on("error", reject)
      child.stdout.setEncoding("utf8").on("data", (data: string) => void (ended.stdout += data))
      child.stderr.setEncoding("utf8").on("data", (data: string) => void (ended.stderr += data))
      child.on("close", (code) => resolve({ ...ended, code }))
      child.stdin.on("error", () => {})
      child.stdin.end(given.input)
    })
  const child = run(PLACE.command).catch(() => run(["vault-index", ...PLACE.command.slice(1)]))
  return {
    child: child.catch(() => {
      throw new Fault("the command vault-index is not there", "run `vault-index agent install opencode` again")
    }),
    stop: () => {
      stopped = true
      kill()
    },
  }
}

/** Converts the parameters of a method for its command: the text goes to stdin, the others become
 * options. */
export function commandLine(method: string, params: Params): { words: string[]; input: string } {
  if (method === "tool") return { words: ["--call"], input: JSON.stringify(params) }
  const options: string[] = []
  const places: string[] = []
  let input = ""
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === null || value === false) continue
    const option = `--${name.replaceAll("_", "-")}`
    if (name === "text" && (method === "add" || method === "capture")) input = String(value)
    else if (name === "query") places.push(String(value))
    else if (value === true) options.push(option)
    else if (name === "facts") options.push(...[value].flat().map((fact) => `${option}=${String(fact)}`))
    else options.push(`${option}=${[value].flat().join(",")}`)
  }
  return { words: places.length ? [...options, "--", ...places] : options, input }
}

function commandFault(stderr: string, code: number): Fault {
  try {
    return faultOf(object(JSON.parse(stderr.trim().split("\n").pop() ?? ""), "").error)
  } catch {
    const [message = "", hint = ""] = stderr.trim().split("\n")
    const said = message.replace(/^vault-index: error: /, "") || `the command ended with exit code ${code}`
    return new Fault(said, hint.replace(/^\s*hint: /, ""))
  }
}

function faultOf(error: unknown): Fault {
  const { message, hint } = object(error, "the daemon's answer")
  return new Fault(String(message ?? "it failed"), String(hint ?? ""))
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Fault(`${what} cannot be read`)
  }
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Fault(`${what} cannot be read`)
  return value as Record<string, unknown>
}
