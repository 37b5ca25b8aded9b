-- The person's answers in the review, by record id. Undoing an import keeps the answers, because the records may be
-- imported again; an erasure removes them. `answer`: 1 = true, 2 = outdated, 3 = wrong, 4 = private.
CREATE TABLE reviews (record BLOB PRIMARY KEY, answer INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
-- Vectors of the sentence encoder, for search by meaning. They are computed from the records and can be computed again.
-- A long text is divided into parts, each with a vector; `vector` is empty if there is nothing to encode.
CREATE TABLE vectors (row INTEGER NOT NULL, part INTEGER NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (row, part)) WITHOUT ROWID;
-- A vector is as personal as its text, so it is deleted when the text is edited, redacted, moved to the Trash or
-- erased.
CREATE TRIGGER forget_changed_vector AFTER UPDATE OF version, preview, pack, slot ON records BEGIN
  DELETE FROM vectors WHERE row = new.row;
END;
CREATE TRIGGER forget_trashed_vector AFTER UPDATE OF trashed ON records WHEN new.trashed IS NOT NULL BEGIN
  DELETE FROM vectors WHERE row = new.row;
END;
CREATE TRIGGER forget_erased_vector AFTER DELETE ON records BEGIN
  DELETE FROM vectors WHERE row = old.row;
END;
