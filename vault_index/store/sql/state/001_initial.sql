-- `PRAGMA quick_check` uses the CHECKs: a row that violates one makes the whole file count as damaged.

CREATE TABLE usage (
    uid      TEXT    PRIMARY KEY,
    accesses INTEGER NOT NULL CHECK (typeof(accesses) = 'integer' AND accesses >= 0),
    accessed REAL    NOT NULL CHECK (typeof(accessed) = 'real')
) WITHOUT ROWID;

-- The ledger of sent texts: written before the request, so a crash can only overstate it. Never a text.
CREATE TABLE sent (
    day      TEXT    NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    endpoint TEXT    NOT NULL CHECK (typeof(endpoint) = 'text'),
    model    TEXT    NOT NULL CHECK (typeof(model) = 'text'),
    source   TEXT    NOT NULL CHECK (typeof(source) = 'text'),
    path     TEXT    NOT NULL CHECK (typeof(path) = 'text'),
    texts    INTEGER NOT NULL CHECK (typeof(texts) = 'integer' AND texts >= 0),
    tokens   INTEGER NOT NULL CHECK (typeof(tokens) = 'integer' AND tokens >= 0),
    PRIMARY KEY (day, endpoint, model, source, path)
) WITHOUT ROWID;

-- Sessions mirrored into a vault. An empty path means that the user deleted the file: it is not written again.
CREATE TABLE mirrored (
    session TEXT    PRIMARY KEY,
    path    TEXT    NOT NULL CHECK (typeof(path) = 'text'),
    made_of TEXT    NOT NULL CHECK (typeof(made_of) = 'text'),     -- the state of the session in the file
    written BLOB    NOT NULL CHECK (typeof(written) = 'blob'),     -- SHA-256 of the file; empty: the user changed it
    size    INTEGER NOT NULL CHECK (typeof(size) = 'integer'),     -- characters of the turns in the file
    turns   BLOB    NOT NULL CHECK (typeof(turns) = 'blob'),       -- SHA-256 of the turns
    faults  TEXT    NOT NULL CHECK (json_valid(faults))            -- JSON: code and message of each fault
) WITHOUT ROWID;
