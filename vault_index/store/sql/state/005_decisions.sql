-- Review decisions that no file holds: these memories may stay unchanged. Asked again once one of them
-- changes.
CREATE TABLE decision (
    reason  TEXT NOT NULL CHECK (typeof(reason) = 'text'),
    uids    TEXT NOT NULL CHECK (json_valid(uids)),     -- JSON, sorted
    digests TEXT NOT NULL CHECK (json_valid(digests)),  -- JSON: SHA-256 of each file then, in the order of the uids
    at      REAL NOT NULL CHECK (typeof(at) = 'real'),
    change  INTEGER NOT NULL CHECK (typeof(change) = 'integer'),  -- the journal entry whose undo reverts it
    PRIMARY KEY (reason, uids)
) WITHOUT ROWID;
CREATE TRIGGER decision_undone AFTER UPDATE OF undone ON change WHEN new.undone BEGIN
    DELETE FROM decision WHERE change = new.id;
END;
