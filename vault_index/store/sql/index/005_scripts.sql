-- What is a word of a text has changed for some scripts: all words are counted anew.
DELETE FROM term;
DELETE FROM uncounted_text;
INSERT INTO uncounted_text (text, change) SELECT called, 1 FROM document;
INSERT OR IGNORE INTO uncounted_chunk SELECT id FROM chunk;
