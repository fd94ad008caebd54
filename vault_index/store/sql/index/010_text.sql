-- The texts of chunks were most of the index. Now those of one document stand together and packed, some 8,000 bytes at
-- a time, with what is embedded before them and their headings, which repeat each other.
CREATE TABLE text_block (
    id   INTEGER PRIMARY KEY,
    body BLOB NOT NULL  -- zlib of a JSON array: context, headings (JSON again) and text of chunk after chunk
);

DROP INDEX chunk_document;
ALTER TABLE chunk RENAME TO whole_chunk;
CREATE TABLE chunk (
    id          INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    start_line  INTEGER NOT NULL,
    end_line    INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    block_id    INTEGER NOT NULL,  -- where its text is
    place       INTEGER NOT NULL,  -- the first chunk of the block is 0
    bytes       INTEGER NOT NULL,  -- of its text: what is as long may say the same
    embed_key   BLOB    NOT NULL,  -- SHA-256 of context and text: the key of its embedding
    terms_hash  BLOB    NOT NULL   -- of its row in chunk_fts, which cannot be read back
);
INSERT INTO chunk
SELECT
    id, document_id, ordinal, start_line, end_line, tokens,
    min(id) OVER block, row_number() OVER (block ORDER BY ordinal) - 1, bytes, embed_key, terms_hash
FROM (
    SELECT *, (sum(bytes) OVER (PARTITION BY document_id ORDER BY ordinal) - bytes) / 8192 AS part
    FROM (
        SELECT id, document_id, ordinal, start_line, end_line, tokens, octet_length(text) AS bytes, embed_key, terms_hash
        FROM whole_chunk
    )
)
WINDOW block AS (PARTITION BY document_id, part);
CREATE INDEX chunk_document ON chunk (document_id, ordinal);
INSERT INTO text_block
SELECT block_id, pack('[' || group_concat(said, ',' ORDER BY place) || ']')
FROM (
    SELECT
        chunk.document_id, block_id, place,
        json_quote(context) || ',' || json_quote(headings) || ',' || json_quote(text) AS said
    FROM chunk JOIN whole_chunk ON whole_chunk.id = chunk.id
)
GROUP BY document_id, block_id;
DROP TABLE whole_chunk;

-- The body first: of the first column alone FTS5 does not say with each word which one it is, which is a quarter of the
-- table. `store.chunk_terms` makes the rows again.
DROP TABLE chunk_fts;
CREATE VIRTUAL TABLE chunk_fts USING fts5 (
    body, title, aliases, headings, tags, fields, path,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
