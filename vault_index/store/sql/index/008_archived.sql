-- When a memory was archived, and whether somebody has yet to look at what was captured: 1 where it lies in the inbox, 2
-- where it waits there unseen.
ALTER TABLE document ADD COLUMN archived REAL;
ALTER TABLE document ADD COLUMN unreviewed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX document_archived ON document (archived) WHERE archived IS NOT NULL;
CREATE INDEX document_unreviewed ON document (unreviewed) WHERE unreviewed > 0;
