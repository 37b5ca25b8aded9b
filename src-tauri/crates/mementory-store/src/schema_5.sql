-- What an import compares without reading the body. `details`: keyed digest of what a source says beyond the content of
-- `digest` (links, entities, vectors, original text); 0 if it was not computed, null in rows of an older program.
-- `updated`: the latest time, in microseconds, at which a source says that it changed the content; null if none says
-- one. Where `details` is null too, the body has that time.
ALTER TABLE records ADD COLUMN details INTEGER;
ALTER TABLE records ADD COLUMN updated INTEGER;
ALTER TABLE versions ADD COLUMN details INTEGER;
ALTER TABLE versions ADD COLUMN updated INTEGER;
-- The former `updated` of an unchanged record of any kind that a newer export dates later.
ALTER TABLE moved ADD COLUMN updated INTEGER;
