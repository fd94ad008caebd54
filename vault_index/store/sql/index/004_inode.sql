-- Files of one size and one moment are told apart by it. 0: not known, so the next sync looks whether the text is the same.
ALTER TABLE document ADD COLUMN inode INTEGER NOT NULL DEFAULT 0;
CREATE INDEX document_inode ON document (inode);  -- the names of one file

-- Read again: those of which more was repeated in each chunk than is repeated now.
UPDATE document SET made_with = '' WHERE length(title) > 1000 OR length(path) > 1000 OR length(frontmatter) > 1000
    OR id IN (SELECT document_id FROM chunk GROUP BY document_id HAVING count(*) > 64 OR max(length(headings)) > 1000);
