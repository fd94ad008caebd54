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
    key      BLOB    NOT NULL,  -- the first half of the SHA-256 of the embedded text
    vector   BLOB    NOT NULL   -- int8 for the model in the package, float32 for others
);
CREATE UNIQUE INDEX embedding_key ON embedding (space_id, key);
