// Where the command and the daemon are; `vault-index agent install opencode` writes the last line anew.
// Nothing here is about the user's notes.

export interface Place {
  /** The command and the options that name its home. */
  command: string[]
  /** The daemon's socket; empty: only the command is asked. */
  socket: string
  /** Where the recalled text of a session is kept, so that a resumed one gets the same; empty: nowhere. */
  state: string
}

export const PLACE: Place = { command: ["vault-index"], socket: "", state: "" }
