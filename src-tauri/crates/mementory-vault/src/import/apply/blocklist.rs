//! What does not come back: ids that were deleted or redacted here, and words that were.
use crate::VaultResult;
use mementory_crypto::VaultKeys;
use mementory_model::{Kind, Record, RecordKey};
use mementory_store::ids::{fingerprint, record_id};
use rusqlite::Connection;
use std::collections::HashSet;

type Ids = HashSet<[u8; 16]>;

/// Members of a `.mem` row that hold words.
const WORDED: [&str; 10] =
    ["summary", "details", "text", "content", "label", "title", "description", "object", "value", "canonicalName"];

/// Relation of a record to what it was taken from.
const DERIVED: &str = "derived_from";

/// The vault's own memory of what was taken out, and what this import adds to it.
pub(super) struct Blocklist {
    /// Deleted.
    blocked: Ids,
    /// Redacted, and not here any more.
    redacted: Ids,
    /// Redacted elsewhere, says a tombstone that an import brought.
    redacted_elsewhere: Ids,
    /// The same, of former imports only.
    redacted_elsewhere_before: Ids,
    /// Of words that were deleted or redacted.
    fingerprints: Ids,
    /// Blocked in this input.
    here: Ids,
}

impl Blocklist {
    pub(super) fn load(connection: &Connection, let_in: bool) -> VaultResult<Self> {
        let set = |sql: &str| -> VaultResult<Ids> {
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([], |r| r.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        };
        let redacted_elsewhere =
            set("SELECT r.record FROM redacted r JOIN tombstones t ON t.id = r.tombstone WHERE t.own = 0")?;
        Ok(Self {
            redacted_elsewhere_before: redacted_elsewhere.clone(),
            redacted_elsewhere,
            // What a tombstone of an import reached beyond its target is as dead as the target, while it is in the Trash.
            blocked: set("SELECT record FROM blocked UNION SELECT id FROM records WHERE trashed IS NOT NULL \
                 AND trash_batch IS NOT NULL AND id NOT IN (SELECT record FROM redacted)")?,
            redacted: set("SELECT record FROM redacted")?,
            fingerprints: if let_in { HashSet::new() } else { set("SELECT fingerprint FROM fingerprints")? },
            here: HashSet::new(),
        })
    }

    /// A tombstone that this input brought.
    pub(super) fn block(&mut self, ids: &[[u8; 16]]) {
        self.blocked.extend(ids);
    }

    /// A redaction that this input brought.
    pub(super) fn empty(&mut self, ids: &[[u8; 16]]) {
        self.redacted_elsewhere.extend(ids);
    }

    /// True for what a former import said was redacted: what the vault has of it is what is left, whatever others tell.
    pub(super) fn was_redacted_elsewhere(&self, id: &[u8; 16]) -> bool {
        self.redacted_elsewhere_before.contains(id)
    }

    /// True for the words of what was redacted elsewhere. What is left of it may come: no text, or one with a mark where
    /// words were (spec of `.mem` v1.1 §5, the skeleton), in every place that holds words.
    pub(super) fn has_words_of(&self, id: &[u8; 16], record: &Record) -> bool {
        if !self.redacted_elsewhere.contains(id) {
            return false;
        }
        let bare = |text: &str| text.trim().is_empty() || text.to_ascii_uppercase().contains("[REDACTED");
        let said = record.verbatim.as_ref().and_then(|v| serde_json::from_str::<serde_json::Value>(&v.text).ok());
        let words = |key: &&str| said.as_ref().and_then(|v| v.get(key)).and_then(|v| v.as_str());
        let mut all = [record.text.as_str(), record.title.as_deref().unwrap_or_default()]
            .into_iter()
            .chain(WORDED.iter().filter_map(words));
        !all.all(bare)
    }

    /// `id` was blocked; what belongs to it will be too.
    pub(super) fn hold(&mut self, id: [u8; 16]) {
        self.here.insert(id);
    }

    pub(super) fn is_deleted(&self, id: &[u8; 16]) -> bool {
        self.blocked.contains(id)
    }

    /// True for what was deleted, and for what an import said was redacted: neither is support for anything.
    pub(super) fn is_gone(&self, id: &[u8; 16]) -> bool {
        self.blocked.contains(id) || self.redacted_elsewhere.contains(id)
    }

    /// Only of meaning for an id that is not in the vault: a redacted record that is has its flag.
    pub(super) fn is_redacted(&self, id: &[u8; 16]) -> bool {
        self.redacted.contains(id)
    }

    /// True when the id, or that of what the record is a part of, was deleted or blocked.
    pub(super) fn blocks(&self, keys: &VaultKeys, id: &[u8; 16], record: &Record) -> bool {
        self.blocked.contains(id)
            || record.parent.as_ref().is_some_and(|p| self.holds(keys, p))
            || record.kind == Kind::Relation && Self::ends(record).any(|end| self.holds(keys, end))
    }

    /// What a relation is between.
    fn ends(record: &Record) -> impl Iterator<Item = &RecordKey> {
        let ends = record.links.iter().filter(|l| matches!(l.relation.as_str(), "source" | "target"));
        ends.map(|l| &l.target)
    }

    fn holds(&self, keys: &VaultKeys, key: &RecordKey) -> bool {
        if self.blocked.is_empty() && self.here.is_empty() {
            return false;
        }
        let id = record_id(keys, key);
        self.blocked.contains(&id) || self.here.contains(&id)
    }

    /// True when the record says what was deleted or redacted.
    pub(super) fn says(&self, keys: &VaultKeys, record: &Record) -> bool {
        !self.fingerprints.is_empty()
            && fingerprint(keys, record.kind, &record.text).is_some_and(|f| self.fingerprints.contains(&f))
    }

    /// What a statement, a piece or an edge was taken from, with whether that was deleted or blocked.
    pub(super) fn sources<'r>(
        &'r self,
        keys: &'r VaultKeys,
        record: &'r Record,
    ) -> impl Iterator<Item = (&'r RecordKey, bool)> {
        let taken = matches!(record.kind, Kind::Fact | Kind::Chunk | Kind::Relation);
        let links = record.links.iter().filter(move |l| taken && l.relation == DERIVED);
        links.map(|l| (&l.target, self.holds(keys, &l.target)))
    }
}
