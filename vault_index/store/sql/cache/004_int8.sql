-- Vectors of the model that comes with the package are kept as int8, and of the keys as much as tells them apart.
CREATE TABLE kept (
    id       INTEGER PRIMARY KEY,
    space_id INTEGER NOT NULL,
    key      BLOB    NOT NULL,  -- the first half of the SHA-256 of the embedded text
    vector   BLOB    NOT NULL
);
INSERT INTO kept SELECT embedding.id, space_id, substr(key, 1, 16), 
    iif(provider = 'local' AND model = 'all-MiniLM-L6-v2-int8', as_int8(vector), vector)
    FROM embedding CROSS JOIN space ON space.id = space_id
    WHERE typeof(key) = 'blob' AND typeof(vector) = 'blob' AND length(vector) = 4 * dimensions ORDER BY embedding.id;
DROP TABLE embedding;
ALTER TABLE kept RENAME TO embedding;
CREATE UNIQUE INDEX embedding_key ON embedding (space_id, key);
