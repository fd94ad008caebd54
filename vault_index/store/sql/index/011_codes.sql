-- The file beside this one with a code of each vector, and how many: what is near is looked for in it first.
ALTER TABLE vector_space ADD COLUMN codes TEXT;
ALTER TABLE vector_space ADD COLUMN coded INTEGER NOT NULL DEFAULT 0;

-- Chunks whose vectors came, changed or went since that file was written.
CREATE TABLE uncoded (
    chunk_id INTEGER PRIMARY KEY
);
