-- What the person answered in the review, by record id. An undone import leaves the answers, so that they are there
-- again when it is imported again; an erasure removes them. `answer`: 1 = true, 2 = outdated, 3 = wrong, 4 = private.
CREATE TABLE reviews (record BLOB PRIMARY KEY, answer INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
-- What memories mean: vectors of the sentence encoder, for search by meaning. They are made from the records and
-- can be made again. A long text has several, one for each part; `vector` is empty if there is nothing to encode.
CREATE TABLE vectors (row INTEGER NOT NULL, part INTEGER NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (row, part)) WITHOUT ROWID;
-- A vector is as personal as its text, so it never outlives it: not an edit, a redaction, the Trash or an erasure.
CREATE TRIGGER forget_changed_vector AFTER UPDATE OF version, preview, pack, slot ON records BEGIN
  DELETE FROM vectors WHERE row = new.row;
END;
CREATE TRIGGER forget_trashed_vector AFTER UPDATE OF trashed ON records WHEN new.trashed IS NOT NULL BEGIN
  DELETE FROM vectors WHERE row = new.row;
END;
CREATE TRIGGER forget_erased_vector AFTER DELETE ON records BEGIN
  DELETE FROM vectors WHERE row = old.row;
END;
