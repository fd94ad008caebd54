-- A pool: what the machines of a team published, for servers that answer from it.
-- Whoever runs this owns the tables. Members log in with roles of their own, which see rows only through the policies
-- below. Those ask current_user, because any SQL can change a session variable.
-- Texts compare by bytes (COLLATE "C"), as in SQLite.

CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS btree_gin;  -- words and zones in one index: words of hidden zones cost no time
CREATE SCHEMA pool;
CREATE SCHEMA answer;  -- the tables as the reader asks for them
SET LOCAL search_path = pool, public;

CREATE TABLE meta (
    key   text PRIMARY KEY,
    value text NOT NULL
);

-- A member sees what lies in one of the sources, one of the folders and one of the projects; an empty list restricts nothing.
CREATE TABLE member (
    role     name PRIMARY KEY,                  -- its login role
    token    text UNIQUE,                       -- SHA-256 of its token for `serve`, in hexadecimal
    writes   boolean NOT NULL DEFAULT false,
    sources  text[] NOT NULL DEFAULT '{}',
    folders  text[] NOT NULL DEFAULT '{}',      -- paths inside the source, without slash at the ends
    projects text[] NOT NULL DEFAULT '{}',      -- in lower case
    created  timestamptz NOT NULL DEFAULT now(),
    expires  timestamptz
);

CREATE TABLE source (
    name      text COLLATE "C" PRIMARY KEY,
    owner     name NOT NULL DEFAULT current_user,  -- the only member that publishes it
    machine   text NOT NULL DEFAULT '',            -- tells two machines of one member apart
    private   boolean NOT NULL DEFAULT false,      -- visible to its owner alone
    shared    boolean NOT NULL DEFAULT false,      -- every member that may write changes its files
    pending   integer NOT NULL DEFAULT 0,          -- number of its chunks without a vector
    published timestamptz
);
INSERT INTO source (name, shared) VALUES ('team', true);  -- of the memories that are written through the pool

-- Documents with the same rights. Every row of a document names its zone, so a policy needs no join.
CREATE TABLE zone (
    id        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source    text COLLATE "C" NOT NULL REFERENCES source ON DELETE CASCADE,
    folder    text COLLATE "C" NOT NULL,  -- the folder of its documents, without slash at the ends; '' is the root
    project   text COLLATE "C" NOT NULL,  -- '' for none
    documents integer NOT NULL DEFAULT 0, -- kept by triggers
    chunks    integer NOT NULL DEFAULT 0,
    UNIQUE (source, folder, project)
);
CREATE FUNCTION above(folder text) RETURNS text[] LANGUAGE sql IMMUTABLE
    RETURN (SELECT array_agg(array_to_string(parts[:place], '/'))
        FROM string_to_array(folder, '/') AS parts, generate_subscripts(parts, 1) AS place);
ALTER TABLE zone ADD COLUMN folders text[] GENERATED ALWAYS AS (above(folder)) STORED;  -- the folder and those above it

CREATE TABLE document (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    zone_id       integer NOT NULL REFERENCES zone ON DELETE CASCADE,
    version       bytea   NOT NULL,       -- hash of everything published of it; equal versions need no publication
    uid           text COLLATE "C" NOT NULL,
    source        text COLLATE "C" NOT NULL,
    path          text COLLATE "C" NOT NULL,
    name          text COLLATE "C" NOT NULL,
    kind          text    NOT NULL,
    title         text COLLATE "C" NOT NULL,
    content_hash  bytea   NOT NULL,
    size          bigint  NOT NULL,
    mtime_ns      bigint  NOT NULL,
    ctime_ns      bigint  NOT NULL,
    inode         bigint  NOT NULL,
    line_count    integer NOT NULL,
    tokens        integer NOT NULL,
    created       float8  NOT NULL,       -- seconds since the epoch
    updated       float8  NOT NULL,
    type          text COLLATE "C",
    digest        text COLLATE "C" NOT NULL,
    project       text COLLATE "C",
    entered_by    text COLLATE "C",
    expires       float8,
    valid_until   float8,
    confidence    text COLLATE "C",
    superseded_by text COLLATE "C",
    archived      float8,
    unreviewed    integer NOT NULL DEFAULT 0,
    frontmatter   text COLLATE "C" NOT NULL,  -- JSON
    title_given   boolean NOT NULL,
    name_given    boolean NOT NULL,
    words         text[]  NOT NULL,       -- its distinct words, each as 'stem word'
    name_terms    tsvector NOT NULL,      -- stems of its names, with positions
    name_weights  sparsevec NOT NULL,     -- BM25 weights of the same stems
    UNIQUE (source, path)
);
CREATE INDEX ON document (zone_id);
CREATE INDEX ON document (uid);
CREATE INDEX ON document (name);
CREATE INDEX ON document (created);
CREATE INDEX ON document (expires) WHERE expires IS NOT NULL;
CREATE INDEX ON document (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX ON document (archived) WHERE archived IS NOT NULL;
CREATE INDEX ON document (unreviewed) WHERE unreviewed > 0;
CREATE INDEX ON document USING gin (name_terms);

CREATE TABLE chunk (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id bigint  NOT NULL REFERENCES document ON DELETE CASCADE,
    zone_id     integer NOT NULL,
    ordinal     integer NOT NULL,
    start_line  integer NOT NULL,
    end_line    integer NOT NULL,
    tokens      integer NOT NULL,
    headings    text    NOT NULL,         -- JSON
    text        text COLLATE "C" NOT NULL,
    embed_key   bytea   NOT NULL,         -- SHA-256 of context and text: the key of its embedding
    terms       tsvector NOT NULL,        -- stems of all columns of chunk_fts, with positions
    weights     sparsevec STORAGE MAIN NOT NULL  -- BM25 weights of the same stems, by their hash; in the row, for speed
);
CREATE INDEX ON chunk (document_id, ordinal);
CREATE INDEX ON chunk (embed_key);
CREATE INDEX chunk_terms ON chunk USING gin (zone_id, terms);

CREATE TABLE tag (
    tag         text COLLATE "C" NOT NULL,
    document_id bigint  NOT NULL REFERENCES document ON DELETE CASCADE,
    zone_id     integer NOT NULL,
    PRIMARY KEY (tag, document_id)
);
CREATE INDEX ON tag (document_id);

CREATE TABLE alias (
    alias       text COLLATE "C" NOT NULL,
    folded      text COLLATE "C" NOT NULL,
    document_id bigint  NOT NULL REFERENCES document ON DELETE CASCADE,
    zone_id     integer NOT NULL
);
CREATE INDEX ON alias (folded);
CREATE INDEX ON alias (document_id);

CREATE TABLE link (
    document_id bigint  NOT NULL REFERENCES document ON DELETE CASCADE,
    zone_id     integer NOT NULL,
    line        integer NOT NULL,
    target      text COLLATE "C" NOT NULL,
    target_name text COLLATE "C" NOT NULL,
    heading     text COLLATE "C" NOT NULL,
    text        text COLLATE "C" NOT NULL,
    embed       boolean NOT NULL,
    terms       tsvector NOT NULL         -- stems of its text, a name of the target
);
CREATE INDEX ON link (document_id);
CREATE INDEX ON link (target_name);
CREATE INDEX ON link USING gin (terms);

CREATE TABLE vector_space (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider   text NOT NULL,
    model      text NOT NULL,
    dimensions integer NOT NULL,
    endpoint   text NOT NULL,
    state      text NOT NULL DEFAULT 'building',  -- 'serving' for the one that answers queries
    UNIQUE (provider, model, dimensions, endpoint)
);
CREATE UNIQUE INDEX ON vector_space (state) WHERE state = 'serving';

-- Vectors by content, model and zone: a text that is published twice in a zone has one.
CREATE TABLE embedding (
    space_id integer NOT NULL REFERENCES vector_space ON DELETE CASCADE,
    zone_id  integer NOT NULL REFERENCES zone ON DELETE CASCADE,
    key      bytea   NOT NULL,            -- chunk.embed_key
    data     halfvec NOT NULL,            -- a unit vector
    PRIMARY KEY (key, space_id, zone_id)
);
CREATE INDEX ON embedding (zone_id);

-- The words of each zone. With word '', the number of chunks that hold the stem; with ' ', the number of documents
-- with it in a name; else the number of documents that hold the word. Kept by triggers.
CREATE TABLE term (
    zone_id integer NOT NULL REFERENCES zone ON DELETE CASCADE,
    stem    text COLLATE "C" NOT NULL,
    word    text COLLATE "C" NOT NULL,
    chunks  integer NOT NULL,
    PRIMARY KEY (stem, word, zone_id) INCLUDE (chunks)  -- so that counts are read from the index alone
);
CREATE INDEX ON term (zone_id, stem) WHERE word > ' ';
CREATE INDEX ON term (stem, word) WHERE word > ' ';
CREATE INDEX ON term (zone_id);

-- Markdown files that were written through the pool, and every version of them.
CREATE TABLE file (
    source  text COLLATE "C" NOT NULL REFERENCES source ON DELETE CASCADE,
    path    text COLLATE "C" NOT NULL,
    zone_id integer NOT NULL REFERENCES zone,
    text    text NOT NULL,
    digest  bytea NOT NULL,               -- SHA-256 of the text; this and the next two are set by a trigger
    author  name NOT NULL,
    updated timestamptz NOT NULL,
    PRIMARY KEY (source, path)
);
CREATE TABLE file_version (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source  text COLLATE "C" NOT NULL,
    path    text COLLATE "C" NOT NULL,
    zone_id integer NOT NULL,
    text    text,                         -- NULL: deleted
    author  name NOT NULL,
    written timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON file_version (source, path);

-- --- rights ------------------------------------------------------------------------------------------------------

-- The zones that the current user may see, and those whose rows it may change.
CREATE VIEW seen_zone WITH (security_barrier) AS
SELECT zone.id, zone.source, zone.folder, zone.project, zone.documents, zone.chunks,
    source.owner = current_user OR (source.shared AND member.writes) AS writes
FROM zone JOIN source ON source.name = zone.source LEFT JOIN member
    ON member.role = current_user AND (member.expires IS NULL OR member.expires > now())
WHERE source.owner = current_user OR (
    NOT source.private
    AND (cardinality(member.sources) = 0 OR zone.source = ANY (member.sources))
    AND (cardinality(member.folders) = 0 OR zone.folders && member.folders)
    AND (cardinality(member.projects) = 0 OR lower(zone.project) = ANY (member.projects))
);

-- Whether the current user sees everything, which is faster to know than each zone.
CREATE VIEW sight WITH (security_barrier) AS
SELECT EXISTS (SELECT FROM member WHERE role = current_user AND (expires IS NULL OR expires > now())
    AND cardinality(sources || folders || projects) = 0)
    AND NOT EXISTS (SELECT FROM source WHERE private AND owner <> current_user) AS whole;

-- Both as functions, which the planner does not open: a policy on each table of a statement would take long to plan.
CREATE FUNCTION seen_zones() RETURNS SETOF integer LANGUAGE sql STABLE ROWS 100 BEGIN ATOMIC SELECT id FROM seen_zone; END;
CREATE FUNCTION sees_all() RETURNS boolean LANGUAGE sql STABLE RETURN (SELECT whole FROM sight);

CREATE FUNCTION zone_of(wanted_source text, wanted_folder text, wanted_project text) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = pool AS $$
    INSERT INTO zone (source, folder, project) VALUES (wanted_source, wanted_folder, wanted_project)
    ON CONFLICT (source, folder, project) DO UPDATE SET source = excluded.source RETURNING id
$$;

-- The member with a token, for servers only.
CREATE FUNCTION member_with(wanted text) RETURNS SETOF member
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pool AS $$
    SELECT * FROM member WHERE token = wanted AND (expires IS NULL OR expires > now())
$$;

-- Vectors of texts whose hash the caller knows, whoever published them. Those of private sources would tell that these
-- hold the text.
CREATE FUNCTION known_vectors(space integer, keys bytea[]) RETURNS TABLE (key bytea, data halfvec)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pool, public AS $$
    SELECT DISTINCT ON (embedding.key) embedding.key, embedding.data FROM embedding
    JOIN zone ON zone.id = zone_id JOIN source ON source.name = zone.source AND NOT source.private
    WHERE space_id = space AND embedding.key = ANY (keys)
$$;

DO $$
DECLARE
    of_zone text;
    mine text := '(zone_id IN (SELECT id FROM seen_zone WHERE writes))';
BEGIN
    -- `zone_id + 0` keeps the policy from choosing the index, so conditions of queries come first.
    FOREACH of_zone IN ARRAY ARRAY['document', 'chunk', 'tag', 'alias', 'link', 'embedding', 'term', 'file', 'file_version'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', of_zone);
        EXECUTE format('CREATE POLICY seen ON %I FOR SELECT USING ((SELECT pool.sees_all()) OR zone_id + 0 IN (SELECT pool.seen_zones()))', of_zone);
        EXECUTE format('CREATE POLICY inserted ON %I FOR INSERT WITH CHECK %s', of_zone, mine);
        EXECUTE format('CREATE POLICY updated ON %I FOR UPDATE USING %s', of_zone, mine);
        EXECUTE format('CREATE POLICY deleted ON %I FOR DELETE USING %s', of_zone, mine);
    END LOOP;
END $$;
ALTER TABLE zone ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON zone FOR SELECT USING (id IN (SELECT id FROM seen_zone));
ALTER TABLE source ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON source FOR SELECT
    USING ((SELECT pool.sees_all()) OR owner = current_user OR name IN (SELECT source FROM seen_zone));
CREATE POLICY owned ON source USING (owner = current_user);
ALTER TABLE member ENABLE ROW LEVEL SECURITY;
CREATE POLICY self ON member FOR SELECT USING (role = current_user);

-- --- counts ------------------------------------------------------------------------------------------------------

CREATE FUNCTION count_chunks() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pool AS $$
DECLARE sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    UPDATE zone SET chunks = zone.chunks + sign * n
    FROM (SELECT zone_id, count(*) AS n FROM changed GROUP BY 1) AS one WHERE zone.id = one.zone_id;
    INSERT INTO term AS counted SELECT zone_id, lexeme, '', sign * count(*) FROM changed, unnest(terms) GROUP BY 1, 2
        ORDER BY 2, 1
    ON CONFLICT (stem, word, zone_id) DO UPDATE SET chunks = counted.chunks + excluded.chunks;
    RETURN NULL;
END $$;

CREATE FUNCTION count_documents() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pool AS $$
DECLARE sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    UPDATE zone SET documents = zone.documents + sign * n
    FROM (SELECT zone_id, count(*) AS n FROM changed GROUP BY 1) AS one WHERE zone.id = one.zone_id;
    INSERT INTO term AS counted
        SELECT zone_id, split_part(pair, ' ', 1), split_part(pair, ' ', 2), sign * count(*)
        FROM changed, unnest(words) AS pair GROUP BY 1, 2, 3
        UNION ALL SELECT zone_id, lexeme, ' ', sign * count(*) FROM changed, unnest(name_terms) GROUP BY 1, 2
        ORDER BY 2, 3, 1
    ON CONFLICT (stem, word, zone_id) DO UPDATE SET chunks = counted.chunks + excluded.chunks;
    RETURN NULL;
END $$;

CREATE TRIGGER counted AFTER INSERT ON chunk REFERENCING NEW TABLE AS changed EXECUTE FUNCTION count_chunks();
CREATE TRIGGER uncounted AFTER DELETE ON chunk REFERENCING OLD TABLE AS changed EXECUTE FUNCTION count_chunks();
CREATE TRIGGER counted AFTER INSERT ON document REFERENCING NEW TABLE AS changed EXECUTE FUNCTION count_documents();
CREATE TRIGGER uncounted AFTER DELETE ON document REFERENCING OLD TABLE AS changed EXECUTE FUNCTION count_documents();

CREATE FUNCTION stamp_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.digest := sha256(convert_to(NEW.text, 'UTF8'));
    NEW.author := current_user;
    NEW.updated := now();
    RETURN NEW;
END $$;
CREATE TRIGGER stamped BEFORE INSERT OR UPDATE ON file FOR EACH ROW EXECUTE FUNCTION stamp_file();

CREATE FUNCTION keep_version() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pool AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO file_version (source, path, zone_id, author) VALUES (OLD.source, OLD.path, OLD.zone_id, OLD.author);
    ELSE
        INSERT INTO file_version (source, path, zone_id, text, author)
            VALUES (NEW.source, NEW.path, NEW.zone_id, NEW.text, NEW.author);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER kept AFTER INSERT OR UPDATE OR DELETE ON file FOR EACH ROW EXECUTE FUNCTION keep_version();
