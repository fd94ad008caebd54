-- One log of memories instead of versions and a journal. A row is one state of a memory's file: of a command,
-- recorded before it changes the file, or found by a sync.
CREATE TABLE revision (
    id         INTEGER PRIMARY KEY,
    uid        TEXT    NOT NULL CHECK (typeof(uid) = 'text'),
    number     INTEGER NOT NULL CHECK (typeof(number) = 'integer' AND number > 0),
    change     INTEGER NOT NULL CHECK (typeof(change) = 'integer'),   -- the command to undo; 0: by hand or by `undo`
    seen       REAL    NOT NULL CHECK (typeof(seen) = 'real'),
    who        TEXT    NOT NULL CHECK (typeof(who) = 'text'),
    action     TEXT    NOT NULL CHECK (typeof(action) = 'text'),
    source     TEXT    NOT NULL CHECK (typeof(source) = 'text'),
    path       TEXT    NOT NULL CHECK (typeof(path) = 'text'),
    moved_from TEXT    NOT NULL CHECK (typeof(moved_from) = 'text'),  -- the previous path, or empty
    before     BLOB    NOT NULL CHECK (typeof(before) = 'blob'),      -- SHA-256 before a command; empty: no file
    digest     BLOB    NOT NULL CHECK (typeof(digest) = 'blob'),      -- SHA-256 of the file; empty: it was removed
    text       BLOB    NOT NULL CHECK (typeof(text) = 'blob')         -- the file, compressed by zlib
);
INSERT INTO revision (uid, number, change, seen, who, action, source, path, moved_from, before, digest, text)
SELECT version.uid, version.number, coalesce(change.id, 0), version.seen, version.who, version.action, version.source,
    version.path, version.moved_from, coalesce(step.before, x''), version.digest, version.text
FROM version
LEFT JOIN step ON step.id = (  -- the last step that left the file in this state since its last version
    SELECT max(done.id) FROM step AS done WHERE done.source = version.source AND done.id <= version.step
        AND done.id > coalesce((
            SELECT max(earlier.step) FROM version AS earlier WHERE earlier.uid = version.uid
                AND earlier.number < version.number AND version.path IN (earlier.path, earlier.moved_from)
        ), 0)
        AND (done.path = version.path AND done.after IS nullif(version.digest, x'')
                AND (done.place IS NULL OR done.after IS NULL)
            OR done.place = version.path AND done.after = version.digest)
)
LEFT JOIN change ON change.id = step.change AND NOT change.undone
ORDER BY version.seen, version.number;
-- Commands that are not in the log with every step can be reverted, but not undone.
DELETE FROM change WHERE undone OR (SELECT count(*) FROM step WHERE change = change.id)
    <> (SELECT count(*) FROM revision WHERE change = change.id);
DROP TABLE version;
DROP TABLE step;
DROP TRIGGER change_limit;
DROP TRIGGER change_gone;
DROP TRIGGER decision_undone;
ALTER TABLE change DROP COLUMN who;
ALTER TABLE change DROP COLUMN undone;
CREATE UNIQUE INDEX revision_number ON revision (uid, number);
CREATE INDEX revision_path ON revision (path);
CREATE INDEX revision_change ON revision (change) WHERE change > 0;
CREATE TRIGGER revision_limit AFTER INSERT ON revision BEGIN
    -- Keep what `undo` needs: it adds revisions itself.
    DELETE FROM revision WHERE uid = new.uid AND number <= new.number - 50 AND change NOT IN (SELECT id FROM change);
END;
CREATE TRIGGER change_limit AFTER INSERT ON change BEGIN
    DELETE FROM change WHERE id <= (SELECT id FROM change ORDER BY id DESC LIMIT 1 OFFSET 200);
END;
