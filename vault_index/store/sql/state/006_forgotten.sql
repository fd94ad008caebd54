-- Sessions that were forgotten, though their client may still have them: salted hashes of their ids (the salt is that of
-- `deleted`). They are not read again.
CREATE TABLE forgotten (
    hash INTEGER PRIMARY KEY
);
