// Unit tests of the plugin, run by the Bun inside OpenCode, as the plugin itself is (test_units.py).

import { describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { bounded, shared } from "../../vault_index/opencode_plugin/plugin/vault-index/guard.ts"
import { ask, commandLine, isOwnSocket } from "../../vault_index/opencode_plugin/plugin/vault-index/link.ts"
import { PLACE } from "../../vault_index/opencode_plugin/plugin/vault-index/place.ts"
import { required, tools } from "../../vault_index/opencode_plugin/plugin/vault-index/tools.ts"

describe("tools", () => {
  test("list their required arguments", () => {
    expect(required("memory_timeline")).toEqual([])
    expect(required("memory_search")).toEqual(["query"])
    expect(required("bash")).toBeUndefined()
  })
})

describe("commandLine", () => {
  test("puts options before words, which may begin with a dash", () => {
    expect(commandLine("search", { query: "-rf tags", any_tag: ["a", "b"], limit: 3, kind: undefined })).toEqual({
      words: ["--any-tag=a,b", "--limit=3", "--", "-rf tags"],
      input: "",
    })
    expect(commandLine("recall", { query: "a b", budget: 5 })).toEqual({ words: ["--budget=5", "--", "a b"], input: "" })
  })

  test("passes a text by stdin", () => {
    expect(commandLine("add", { text: "--title=x\nmore", facts: ["one, two", "three"] })).toEqual({
      words: ["--facts=one, two", "--facts=three"],
      input: "--title=x\nmore",
    })
  })

  test("passes the call of a tool by stdin", () => {
    expect(commandLine("tool", { name: "memory_get", arguments: { ref: "a" } })).toEqual({
      words: ["--call"],
      input: '{"name":"memory_get","arguments":{"ref":"a"}}',
    })
  })
})

describe("bounded", () => {
  test("returns the value", async () => {
    expect(await bounded(async () => 7, 0)).toBe(7)
  })

  test("returns the default after an error, sync or async, and logs it once", async () => {
    const lines: string[] = []
    shared.log = (_, message) => lines.push(message)
    expect(await bounded(() => Promise.reject(new Error("broken")), 1)).toBe(1)
    const now = () => {
      throw new Error("broken again")
    }
    expect(await bounded(now, 2)).toBe(2)
    expect(lines).toEqual(["vault-index: broken; going on without"])
  })

  test("returns the default after the timeout", async () => {
    expect(await bounded(() => new Promise<number>(() => {}), 3, 50)).toBe(3)
  })

  test("ignores an error of the log", async () => {
    shared.said.clear()
    shared.log = () => {
      throw new Error("no log")
    }
    expect(await bounded(() => Promise.reject(new Error("broken")), 4)).toBe(4)
  })
})

describe("isOwnSocket", () => {
  test("accepts only a socket in a folder closed to other users", async () => {
    const folder = mkdtempSync(`${tmpdir()}/vx-`)
    const server = createServer()
    try {
      mkdirSync(`${folder}/run`, { mode: 0o700 })
      symlinkSync("run", `${folder}/link`)
      const path = `${folder}/run/s`
      await new Promise<void>((done) => server.listen(path, done))
      expect(isOwnSocket(path)).toBe(true)
      expect(isOwnSocket(`${folder}/link/s`)).toBe(true)
      expect(isOwnSocket(path, process.geteuid!() + 1)).toBe(false)
      for (const mode of [0o770, 0o702, 0o1777]) {
        chmodSync(`${folder}/run`, mode)
        expect(isOwnSocket(path)).toBe(false)
      }
      chmodSync(`${folder}/run`, 0o755)
      expect(isOwnSocket(path)).toBe(true)
      writeFileSync(`${folder}/run/file`, "")
      symlinkSync("s", `${folder}/run/l`)
      for (const name of ["file", "l", "nothing"]) expect(isOwnSocket(`${folder}/run/${name}`)).toBe(false)
    } finally {
      server.close()
      rmSync(folder, { recursive: true })
    }
  })
})

type Request = Record<string, any>
type Reply = Record<string, unknown> | undefined
interface Asked {
  folder: string
  requests: Request[]
}

/** With a daemon that sends `reply` (undefined: no reply), and a command that prints its folder and arguments. */
async function withDaemon(reply: (request: Request) => Reply | Promise<Reply>, act: (asked: Asked) => Promise<void>) {
  const folder = mkdtempSync(`${tmpdir()}/vx-`)
  const was = { ...PLACE }
  const requests: Request[] = []
  const server = createServer((client) => {
    client.on("error", () => {})
    client.on("data", async (data) => {
      for (const line of String(data).trim().split("\n")) {
        const request = JSON.parse(line)
        if (request.method !== "ping") requests.push(request)
        const said = await reply(request)
        if (said === undefined) return
        client.write(JSON.stringify({ id: request.id, ...said }) + "\n")
      }
    })
  })
  try {
    chmodSync(folder, 0o700)
    writeFileSync(`${folder}/command`, '#!/bin/sh\necho "$PWD" "$@" $VAULT_INDEX_DAEMON\ncat\n', { mode: 0o700 })
    await new Promise<void>((done) => server.listen(`${folder}/s`, done))
    Object.assign(PLACE, { command: [`${folder}/command`], socket: `${folder}/s` })
    Object.assign(shared, { hungUntil: 0 })
    await act({ folder: realpathSync(folder), requests })
  } finally {
    Object.assign(PLACE, was)
    server.close()
    rmSync(folder, { recursive: true })
  }
}

describe("a tool call", () => {
  test("sends agent, folder and session, and runs the command if the daemon is of an earlier version", async () => {
    const error = { code: "usage", message: "there is no method 'tool'", hint: "methods are add", exit_code: 2 }
    const reply = ({ method, params }: Request) =>
      method === "ping" ? { result: {} } : params.arguments.query === "old" ? { error } : { text: "of the daemon" }
    await withDaemon(reply, async ({ folder, requests }) => {
      const context = { sessionID: "ses_a", agent: "build", directory: folder }
      expect(await tools.memory_search!.execute({ query: "wal", limit: "3" }, context)).toBe("of the daemon")
      const told = await tools.memory_search!.execute({ query: "old" }, context)
      const params = { name: "memory_search", arguments: { query: "wal", limit: "3" }, entered_by: "opencode/build" }
      expect(requests.map((one) => one.method)).toEqual(["tool", "tool"])
      expect(requests[0]!.params).toEqual({ ...params, directory: folder, session: "ses_a" })
      const [first, ...input] = told.split("\n")
      expect(first).toBe(`${folder} mcp --markdown --quiet --call off`)
      expect(JSON.parse(input.join(""))).toMatchObject({ ...params, arguments: { query: "old" }, session: "ses_a" })
    })
  })
})

describe("a daemon that hangs", () => {
  const never = () => undefined

  test("is skipped at once, and again for a while", async () => {
    await withDaemon(never, async ({ folder, requests }) => {
      const context = { sessionID: "ses_a", directory: folder }
      for (const query of ["wal", "log"]) {
        const told = await tools.memory_search!.execute({ query }, context)
        expect(told.split("\n")[0]).toBe(`${folder} mcp --markdown --quiet --call off`)
        expect(JSON.parse(told.split("\n")[1]!)).toMatchObject({ arguments: { query } })
      }
      expect(requests).toEqual([])
    })
  })

  test("after accepting a request is detected by another connection", async () => {
    let asked = false
    const reply = ({ method }: Request) => {
      if (asked || method !== "ping") asked = true
      return asked ? undefined : { result: {} }
    }
    await withDaemon(reply, async ({ folder, requests }) => {
      const told = await ask("search", { query: "wal", directory: folder }, { within: 60_000, format: "toon" })
      expect(String(told).trim()).toBe(`${folder} search --toon --quiet -- wal off`)
      expect(requests.length).toBe(1)
    })
  })

  test("is distinguished from one with long work", async () => {
    let pings = 0
    let answer = (_: Reply) => {}
    const later = new Promise<Reply>((resolve) => (answer = resolve))
    const reply = ({ method }: Request) => {
      if (method !== "ping") return later
      pings += 1
      if (pings === 3) answer({ text: "of the daemon" })
      return { result: {} }
    }
    await withDaemon(reply, async () => {
      expect(await ask("search", { query: "wal" }, { within: 60_000, format: "toon" })).toBe("of the daemon")
    })
  })

  test("causes a timeout during a write, which is not repeated", async () => {
    let asked = false
    const reply = ({ method }: Request) => {
      if (asked || method !== "ping") asked = true
      return asked ? undefined : { result: {} }
    }
    await withDaemon(reply, async ({ requests }) => {
      const told = ask("add", { text: "x" }, { within: 1500, format: "toon" })
      await expect(told).rejects.toThrow("did not answer in time")
      expect(requests.length).toBe(1)
    })
  })
})
