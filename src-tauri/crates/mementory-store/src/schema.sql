CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;

-- One row per import. `report` is the JSON of the import report.
CREATE TABLE batches (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  format TEXT,
  names TEXT NOT NULL,
  report TEXT NOT NULL DEFAULT '',
  added INTEGER NOT NULL DEFAULT 0,
  updated INTEGER NOT NULL DEFAULT 0,
  undone_at INTEGER,
  -- Rows that were there before and that this import contains unchanged (`same`) or in an older state (`older`),
  -- encoded by `row_ranges.rs` of the vault crate.
  same BLOB,
  older BLOB
);

CREATE TABLE platforms (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- Packs of record bodies. An entry has the JSON of a body and its verbatim; all entries of a pack come from one batch
-- and are compressed together (zstd).
CREATE TABLE packs (id INTEGER PRIMARY KEY, batch INTEGER, data BLOB NOT NULL);
CREATE INDEX packs_batch ON packs (batch) WHERE batch IS NOT NULL;

-- The columns that queries need; all other fields of a record are in its pack. Messages have no `title` and `preview`.
CREATE TABLE records (
  row INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  kind INTEGER NOT NULL,
  platform INTEGER NOT NULL,
  sort INTEGER NOT NULL,
  owner INTEGER,
  parent INTEGER,
  position INTEGER NOT NULL DEFAULT 0,
  flags INTEGER NOT NULL DEFAULT 0,
  pack INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  version INTEGER NOT NULL DEFAULT 1,
  since INTEGER NOT NULL,
  cause INTEGER NOT NULL DEFAULT 0,
  digest BLOB NOT NULL,
  batch INTEGER,
  version_batch INTEGER,
  trashed INTEGER,
  trash_root INTEGER,
  -- The import whose tombstones moved the record to the Trash; null if a person did.
  trash_batch INTEGER,
  type TEXT,
  status TEXT,
  title TEXT,
  preview TEXT
);
CREATE INDEX records_list ON records (kind, sort DESC, row DESC, platform, batch, since) WHERE trashed IS NULL;
CREATE INDEX records_all ON records (sort DESC, row DESC) WHERE trashed IS NULL;
CREATE INDEX records_owner ON records (owner, position) WHERE owner IS NOT NULL;
CREATE INDEX records_trash ON records (trashed) WHERE trashed IS NOT NULL;
CREATE INDEX records_batch ON records (batch);
CREATE INDEX records_edited ON records (batch) WHERE version_batch IS NULL;

-- Superseded versions of records.
CREATE TABLE versions (
  row INTEGER NOT NULL,
  version INTEGER NOT NULL,
  pack INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  cause INTEGER NOT NULL,
  batch INTEGER,
  flags INTEGER NOT NULL,
  digest BLOB NOT NULL,
  sort INTEGER,
  position INTEGER,
  PRIMARY KEY (row, version)
) WITHOUT ROWID;

CREATE TABLE tags (row INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (row, tag)) WITHOUT ROWID;
CREATE INDEX tags_tag ON tags (tag, row);

-- Links name the target's id, not its row, so a link need not change when its target is imported later or is removed.
CREATE TABLE links (row INTEGER NOT NULL, relation TEXT NOT NULL, target BLOB NOT NULL, PRIMARY KEY (row, relation, target)) WITHOUT ROWID;
CREATE INDEX links_target ON links (target, row);

-- Blobs of attachments and passthrough files; `row` is their record.
CREATE TABLE files (row INTEGER PRIMARY KEY, blob BLOB, size INTEGER, media_type TEXT);
CREATE INDEX files_blob ON files (blob) WHERE blob IS NOT NULL;
CREATE TABLE file_refs (row INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (row, file)) WITHOUT ROWID;
CREATE INDEX file_refs_file ON file_refs (file, row);
-- The state of a file before an import replaced its bytes; `blob` is null if the file had no bytes in the vault.
CREATE TABLE file_versions (
  row INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  blob BLOB,
  size INTEGER,
  media_type TEXT,
  PRIMARY KEY (row, batch)
) WITHOUT ROWID;
CREATE INDEX file_versions_batch ON file_versions (batch);
CREATE INDEX file_versions_blob ON file_versions (blob) WHERE blob IS NOT NULL;
-- Every blob that is in use. All other blobs are deleted.
CREATE VIEW named_blobs AS
  SELECT row, blob, size FROM files WHERE blob IS NOT NULL
  UNION ALL SELECT row, blob, size FROM file_versions WHERE blob IS NOT NULL;

-- Previous list position of an unchanged conversation or message that a newer export moved (other time or branch).
CREATE TABLE moved (
  row INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  sort INTEGER NOT NULL,
  position INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  PRIMARY KEY (row, batch)
) WITHOUT ROWID;
CREATE INDEX moved_batch ON moved (batch);

-- Deletions and redactions. `record` is the vault id of the target; no column contains record content.
CREATE TABLE tombstones (
  id TEXT PRIMARY KEY,
  op INTEGER NOT NULL,
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  scope TEXT NOT NULL,
  record BLOB,
  origin_id TEXT,
  source TEXT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  derived TEXT NOT NULL,
  signature TEXT NOT NULL,
  own INTEGER NOT NULL,
  receipt TEXT,
  verbatim TEXT
) WITHOUT ROWID;
CREATE TABLE blocked (record BLOB PRIMARY KEY, tombstone TEXT NOT NULL) WITHOUT ROWID;
-- The imports that contained a foreign tombstone, one not issued by this vault.
CREATE TABLE tombstone_batches (batch INTEGER NOT NULL, tombstone TEXT NOT NULL, PRIMARY KEY (batch, tombstone)) WITHOUT ROWID;
CREATE TABLE redacted (record BLOB PRIMARY KEY, tombstone TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE fingerprints (fingerprint BLOB PRIMARY KEY, tombstone TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE receipts (id TEXT PRIMARY KEY, at INTEGER NOT NULL, complete INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;

-- Append-only and hash-chained; `signature` is the vault's signature of `hash`.
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  op TEXT NOT NULL,
  target TEXT NOT NULL,
  detail TEXT NOT NULL,
  hash BLOB NOT NULL,
  signature BLOB NOT NULL
);

-- Changes that the index must follow: of one row (op 1 = index it again, 2 = remove it) or of a batch (op 3 = imported,
-- 4 = undone).
CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, op INTEGER NOT NULL, target INTEGER NOT NULL);
