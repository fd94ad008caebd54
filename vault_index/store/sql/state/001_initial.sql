-- The CHECKs are what `PRAGMA quick_check` goes by: a row that does not pass one makes the whole file a damaged one.

CREATE TABLE usage (
    uid      TEXT    PRIMARY KEY,
    accesses INTEGER NOT NULL CHECK (typeof(accesses) = 'integer' AND accesses >= 0),
    accessed REAL    NOT NULL CHECK (typeof(accessed) = 'real')
) WITHOUT ROWID;

-- What left this machine: written before the request, so a crash can only overstate it. Never a text.
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

-- Sessions that were written into a vault. One whose file its reader deleted has no path: it is not written again.
CREATE TABLE mirrored (
    session TEXT    PRIMARY KEY,
    path    TEXT    NOT NULL CHECK (typeof(path) = 'text'),
    made_of TEXT    NOT NULL CHECK (typeof(made_of) = 'text'),     -- what it was when its file was written
    written BLOB    NOT NULL CHECK (typeof(written) = 'blob'),     -- SHA-256 of the file; empty: its reader changed it
    size    INTEGER NOT NULL CHECK (typeof(size) = 'integer'),     -- of the turns that are in the file, in characters
    turns   BLOB    NOT NULL CHECK (typeof(turns) = 'blob'),       -- SHA-256 of these
    faults  TEXT    NOT NULL CHECK (json_valid(faults))            -- JSON: code and message of what is wrong with it
) WITHOUT ROWID;
