-- Contents of deleted memories as salted hashes of word sequences, to omit quotes in sessions. Never a text.
CREATE TABLE deleted (
    hash INTEGER PRIMARY KEY,
    uid  TEXT    NOT NULL CHECK (typeof(uid) = 'text')
);
CREATE INDEX deleted_uid ON deleted (uid);
INSERT INTO deleted VALUES (0, hex(randomblob(16)));  -- the salt
