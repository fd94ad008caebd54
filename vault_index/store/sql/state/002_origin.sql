-- The project, its folders and the session for which a document was written. Editing the file
-- must not remove it from `local_only`.
CREATE TABLE origin (
    source TEXT NOT NULL CHECK (typeof(source) = 'text'),
    path   TEXT NOT NULL CHECK (typeof(path) = 'text'),
    uid    TEXT NOT NULL CHECK (typeof(uid) = 'text'),
    origin TEXT NOT NULL CHECK (json_valid(origin)),  -- JSON: projects, folders, session
    PRIMARY KEY (source, path, uid, origin)
) WITHOUT ROWID;
