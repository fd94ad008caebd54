CREATE TABLE space (
    id         INTEGER PRIMARY KEY,
    provider   TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    dimensions INTEGER NOT NULL,
    endpoint   TEXT    NOT NULL,
    UNIQUE (provider, model, dimensions, endpoint)
);

CREATE TABLE embedding (
    id       INTEGER PRIMARY KEY,
    space_id INTEGER NOT NULL,
    key      BLOB    NOT NULL,  -- SHA-256 of the embedded text: never a path or a line
    vector   BLOB    NOT NULL
);
CREATE UNIQUE INDEX embedding_key ON embedding (space_id, key);

CREATE TABLE usage (
    uid      TEXT    PRIMARY KEY,
    accesses INTEGER NOT NULL,
    accessed REAL    NOT NULL
) WITHOUT ROWID;

-- What left this machine: written before the request, so a crash can only overstate it. Never a text.
CREATE TABLE sent (
    day      TEXT    NOT NULL,
    endpoint TEXT    NOT NULL,
    model    TEXT    NOT NULL,
    source   TEXT    NOT NULL,
    path     TEXT    NOT NULL,
    texts    INTEGER NOT NULL,
    tokens   INTEGER NOT NULL,
    PRIMARY KEY (day, endpoint, model, source, path)
) WITHOUT ROWID;
