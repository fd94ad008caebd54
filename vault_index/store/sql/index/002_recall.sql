-- Every word of the indexed texts as it is written, in lower case; a text is one chunk with its context, or what one
-- document is called. By stem, since that is how words are looked up.
CREATE TABLE term (
    stem   TEXT    NOT NULL,  -- what chunk_fts makes of it
    word   TEXT    NOT NULL,
    chunks INTEGER NOT NULL,  -- texts that hold it
    PRIMARY KEY (stem, word)
) WITHOUT ROWID;

-- What came and went since the words were counted.
CREATE TABLE uncounted_chunk (
    chunk_id INTEGER PRIMARY KEY
);
CREATE TABLE uncounted_text (
    text   TEXT    NOT NULL,
    change INTEGER NOT NULL  -- 1: came, -1: went
);
INSERT INTO uncounted_chunk SELECT id FROM chunk;

-- What a document is called beside the texts of its chunks: these rows cannot be carried over, so it is read again.
ALTER TABLE document ADD COLUMN called TEXT NOT NULL DEFAULT '';
UPDATE document SET made_with = '';
