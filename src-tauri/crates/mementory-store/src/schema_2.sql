-- Places of sensitive values. `value` is a keyed fingerprint, the same for equal values; the values themselves are not
-- stored.
CREATE TABLE findings (
  row INTEGER NOT NULL,
  -- 0 = text, 1 = title, 2 + 2n = text of the n-th file, 3 + 2n = n-th content block beside the text.
  field INTEGER NOT NULL,
  start INTEGER NOT NULL,
  class INTEGER NOT NULL,
  confidence INTEGER NOT NULL,
  detector TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (row, field, start)
) WITHOUT ROWID;
CREATE INDEX findings_value ON findings (value, row);

-- Decisions about a value: 1 = ignored now and in future, 2 = redacted (in `places` records, for the list).
CREATE TABLE judged (
  value BLOB PRIMARY KEY,
  class INTEGER NOT NULL,
  verdict INTEGER NOT NULL,
  places INTEGER NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;

-- Queue of records to be scanned again. New records need no entry, since their row numbers are above `looked_row` in
-- `meta`.
CREATE TABLE unlooked (row INTEGER PRIMARY KEY);
CREATE TRIGGER look_again AFTER UPDATE OF version, preview ON records BEGIN
  INSERT OR IGNORE INTO unlooked (row) VALUES (new.row);
END;
CREATE TRIGGER forget_findings AFTER DELETE ON records BEGIN
  DELETE FROM findings WHERE row = old.row;
  DELETE FROM unlooked WHERE row = old.row;
END;

-- Pairs of similar memories that the person decided to keep; `one` is the smaller id.
CREATE TABLE apart (one BLOB NOT NULL, other BLOB NOT NULL, PRIMARY KEY (one, other)) WITHOUT ROWID;
