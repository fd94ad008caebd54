-- The bytes of memory files each time they were indexed, or before we overwrote them.
CREATE TABLE version (
    uid        TEXT    NOT NULL CHECK (typeof(uid) = 'text'),
    number     INTEGER NOT NULL CHECK (typeof(number) = 'integer' AND number > 0),
    seen       REAL    NOT NULL CHECK (typeof(seen) = 'real'),
    who        TEXT    NOT NULL CHECK (typeof(who) = 'text'),
    action     TEXT    NOT NULL CHECK (typeof(action) = 'text'),
    source     TEXT    NOT NULL CHECK (typeof(source) = 'text'),
    path       TEXT    NOT NULL CHECK (typeof(path) = 'text'),
    moved_from TEXT    NOT NULL CHECK (typeof(moved_from) = 'text'),  -- the previous path, or empty
    step       INTEGER NOT NULL CHECK (typeof(step) = 'integer'),     -- the last journal step at that time
    size       INTEGER NOT NULL CHECK (typeof(size) = 'integer'),     -- bytes of the file
    digest     BLOB    NOT NULL CHECK (typeof(digest) = 'blob'),      -- SHA-256 of the file; empty: it was removed
    text       BLOB    NOT NULL CHECK (typeof(text) = 'blob')         -- the file, compressed by zlib
);
CREATE UNIQUE INDEX version_number ON version (uid, number);
CREATE INDEX version_place ON version (path);
CREATE TRIGGER version_limit AFTER INSERT ON version BEGIN
    DELETE FROM version WHERE uid = new.uid AND number <= new.number - 50;
END;

-- The journal of file changes by commands, written before each change; `undo` reverts them.
CREATE TABLE change (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    at     REAL    NOT NULL CHECK (typeof(at) = 'real'),
    work   TEXT    NOT NULL CHECK (typeof(work) = 'text'),    -- the name of the command
    who    TEXT    NOT NULL CHECK (typeof(who) = 'text'),     -- empty: unknown
    undone INTEGER NOT NULL CHECK (undone IN (0, 1))
);
CREATE TABLE step (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    change INTEGER NOT NULL CHECK (typeof(change) = 'integer'),
    source TEXT    NOT NULL CHECK (typeof(source) = 'text'),
    path   TEXT    NOT NULL CHECK (typeof(path) = 'text'),
    before BLOB    CHECK (typeof(before) IN ('blob', 'null')),  -- SHA-256 of the file before; NULL: no file
    after  BLOB    CHECK (typeof(after) IN ('blob', 'null')),   -- SHA-256 of the file after; NULL: no file
    place  TEXT    CHECK (typeof(place) IN ('text', 'null')),   -- the new path, also in the trash
    text   BLOB    CHECK (typeof(text) IN ('blob', 'null'))     -- the file before, compressed by zlib
);
CREATE INDEX step_change ON step (change);
CREATE INDEX step_path ON step (path);
CREATE INDEX step_place ON step (place) WHERE place IS NOT NULL;
CREATE TRIGGER change_limit AFTER INSERT ON change BEGIN
    -- Keep 200 changes that can be undone; an undo is not one of them.
    DELETE FROM change WHERE NOT undone
        AND id <= (SELECT id FROM change WHERE NOT undone ORDER BY id DESC LIMIT 1 OFFSET 200);
    DELETE FROM change WHERE undone AND id <= new.id - 600;
END;
CREATE TRIGGER change_gone AFTER DELETE ON change BEGIN
    DELETE FROM step WHERE change = old.id;
END;
