// Where the command and the daemon are. `vault-index agent install opencode` sets the last line.
// This file has nothing about the user's notes.

export interface Place {
  /** The command and the options that name its home. */
  command: string[]
  /** The daemon's socket; if empty, only the command is used. */
  socket: string
  /** The folder for recalled texts, so that a resumed session gets the same one; may be empty. */
  state: string
}

export const PLACE: Place = { command: ["vault-index"], socket: "", state: "" }
