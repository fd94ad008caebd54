-- Files of one size and one moment are told apart by it. 0: not known, so the next sync looks whether the text is the same.
ALTER TABLE document ADD COLUMN inode INTEGER NOT NULL DEFAULT 0;
CREATE INDEX document_inode ON document (inode);  -- the names of one file
