-- What was made of a text is no name: a title that nobody gave, a file name that was made of one.
ALTER TABLE document ADD COLUMN title_given INTEGER NOT NULL DEFAULT 1;
ALTER TABLE document ADD COLUMN name_given INTEGER NOT NULL DEFAULT 1;
