-- What the person answered in the review, by record id. An undone import leaves the answers, so that they are there
-- again when it is imported again; an erasure removes them. `answer`: 1 = true, 2 = outdated, 3 = wrong, 4 = private.
CREATE TABLE reviews (record BLOB PRIMARY KEY, answer INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
