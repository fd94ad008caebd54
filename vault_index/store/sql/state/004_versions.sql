-- What the files of memories said whenever they were indexed, or were about to be overwritten by us: byte for byte.
CREATE TABLE version (
    uid        TEXT    NOT NULL CHECK (typeof(uid) = 'text'),
    number     INTEGER NOT NULL CHECK (typeof(number) = 'integer' AND number > 0),
    seen       REAL    NOT NULL CHECK (typeof(seen) = 'real'),
    who        TEXT    NOT NULL CHECK (typeof(who) = 'text'),
    action     TEXT    NOT NULL CHECK (typeof(action) = 'text'),
    source     TEXT    NOT NULL CHECK (typeof(source) = 'text'),
    path       TEXT    NOT NULL CHECK (typeof(path) = 'text'),
    moved_from TEXT    NOT NULL CHECK (typeof(moved_from) = 'text'),  -- the path it had before, or empty
    step       INTEGER NOT NULL CHECK (typeof(step) = 'integer'),     -- the last one of the journal when it was seen
    size       INTEGER NOT NULL CHECK (typeof(size) = 'integer'),     -- of the file, in bytes
    digest     BLOB    NOT NULL CHECK (typeof(digest) = 'blob'),      -- SHA-256 of the file; empty: it was removed
    text       BLOB    NOT NULL CHECK (typeof(text) = 'blob')         -- the file, by zlib
);
CREATE UNIQUE INDEX version_number ON version (uid, number);
CREATE INDEX version_place ON version (path);
CREATE TRIGGER version_limit AFTER INSERT ON version BEGIN
    DELETE FROM version WHERE uid = new.uid AND number <= new.number - 50;
END;

-- What each writing command did to files, written before it is done: what `undo` takes back.
CREATE TABLE change (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    at     REAL    NOT NULL CHECK (typeof(at) = 'real'),
    work   TEXT    NOT NULL CHECK (typeof(work) = 'text'),    -- the name of the command
    who    TEXT    NOT NULL CHECK (typeof(who) = 'text'),     -- empty: not known
    undone INTEGER NOT NULL CHECK (undone IN (0, 1))
);
CREATE TABLE step (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    change INTEGER NOT NULL CHECK (typeof(change) = 'integer'),
    source TEXT    NOT NULL CHECK (typeof(source) = 'text'),
    path   TEXT    NOT NULL CHECK (typeof(path) = 'text'),
    before BLOB    CHECK (typeof(before) IN ('blob', 'null')),  -- SHA-256 of what the file said; NULL: there was none
    after  BLOB    CHECK (typeof(after) IN ('blob', 'null')),   -- the same of what it says now
    place  TEXT    CHECK (typeof(place) IN ('text', 'null')),   -- where it was moved to, the trash included
    text   BLOB    CHECK (typeof(text) IN ('blob', 'null'))     -- what it said, by zlib
);
CREATE INDEX step_change ON step (change);
CREATE INDEX step_path ON step (path);
CREATE INDEX step_place ON step (place) WHERE place IS NOT NULL;
CREATE TRIGGER change_limit AFTER INSERT ON change BEGIN
    -- 200 that can be undone: an undo is a change, too, but none of these.
    DELETE FROM change WHERE NOT undone
        AND id <= (SELECT id FROM change WHERE NOT undone ORDER BY id DESC LIMIT 1 OFFSET 200);
    DELETE FROM change WHERE undone AND id <= new.id - 600;
END;
CREATE TRIGGER change_gone AFTER DELETE ON change BEGIN
    DELETE FROM step WHERE change = old.id;
END;
