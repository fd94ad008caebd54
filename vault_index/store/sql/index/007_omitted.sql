-- Of a session: hashes of what it quotes of deleted memories, which is not indexed. JSON.
ALTER TABLE document ADD COLUMN omitted TEXT;
