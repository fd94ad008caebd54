// Made by tools/build_plugin.py from vault_index/fields.py; edit that. As MCP clients get them.

import type { Schema } from "./tools.ts"

export const FILTERS = {
  tags: { type: "array", items: { type: "string" }, description: "all of these" },
  any_tag: { type: "array", items: { type: "string" }, description: "one of these" },
  type: { type: "array", items: { type: "string" }, description: "types of memory_store" },
  kind: { type: "string", enum: ["note", "memory", "session"], description: "documents of this kind" },
  project: { type: "string", description: "documents of this project" },
  entered_by: { type: "string", description: "who entered it" },
  path: { type: "array", items: { type: "string" }, description: "glob, as projects/**" },
  after: { type: "string", description: "created on this day (2026-11-01) or later" },
  before: { type: "string", description: "created before this day" },
} satisfies Record<string, Schema>

export const FIELDS = {
  title: { type: "string", description: "its title (default: its first heading or sentence)" },
  subtitle: { type: "string", description: "a line under the title" },
  digest: { type: "string", description: "what search shows of it" },
  type: { type: "string", enum: ["note", "decision", "bugfix", "feature", "pattern", "discovery", "learning", "warning"], description: "note (the default), decision, bugfix, feature, pattern, discovery, learning or warning" },
  tags: { type: "array", items: { type: "string" }, description: "its tags" },
  project: { type: "string", description: "leave out for every project" },
  entered_by: { type: "string", description: "who says so: your name" },
  expires: { type: "string", description: "hidden after it: 2027-02-01, in 3 months" },
  valid_until: { type: "string", description: "marked outdated after it" },
  confidence: { type: "string", enum: ["high", "medium", "low"], description: "how sure it is: high, medium or low" },
  facts: { type: "array", items: { type: "string" }, description: "one sentence each" },
  concepts: { type: "array", items: { type: "string" }, description: "concepts it is about" },
  files_read: { type: "array", items: { type: "string" }, description: "files it was learned from" },
  files_modified: { type: "array", items: { type: "string" }, description: "files that were changed" },
  bead_id: { type: "string", description: "the bead it belongs to" },
  supersedes: { type: "array", items: { type: "string" }, description: "memories that it replaces" },
} satisfies Record<string, Schema>
