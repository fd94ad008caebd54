// What the plugin decides by itself; run by the Bun inside OpenCode (test_units.py), which is what runs the plugin.

import { describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { bounded, shared } from "../../vault_index/opencode_plugin/plugin/vault-index/guard.ts"
import { commandLine, isOwnSocket } from "../../vault_index/opencode_plugin/plugin/vault-index/link.ts"
import { PLACE } from "../../vault_index/opencode_plugin/plugin/vault-index/place.ts"
import { checked, required, tools } from "../../vault_index/opencode_plugin/plugin/vault-index/tools.ts"

const schema = {
  needs: ["query"],
  args: {
    query: { type: "string" as const, description: "" },
    kind: { type: "string" as const, description: "", enum: ["note", "memory"] },
    limit: { type: "integer" as const, description: "", minimum: 1, maximum: 50 },
    full: { type: "boolean" as const, description: "" },
    tags: { type: "array" as const, description: "", items: { type: "string" as const } },
  },
}

describe("arguments", () => {
  test("are taken as they are, and what is null is left out", () => {
    const given = { query: "wal", limit: 3, full: false, tags: ["a", "b"], kind: null }
    expect(checked(schema, given)).toEqual({ query: "wal", limit: 3, full: false, tags: ["a", "b"] })
    expect(checked(schema, { query: "wal", tags: "a, b" })).toEqual({ query: "wal", tags: "a, b" })
  })

  test.each([
    ["no object", "wal", "must be an object"],
    ["a list", ["wal"], "must be an object"],
    ["nothing", {}, "query is missing"],
    ["blanks", { query: " " }, "query is missing"],
    ["a number for a text", { query: 7 }, "query must be text"],
    ["another word", { query: "a", kind: "song" }, "one of note, memory"],
    ["a text for a number", { query: "a", limit: "3" }, "whole number"],
    ["a fraction", { query: "a", limit: 1.5 }, "whole number"],
    ["no number", { query: "a", limit: NaN }, "whole number"],
    ["too many", { query: "a", limit: 51 }, "from 1 to 50"],
    ["a text for a flag", { query: "a", full: "yes" }, "true or false"],
    ["a list of numbers", { query: "a", tags: [1] }, "list of texts"],
    ["an unknown name", { query: "a", quary: "b" }, "no argument quary"],
    ["a name of every object", { query: "a", constructor: "b" }, "no argument constructor"],
  ])("%s is refused", (_, given, reason) => {
    expect(() => checked(schema, given)).toThrow(reason)
  })

  test("of which one is enough may each be missing", () => {
    expect(required("memory_timeline")).toEqual([])
    expect(required("memory_search")).toEqual(["query"])
    expect(required("bash")).toBeUndefined()
  })

  test("that are wrong are told as text, for a tool that throws shows OpenCode a stack", async () => {
    const told = await tools.memory_search!.execute({}, { sessionID: "ses_1" })
    expect(told).toBe("Error: query is missing")
  })
})

describe("the command", () => {
  test("takes options, then places, which may begin with a dash", () => {
    expect(commandLine("search", { query: "-rf tags", any_tag: ["a", "b"], limit: 3, kind: undefined })).toEqual({
      words: ["--any-tag=a,b", "--limit=3", "--", "-rf tags"],
      input: "",
    })
    expect(commandLine("get", { ref: ["a", "b:1-2"], full: true })).toEqual({
      words: ["--full", "--", "a", "b:1-2"],
      input: "",
    })
  })

  test("takes a text by stdin", () => {
    expect(commandLine("add", { text: "--title=x\nmore", facts: ["one, two", "three"] })).toEqual({
      words: ["--facts=one, two", "--facts=three"],
      input: "--title=x\nmore",
    })
    expect(commandLine("update", { ref: "a", content: "new" })).toEqual({ words: ["--content=-", "--", "a"], input: "new" })
  })

  test("takes the query of a timeline as an option", () => {
    expect(commandLine("timeline", { query: "wal" }).words).toEqual(["--query=wal"])
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
  test("says where it is asked, and is asked there of the command where the daemon is of an earlier version", async () => {
    const folder = mkdtempSync(`${tmpdir()}/vx-`)
    const was = { ...PLACE }
    const asked: Record<string, any>[] = []
    const error = { code: "usage", message: "search has no parameter 'directory'", hint: "", exit_code: 2 }
    const server = createServer((client) => {
      client.on("data", (line) => {
        const request = JSON.parse(String(line))
        asked.push(request)
        const reply = request.params.directory ? { error } : { text: "of the daemon" }
        client.write(JSON.stringify({ id: 1, ...reply }) + "\n")
      })
    })
    try {
      chmodSync(folder, 0o700)
      writeFileSync(`${folder}/command`, '#!/bin/sh\necho "$PWD" "$@"\n', { mode: 0o700 })
      await new Promise<void>((done) => server.listen(`${folder}/s`, done))
      Object.assign(PLACE, { command: [`${folder}/command`], socket: `${folder}/s` })
      const context = { sessionID: "ses_a", directory: realpathSync(folder) }
      const told = await tools.memory_search!.execute({ query: "wal" }, context)
      expect(told.trim()).toBe(`${context.directory} search --toon --quiet -- wal`)
      expect(await tools.memory_timeline!.execute({ ref: "wal.md" }, context)).toBe("of the daemon")
      await tools.memory_timeline!.execute({ query: "wal" }, context)
      await tools.memory_recall!.execute({ query: "wal", project: "other" }, context)
      expect(asked.map((one) => one.params.directory)).toEqual([
        context.directory,
        undefined,
        context.directory,
        context.directory,
      ])
    } finally {
      Object.assign(PLACE, was)
      server.close()
      rmSync(folder, { recursive: true })
    }
  })
})
