CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE document (
    id            INTEGER PRIMARY KEY,
    uid           TEXT    NOT NULL,  -- a memory's own id, else derived from source and path; not unique, because files are copied
    source        TEXT    NOT NULL,
    path          TEXT    NOT NULL,  -- relative to the source's root
    name          TEXT    NOT NULL,  -- case-folded file name without suffix, the target of wikilinks
    kind          TEXT    NOT NULL CHECK (kind IN ('note', 'memory', 'session')),
    title         TEXT    NOT NULL,
    content_hash  BLOB    NOT NULL,  -- SHA-256 of the bytes on disk
    size          INTEGER NOT NULL,
    mtime_ns      INTEGER NOT NULL,
    ctime_ns      INTEGER NOT NULL,
    made_with     TEXT    NOT NULL,  -- fingerprint of the settings that affect these rows
    line_count    INTEGER NOT NULL,
    tokens        INTEGER NOT NULL,
    created       REAL    NOT NULL,  -- seconds since the epoch
    updated       REAL    NOT NULL,
    type          TEXT,
    digest        TEXT    NOT NULL,
    project       TEXT,
    entered_by    TEXT,
    expires       REAL,
    valid_until   REAL,
    confidence    TEXT,
    superseded_by TEXT,
    frontmatter   TEXT    NOT NULL,  -- JSON
    called        TEXT    NOT NULL DEFAULT '',  -- its names and fields, besides the texts of its chunks
    identity      BLOB,  -- for memories: SHA-256 of title, subtitle, facts and body; equal for duplicates
    inode         INTEGER NOT NULL DEFAULT 0,  -- 0: unknown
    title_given   INTEGER NOT NULL DEFAULT 1,  -- 0: a generated title, not searched as a name
    name_given    INTEGER NOT NULL DEFAULT 1,  -- 0: a generated file name, not searched as a name
    omitted       TEXT,  -- for sessions, JSON: hashes of quotes of deleted memories, which are not indexed
    archived      REAL,
    unreviewed    INTEGER NOT NULL DEFAULT 0,  -- a captured memory: 1 in the inbox, 2 there and hidden from search
    UNIQUE (source, path)
);
CREATE INDEX document_uid ON document (uid);
CREATE INDEX document_name ON document (name);
CREATE INDEX document_created ON document (created);
-- Every search needs the documents that are expired, superseded and so on; they are few, so no scan is needed.
CREATE INDEX document_expires ON document (expires) WHERE expires IS NOT NULL;
CREATE INDEX document_superseded ON document (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX document_identity ON document (identity) WHERE identity IS NOT NULL;
CREATE INDEX document_inode ON document (inode);  -- finds the hard links of a file
CREATE INDEX document_archived ON document (archived) WHERE archived IS NOT NULL;
CREATE INDEX document_unreviewed ON document (unreviewed) WHERE unreviewed > 0;

-- The texts of the chunks of a document, compressed in blocks of about 8,000 bytes, with their contexts and
-- headings, which are similar.
CREATE TABLE text_block (
    id   INTEGER PRIMARY KEY,
    body BLOB NOT NULL  -- zlib of a JSON array: context, headings (JSON again) and text of each chunk
);

CREATE TABLE chunk (
    id          INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    start_line  INTEGER NOT NULL,
    end_line    INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    block_id    INTEGER NOT NULL,  -- the block with its text
    place       INTEGER NOT NULL,  -- index in the block, from 0
    bytes       INTEGER NOT NULL,  -- length of its text, to find equal texts
    embed_key   BLOB    NOT NULL,  -- SHA-256 of context and text: the key of its embedding
    terms_hash  BLOB    NOT NULL   -- hash of its row in chunk_fts, which cannot be read
);
CREATE INDEX chunk_document ON chunk (document_id, ordinal);

-- Contentless: the indexed text may differ from the stored one, and there are no ghost rows. An UPDATE names all columns.
-- The body comes first: for the first column FTS5 stores no column number, which saves a quarter of the table.
CREATE VIRTUAL TABLE chunk_fts USING fts5 (
    body, title, aliases, headings, tags, fields, path,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
-- Rewrite a part of the table only when half of its rows are replaced. By default FTS5 does so at a tenth, in one
-- transaction, which takes seconds if a large folder is renamed.
INSERT INTO chunk_fts (chunk_fts, rank) VALUES ('deletemerge', 50);

CREATE TABLE tag (
    tag         TEXT    NOT NULL,
    document_id INTEGER NOT NULL,
    PRIMARY KEY (tag, document_id)
) WITHOUT ROWID;
CREATE INDEX tag_document ON tag (document_id);

CREATE TABLE alias (
    alias       TEXT    NOT NULL,
    folded      TEXT    NOT NULL,
    document_id INTEGER NOT NULL
);
CREATE INDEX alias_folded ON alias (folded);
CREATE INDEX alias_document ON alias (document_id);

CREATE TABLE link (
    document_id INTEGER NOT NULL,
    line        INTEGER NOT NULL,
    target      TEXT    NOT NULL,
    target_name TEXT    NOT NULL,  -- case-folded last part of the target; resolved at query time, so never outdated
    heading     TEXT    NOT NULL,
    text        TEXT    NOT NULL,
    embed       INTEGER NOT NULL
);
CREATE INDEX link_document ON link (document_id);
CREATE INDEX link_target ON link (target_name);

-- The names of documents, including the texts of links to them: one row per document, by its id.
CREATE VIRTUAL TABLE name_fts USING fts5 (
    name, title, aliases, links,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Names of documents whose row in name_fts is outdated (case-folded).
CREATE TABLE stale_name (
    name TEXT PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE fault (
    source  TEXT NOT NULL,
    path    TEXT NOT NULL,
    code    TEXT NOT NULL,
    line    INTEGER,
    message TEXT NOT NULL
);
CREATE INDEX fault_place ON fault (source, path);

-- The vectors of space N are in the vec0 table `vector_N`, by chunk id; `pending` lists chunks without a vector.
CREATE TABLE vector_space (
    id         INTEGER PRIMARY KEY,
    provider   TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    dimensions INTEGER NOT NULL,
    endpoint   TEXT    NOT NULL,
    state      TEXT    NOT NULL CHECK (state IN ('serving', 'building')),
    renewed    INTEGER NOT NULL,  -- 1: every vector is computed again, without the cache
    codes      TEXT,              -- the file with a code of each vector, which a search reads first
    coded      INTEGER NOT NULL DEFAULT 0  -- the number of codes in the file
);
CREATE UNIQUE INDEX vector_space_state ON vector_space (state);

CREATE TABLE pending (
    space_id INTEGER NOT NULL,
    chunk_id INTEGER NOT NULL,
    PRIMARY KEY (space_id, chunk_id)
) WITHOUT ROWID;
CREATE INDEX pending_chunk ON pending (chunk_id);

-- Chunks whose vectors were added, changed or removed after the file of codes was written.
CREATE TABLE uncoded (
    chunk_id INTEGER PRIMARY KEY
);

-- Every word of the indexed texts in lower case; a text is one chunk with its context, or the names of
-- one document. Ordered by stem for look-ups.
CREATE TABLE term (
    stem   TEXT    NOT NULL,  -- the stem in chunk_fts
    word   TEXT    NOT NULL,
    chunks INTEGER NOT NULL,  -- number of texts with it
    PRIMARY KEY (stem, word)
) WITHOUT ROWID;

-- Texts added and removed since the words were counted.
CREATE TABLE uncounted_chunk (
    chunk_id INTEGER PRIMARY KEY
);
CREATE TABLE uncounted_text (
    text   TEXT    NOT NULL,
    change INTEGER NOT NULL  -- 1: added, -1: removed
);
