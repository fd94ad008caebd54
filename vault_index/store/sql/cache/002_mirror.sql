-- Sessions that were written into a vault. One whose file its reader deleted has no path: it is not written again.
CREATE TABLE mirrored (
    session TEXT PRIMARY KEY,
    path    TEXT NOT NULL,
    made_of TEXT NOT NULL,     -- what the session was when its file was written
    written BLOB NOT NULL,     -- SHA-256 of the file; empty for one that its reader has changed
    size    INTEGER NOT NULL,  -- of the turns that are in the file, in characters
    turns   BLOB NOT NULL,     -- SHA-256 of these
    faults  TEXT NOT NULL      -- JSON: code and message of what is wrong with it
) WITHOUT ROWID;
