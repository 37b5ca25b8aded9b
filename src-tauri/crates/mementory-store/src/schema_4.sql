-- The ids of records in exports where they are not the vault ids: another vault exported the record first, and the
-- record keeps the id that it had there. An erasure leaves the row, because the tombstone names the record by that id.
CREATE TABLE export_ids (record BLOB PRIMARY KEY, id BLOB NOT NULL UNIQUE) WITHOUT ROWID;
