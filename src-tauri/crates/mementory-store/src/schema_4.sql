-- The export id of each record whose export id is not its vault id. Another vault exported such a record first, and the
-- record keeps its id from that vault. An erasure does not delete the row, because the tombstone names the record by
-- this id.
CREATE TABLE export_ids (record BLOB PRIMARY KEY, id BLOB NOT NULL UNIQUE) WITHOUT ROWID;
