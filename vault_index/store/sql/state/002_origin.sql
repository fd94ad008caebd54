-- The project, its folders and the session that a document was written for. A file that is edited may say otherwise, and
-- must not get out of `local_only` by that.
CREATE TABLE origin (
    source TEXT NOT NULL CHECK (typeof(source) = 'text'),
    path   TEXT NOT NULL CHECK (typeof(path) = 'text'),
    uid    TEXT NOT NULL CHECK (typeof(uid) = 'text'),
    origin TEXT NOT NULL CHECK (json_valid(origin)),  -- JSON: projects, folders, session
    PRIMARY KEY (source, path, uid, origin)
) WITHOUT ROWID;
