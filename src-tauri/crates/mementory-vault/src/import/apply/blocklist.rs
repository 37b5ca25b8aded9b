//! The ids and words that were deleted or redacted. Imports must not bring them back.
use crate::VaultResult;
use mementory_crypto::VaultKeys;
use mementory_model::{Kind, Link, Record, RecordKey};
use mementory_store::ids::{fingerprint, record_id};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::HashSet;

type IdSet = HashSet<[u8; 16]>;

/// Members of a `.mem` row that contain words.
const MEMBERS_WITH_WORDS: [&str; 10] =
    ["summary", "details", "text", "content", "label", "title", "description", "object", "value", "canonicalName"];

/// True for a text that is empty or has the mark of a redaction.
fn is_without_words(text: &str) -> bool {
    text.trim().is_empty() || text.to_ascii_uppercase().contains("[REDACTED")
}

/// True if a text in the row contains words, at any depth. The id of the row is not one of them.
fn contains_words_beside_id(row: &Value) -> bool {
    fn contains_words(value: &Value) -> bool {
        match value {
            Value::String(text) => !is_without_words(text),
            Value::Array(items) => items.iter().any(contains_words),
            Value::Object(members) => members.values().any(contains_words),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    match row {
        Value::Object(members) => members.iter().any(|(name, value)| name != "id" && contains_words(value)),
        other => contains_words(other),
    }
}

/// Relation that links a record to the record from which it was derived.
const DERIVED_FROM: &str = "derived_from";

/// The blocked ids and fingerprints of the vault, and what this import adds to them.
pub(super) struct Blocklist {
    /// Ids that deletions in this vault or imported deletions name.
    blocked: IdSet,
    /// Records that an imported deletion moved to the Trash although no tombstone names them ("cascaded"). They stay in
    /// the Trash unless this input contains other evidence for them.
    cascaded: IdSet,
    /// Ids of all redacted records.
    redacted: IdSet,
    /// Ids that tombstones of this import or of an earlier import redact.
    redacted_elsewhere: IdSet,
    /// Ids that tombstones of earlier imports redact. Tombstones of this import are not included.
    redacted_elsewhere_before: IdSet,
    /// Fingerprints of texts that were deleted or redacted. Empty if the import includes blocked texts.
    fingerprints: IdSet,
    /// Records of this input that were blocked.
    blocked_now: IdSet,
}

impl Blocklist {
    pub(super) fn load(connection: &Connection, include_blocked: bool) -> VaultResult<Self> {
        let set = |sql: &str| -> VaultResult<IdSet> {
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([], |r| r.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        };
        let redacted_elsewhere =
            set("SELECT r.record FROM redacted r JOIN tombstones t ON t.id = r.tombstone WHERE t.own = 0")?;
        Ok(Self {
            redacted_elsewhere_before: redacted_elsewhere.clone(),
            redacted_elsewhere,
            blocked: set("SELECT record FROM blocked")?,
            cascaded: set("SELECT id FROM records WHERE trashed IS NOT NULL AND trash_batch IS NOT NULL \
                 AND id NOT IN (SELECT record FROM redacted UNION SELECT record FROM blocked)")?,
            redacted: set("SELECT record FROM redacted")?,
            fingerprints: if include_blocked { HashSet::new() } else { set("SELECT fingerprint FROM fingerprints")? },
            blocked_now: HashSet::new(),
        })
    }

    /// Blocks records that a tombstone of this input deletes.
    pub(super) fn add_deleted(&mut self, ids: &[[u8; 16]]) {
        self.blocked.extend(ids);
    }

    /// Adds records that a tombstone of this input redacts, so that the redacted words are no longer imported.
    pub(super) fn add_redacted(&mut self, ids: &[[u8; 16]]) {
        self.redacted_elsewhere.extend(ids);
    }

    /// True for a record that a tombstone of an earlier import redacts. The vault keeps its version of such a record,
    /// whatever later imports contain.
    pub(super) fn was_redacted_elsewhere(&self, id: &[u8; 16]) -> bool {
        self.redacted_elsewhere_before.contains(id)
    }

    /// True for a record that an imported tombstone redacts and that still has the redacted words. False for the
    /// skeleton of the record (spec of `.mem` v1.1 §5), in which each place for words is empty or has a mark. The
    /// skeleton may be imported.
    pub(super) fn has_redacted_words(&self, id: &[u8; 16], record: &Record) -> bool {
        if !self.redacted_elsewhere.contains(id) {
            return false;
        }
        let source = record.verbatim.as_ref().and_then(|v| serde_json::from_str::<Value>(&v.text).ok());
        let words = |key: &&str| source.as_ref().and_then(|v| v.get(key)).and_then(|v| v.as_str());
        let mut all = [record.text.as_str(), record.title.as_deref().unwrap_or_default()]
            .into_iter()
            .chain(MEMBERS_WITH_WORDS.iter().filter_map(words));
        // The members of a row of a vendor kind have no known meaning, so any of them may contain words. A row that
        // cannot be parsed here may contain them too.
        let is_vendor_row = record.kind == Kind::Foreign;
        !all.all(is_without_words) || is_vendor_row && source.as_ref().is_none_or(contains_words_beside_id)
    }

    /// Notes that the record `id` was blocked, so that records that belong to it are blocked too.
    pub(super) fn add_blocked(&mut self, id: [u8; 16]) {
        self.blocked_now.insert(id);
    }

    pub(super) fn is_deleted(&self, id: &[u8; 16]) -> bool {
        self.blocked.contains(id) || self.cascaded.contains(id)
    }

    /// True for records that were deleted, that a deletion moved to the Trash without listing them, or that an import
    /// redacted. Such a record does not support the records derived from it.
    pub(super) fn is_removed_or_redacted(&self, id: &[u8; 16]) -> bool {
        self.blocked.contains(id) || self.cascaded.contains(id) || self.redacted_elsewhere.contains(id)
    }

    /// True for a record that an imported deletion moved to the Trash without naming it.
    pub(super) fn is_cascaded(&self, id: &[u8; 16]) -> bool {
        self.cascaded.contains(id) && !self.blocked.contains(id)
    }

    /// Notes that a cascaded record has other evidence now.
    pub(super) fn end_cascade(&mut self, id: &[u8; 16]) {
        self.cascaded.remove(id);
    }

    /// True for the id of a redacted record. Called only for ids that are not in the vault, since a redacted record in
    /// the vault has a flag.
    pub(super) fn is_redacted(&self, id: &[u8; 16]) -> bool {
        self.redacted.contains(id)
    }

    /// True if the record, its parent or, for a relation, one of its ends was deleted or blocked. Also true for a
    /// cascaded record, except an entity, if every record from which it was derived was deleted.
    pub(super) fn blocks(&self, keys: &VaultKeys, id: &[u8; 16], record: &Record) -> bool {
        self.blocked.contains(id)
            || record.parent.as_ref().is_some_and(|p| self.is_blocked(keys, p))
            || record.kind == Kind::Relation && Self::end_links(record).any(|end| self.is_end_blocked(keys, end))
            || self.cascaded.contains(id) && record.kind != Kind::Entity && !self.has_unblocked_source(keys, record)
    }

    /// Returns both ends of a relation.
    fn end_links(record: &Record) -> impl Iterator<Item = &Link> {
        record.links.iter().filter(|l| matches!(l.relation.as_str(), "source" | "target"))
    }

    /// True if the end of a relation was deleted or blocked. A cascaded entity does not count as deleted, since an edge
    /// with evidence restores it.
    fn is_end_blocked(&self, keys: &VaultKeys, end: &Link) -> bool {
        match end.kind {
            Kind::Entity => self.is_named(&record_id(keys, &end.target)),
            _ => self.is_blocked(keys, &end.target),
        }
    }

    /// Returns the cascaded entities among the ends of a relation.
    pub(super) fn cascaded_ends(&self, keys: &VaultKeys, record: &Record) -> Vec<[u8; 16]> {
        if self.cascaded.is_empty() || record.kind != Kind::Relation {
            return Vec::new();
        }
        let entities = Self::end_links(record).filter(|end| end.kind == Kind::Entity);
        entities.map(|end| record_id(keys, &end.target)).filter(|id| self.is_cascaded(id)).collect()
    }

    /// True if a record from which this record was derived is neither deleted nor blocked. For a record that names no
    /// source, true only if it is a fact, relation or memory.
    fn has_unblocked_source(&self, keys: &VaultKeys, record: &Record) -> bool {
        let mut sources = record.links.iter().filter(|l| l.relation == DERIVED_FROM).peekable();
        match sources.peek() {
            Some(_) => sources.any(|l| !self.is_blocked(keys, &l.target)),
            // A fact, relation or memory without a source is independent. A file or a message is part of another
            // record.
            None => matches!(record.kind, Kind::Fact | Kind::Relation | Kind::Memory),
        }
    }

    /// True if a deletion names the id, or a record with the id was blocked in this input.
    pub(super) fn is_named(&self, id: &[u8; 16]) -> bool {
        self.blocked.contains(id) || self.blocked_now.contains(id)
    }

    fn is_blocked(&self, keys: &VaultKeys, key: &RecordKey) -> bool {
        if self.blocked.is_empty() && self.blocked_now.is_empty() && self.cascaded.is_empty() {
            return false;
        }
        let id = record_id(keys, key);
        self.is_named(&id) || self.cascaded.contains(&id)
    }

    /// True if the record has the text of a deleted or redacted record.
    pub(super) fn has_blocked_text(&self, keys: &VaultKeys, record: &Record) -> bool {
        !self.fingerprints.is_empty()
            && fingerprint(keys, record.kind, &record.text).is_some_and(|f| self.fingerprints.contains(&f))
    }

    /// Returns the records that a statement, a chunk or an edge was derived from, and whether each was deleted or
    /// blocked.
    pub(super) fn sources<'r>(
        &'r self,
        keys: &'r VaultKeys,
        record: &'r Record,
    ) -> impl Iterator<Item = (&'r RecordKey, bool)> {
        let is_derived = matches!(record.kind, Kind::Fact | Kind::Chunk | Kind::Relation);
        let links = record.links.iter().filter(move |l| is_derived && l.relation == DERIVED_FROM);
        links.map(|l| (&l.target, self.is_blocked(keys, &l.target)))
    }
}
