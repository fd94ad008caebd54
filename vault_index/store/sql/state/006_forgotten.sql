-- Forgotten sessions, which their client may still have: salted hashes of their ids (with the salt of
-- `deleted`). They are not indexed again.
CREATE TABLE forgotten (
    hash INTEGER PRIMARY KEY
);
