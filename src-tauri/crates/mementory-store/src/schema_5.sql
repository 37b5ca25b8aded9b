-- Values that an import compares without reading the body of a record. `details`: keyed digest of the links, entities,
-- vectors and original text, which `digest` does not cover; 0 if it was not computed, null in rows of an older program.
-- `updated`: the latest time, in microseconds, at which a source says that it changed the content; null if no source
-- states such a time. If `details` is null too, the time is in the body.
ALTER TABLE records ADD COLUMN details INTEGER;
ALTER TABLE records ADD COLUMN updated INTEGER;
ALTER TABLE versions ADD COLUMN details INTEGER;
ALTER TABLE versions ADD COLUMN updated INTEGER;
-- The former `updated` of a record of any kind whose content is unchanged, but which has a later time in a newer
-- export.
ALTER TABLE moved ADD COLUMN updated INTEGER;
