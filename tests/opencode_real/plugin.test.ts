// What the plugin decides by itself; run by the Bun inside OpenCode (test_units.py), which is what runs the plugin.

import { describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { bounded, shared } from "../../vault_index/opencode_plugin/plugin/vault-index/guard.ts"
import { commandLine, isOwnSocket } from "../../vault_index/opencode_plugin/plugin/vault-index/link.ts"
import { PLACE } from "../../vault_index/opencode_plugin/plugin/vault-index/place.ts"
import { required, tools } from "../../vault_index/opencode_plugin/plugin/vault-index/tools.ts"

describe("tools", () => {
  test("say what a model must give", () => {
    expect(required("memory_timeline")).toEqual([])
    expect(required("memory_search")).toEqual(["query"])
    expect(required("bash")).toBeUndefined()
  })
})

describe("the command", () => {
  test("takes options, then places, which may begin with a dash", () => {
    expect(commandLine("search", { query: "-rf tags", any_tag: ["a", "b"], limit: 3, kind: undefined })).toEqual({
      words: ["--any-tag=a,b", "--limit=3", "--", "-rf tags"],
      input: "",
    })
    expect(commandLine("recall", { query: "a b", budget: 5 })).toEqual({ words: ["--budget=5", "--", "a b"], input: "" })
  })

  test("takes a text by stdin", () => {
    expect(commandLine("add", { text: "--title=x\nmore", facts: ["one, two", "three"] })).toEqual({
      words: ["--facts=one, two", "--facts=three"],
      input: "--title=x\nmore",
    })
  })

  test("takes the call of a tool by stdin", () => {
    expect(commandLine("tool", { name: "memory_get", arguments: { ref: "a" } })).toEqual({
      words: ["--call"],
      input: '{"name":"memory_get","arguments":{"ref":"a"}}',
    })
  })
})

describe("a guard", () => {
  test("gives the value", async () => {
    expect(await bounded(async () => 7, 0)).toBe(7)
  })

  test("gives the other one for what throws, at once or later, and says so once", async () => {
    const lines: string[] = []
    shared.log = (_, message) => lines.push(message)
    expect(await bounded(() => Promise.reject(new Error("broken")), 1)).toBe(1)
    const now = () => {
      throw new Error("broken again")
    }
    expect(await bounded(now, 2)).toBe(2)
    expect(lines).toEqual(["vault-index: broken; going on without"])
  })

  test("gives the other one for what never ends", async () => {
    expect(await bounded(() => new Promise<number>(() => {}), 3, 50)).toBe(3)
  })

  test("does not mind a log that fails", async () => {
    shared.said.clear()
    shared.log = () => {
      throw new Error("no log")
    }
    expect(await bounded(() => Promise.reject(new Error("broken")), 4)).toBe(4)
  })
})

describe("a socket", () => {
  test("is ours where nobody else can have put it", async () => {
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

describe("a question", () => {
  test("says who asks and where, and is asked there of the command where the daemon is of an earlier version", async () => {
    const folder = mkdtempSync(`${tmpdir()}/vx-`)
    const was = { ...PLACE }
    const asked: Record<string, any>[] = []
    const error = { code: "usage", message: "there is no method 'tool'", hint: "methods are add", exit_code: 2 }
    const server = createServer((client) => {
      client.on("data", (line) => {
        const request = JSON.parse(String(line))
        asked.push(request)
        const reply = request.params.arguments.query === "old" ? { error } : { text: "of the daemon" }
        client.write(JSON.stringify({ id: 1, ...reply }) + "\n")
      })
    })
    try {
      chmodSync(folder, 0o700)
      writeFileSync(`${folder}/command`, '#!/bin/sh\necho "$PWD" "$@"\ncat\n', { mode: 0o700 })
      await new Promise<void>((done) => server.listen(`${folder}/s`, done))
      Object.assign(PLACE, { command: [`${folder}/command`], socket: `${folder}/s` })
      const context = { sessionID: "ses_a", agent: "build", directory: realpathSync(folder) }
      expect(await tools.memory_search!.execute({ query: "wal", limit: "3" }, context)).toBe("of the daemon")
      const told = await tools.memory_search!.execute({ query: "old" }, context)
      const params = { name: "memory_search", arguments: { query: "wal", limit: "3" }, entered_by: "opencode/build" }
      expect(asked.map((one) => one.method)).toEqual(["tool", "tool"])
      expect(asked[0]!.params).toEqual({ ...params, directory: context.directory, session: "ses_a" })
      const [first, ...input] = told.split("\n")
      expect(first).toBe(`${context.directory} mcp --markdown --quiet --call`)
      expect(JSON.parse(input.join(""))).toMatchObject({ ...params, arguments: { query: "old" }, session: "ses_a" })
    } finally {
      Object.assign(PLACE, was)
      server.close()
      rmSync(folder, { recursive: true })
    }
  })
})
