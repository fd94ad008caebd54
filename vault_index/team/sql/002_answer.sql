-- What the reader asks: the tables of an index (store/sql/index) as views, and the functions of SQLite that its
-- statements use. The views show the zones of a request only (setting `pool.zones`; * for all), besides the policies.
-- `IS TRUE` makes the zones a condition instead of a join, so that the index of vectors can be used.

SET LOCAL search_path = pool, public;

CREATE FUNCTION asked_zones() RETURNS SETOF integer LANGUAGE sql STABLE ROWS 100
    RETURN unnest(nullif(current_setting('pool.zones', true), '')::integer[]);
CREATE FUNCTION asks_all() RETURNS boolean LANGUAGE sql STABLE RETURN current_setting('pool.zones', true) = '*';

DO $$
DECLARE of_zone text;
BEGIN
    FOREACH of_zone IN ARRAY ARRAY['document', 'chunk', 'tag', 'alias', 'link', 'embedding'] LOOP
        EXECUTE format('CREATE VIEW answer.%1$I WITH (security_invoker) AS SELECT * FROM pool.%1$I'
            ' WHERE ((SELECT pool.asks_all()) OR zone_id + 0 IN (SELECT pool.asked_zones())) IS TRUE', of_zone);
    END LOOP;
END $$;
CREATE VIEW answer.term_of_zone WITH (security_invoker) AS SELECT * FROM pool.term
    WHERE ((SELECT pool.asks_all()) OR zone_id + 0 IN (SELECT pool.asked_zones())) IS TRUE;
CREATE VIEW answer.term WITH (security_invoker) AS  -- {0} stands for many zones
    SELECT stem, word, sum(chunks) AS chunks, CASE WHEN count(*) <= 64 THEN array_agg(zone_id) ELSE '{0}' END AS zones
    FROM answer.term_of_zone GROUP BY stem, word HAVING sum(chunks) > 0;
CREATE VIEW answer.vector_space AS
    SELECT id, provider, model, dimensions, endpoint, state, 0 AS renewed FROM pool.vector_space;

CREATE VIEW answer.meta AS SELECT * FROM pool.meta;
CREATE VIEW answer.pending WITH (security_invoker) AS  -- only to be counted
    SELECT vector_space.id AS space_id, NULL::bigint AS chunk_id FROM pool.vector_space, pool.source,
        generate_series(1, source.pending) WHERE vector_space.state = 'serving';

CREATE FUNCTION atoms(value jsonb) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
    SELECT atom #>> '{}' FROM jsonb_path_query(value, 'strict $.** ? (@.type() != "object" && @.type() != "array")') AS atom
$$;
CREATE FUNCTION json_each(object text) RETURNS TABLE (key text, value json, type text)
LANGUAGE sql IMMUTABLE AS $$
    SELECT one.key, one.value::json, CASE WHEN jsonb_typeof(one.value) = 'boolean' THEN one.value::text
        ELSE jsonb_typeof(one.value) END FROM jsonb_each(object::jsonb) AS one
$$;
CREATE FUNCTION json_each(object text, path text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE AS $$
    SELECT pool.atoms(object::jsonb -> substr(path, 3))
$$;
CREATE FUNCTION json_tree(value json) RETURNS TABLE (atom text) LANGUAGE sql IMMUTABLE AS $$
    SELECT pool.atoms(value::jsonb)
$$;
CREATE FUNCTION json_extract(object text, path text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN object::jsonb ->> substr(path, 3);
CREATE FUNCTION iif(condition boolean, one text, other text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN condition THEN one ELSE other END;
CREATE FUNCTION instr(text text, part text) RETURNS integer LANGUAGE sql IMMUTABLE RETURN position(part IN text);
CREATE FUNCTION fold(text text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN casefold(normalize(text, NFKC) COLLATE "pg_unicode_fast");
CREATE FUNCTION joined(before text, text text, mark text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN coalesce(before || mark, '') || text;
CREATE AGGREGATE group_concat(text, text) (SFUNC = joined, STYPE = text);
CREATE FUNCTION nfc(text text) RETURNS text LANGUAGE sql IMMUTABLE RETURN normalize(text, NFC);
CREATE FUNCTION hex(data bytea) RETURNS text LANGUAGE sql IMMUTABLE RETURN upper(encode(data, 'hex'));
CREATE FUNCTION unixepoch(part text) RETURNS float8 LANGUAGE sql STABLE RETURN extract(epoch FROM now())::float8;
-- `text GLOB pattern`, with `*`, `?` and classes; nothing matches a class without an end.
CREATE FUNCTION glob(pattern text, text text) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN
    CASE WHEN regexp_replace(pattern, '\[\^?\]?[^\]]*\]', '', 'g') LIKE '%[%' THEN false
    ELSE text ~ ('^' || replace(replace(replace(regexp_replace(
        pattern, '([.\\+(){}|$]|(?<!\[)\^)', '\\\1', 'g'), '[[]', '\['), '*', '.*'), '?', '.') || '$') END;
-- As `project_form` and `project_forms` in vault_index/markdown/normalize.py.
CREATE FUNCTION project_form(project text) RETURNS text LANGUAGE sql IMMUTABLE RETURN (
    SELECT string_agg(trim(BOTH '-' FROM regexp_replace(part, '[\s_\-\u2010-\u2015\u2212]+', '-', 'g')), '/' ORDER BY place)
    FROM unnest(string_to_array(regexp_replace(
        CASE WHEN btrim(project) LIKE '[[%' THEN regexp_replace(
            regexp_replace(fold(btrim(project)), '^\[\[([^\[\]|#]*).*$', '\1'), '^.*/|\.md\s*$', '', 'g')
        ELSE fold(btrim(project)) END, '^(#\s*|project[:/]\s*)+', ''), '/')) WITH ORDINALITY AS one (part, place));
CREATE FUNCTION names_project(project text, VARIADIC forms text[]) RETURNS boolean LANGUAGE sql IMMUTABLE
    RETURN EXISTS (SELECT FROM unnest(project || string_to_array(project, ',')) AS part WHERE project_form(part) = ANY (forms));

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vault_pool_member') THEN
        CREATE ROLE vault_pool_member NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vault_pool_server') THEN
        CREATE ROLE vault_pool_server NOLOGIN;  -- its members may become the members of the pool, and nothing else
    END IF;
    -- Policies hide rows before other conditions are tested, unless these cannot tell of the hidden ones. Only a superuser
    -- can say so; once it has, any role that may create roles can own a pool.
    IF NOT (SELECT proleakproof FROM pg_proc WHERE oid = 'pg_catalog.ts_match_vq(tsvector, tsquery)'::regprocedure) THEN
        ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF;
    END IF;
END $$;
GRANT USAGE ON SCHEMA pool, answer TO vault_pool_member, vault_pool_server;
GRANT SELECT ON ALL TABLES IN SCHEMA pool TO vault_pool_member;
GRANT SELECT ON ALL TABLES IN SCHEMA answer TO vault_pool_member;
GRANT INSERT, UPDATE, DELETE ON pool.document, pool.chunk, pool.tag, pool.alias, pool.link, pool.embedding, pool.source,
    pool.file TO vault_pool_member;
GRANT INSERT ON pool.meta, pool.vector_space TO vault_pool_member;
REVOKE EXECUTE ON FUNCTION pool.member_with FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pool.member_with TO vault_pool_server;
