//! Merge strategies for records whose id the vault knows, instead of the default "the newer version wins". The names
//! are MIF's (v1 §8 `merge_strategy`, §9 of the older specification). Their meaning is defined here, since the
//! specification only lists them.
use crate::{VaultResult, import::apply::ImportRun};
use mementory_crypto::VaultKeys;
use mementory_model::{Kind, Record, RecordKey};
use mementory_store::{ids::record_id, kind_code};
use std::collections::{HashMap, HashSet};

/// A merge strategy for records whose id the vault knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// A record with a known id, or with exactly the text of an existing record of its kind, is not imported.
    SkipDuplicates,
    /// A record with a known id replaces the existing record, even if the existing record is newer or was edited in
    /// this vault. The history keeps both versions. Records that were deleted, redacted or closed stay so.
    Overwrite,
    /// A record with a known id and other content is imported as a second record under a fresh id. References to it in
    /// this import are changed to the fresh id. Conversations, messages and files keep their ids, because two branches
    /// of a conversation are not two conversations.
    Rename,
}

/// Kinds that are independent of other records and have a text to compare.
const INDEPENDENT_KINDS: [Kind; 9] = [
    Kind::Memory,
    Kind::Profile,
    Kind::Entity,
    Kind::Relation,
    Kind::Fact,
    Kind::Resource,
    Kind::Procedure,
    Kind::Todo,
    Kind::Credential,
];

/// Digests of the texts that the records of each kind had before the import.
pub(super) type KnownTexts = HashMap<Kind, HashSet<[u8; 16]>>;

/// Fresh ids of records of this import.
#[derive(Default)]
pub(in crate::import) struct Renames {
    /// True in the first pass, which only finds out which records need a fresh id.
    pub(in crate::import) collecting: bool,
    fresh_ids: HashMap<[u8; 16], FreshId>,
}

struct FreshId {
    key: String,
    /// The id that the source gave to the record, and the fresh id that replaces it.
    origin: Option<(String, String)>,
}

impl Renames {
    /// In the first pass, makes a fresh id for a record. The same content gets the same id, so that a second import
    /// finds the record.
    pub(super) fn collect(&mut self, id: [u8; 16], record: &Record, digest: &[u8; 16]) {
        if self.collecting && INDEPENDENT_KINDS.contains(&record.kind) {
            let origin = record.origin_id.as_ref().map(|old| (old.clone(), fresh_id(old, digest)));
            let key = match &origin {
                Some((old, new)) if record.key.value.contains(old.as_str()) => record.key.value.replace(old, new),
                _ => fresh_id(&record.key.value, digest),
            };
            self.fresh_ids.insert(id, FreshId { key, origin });
        }
    }

    /// Replaces old ids with fresh ones in a record's keys, its own id and its `verbatim`. Returns whether the record's
    /// key may have changed.
    pub(super) fn apply(&self, keys: &VaultKeys, record: &mut Record) -> bool {
        if self.collecting || self.fresh_ids.is_empty() {
            return false;
        }
        let mut named_ids: Vec<&FreshId> = Vec::new();
        let mut change = |key: &mut RecordKey| {
            if let Some(fresh) = self.fresh_ids.get(&record_id(keys, key)) {
                key.value.clone_from(&fresh.key);
                named_ids.push(fresh);
            }
        };
        change(&mut record.key);
        record.parent.iter_mut().for_each(&mut change);
        record.links.iter_mut().for_each(|link| change(&mut link.target));
        for (old, new) in named_ids.iter().filter_map(|fresh| fresh.origin.as_ref()) {
            if record.origin_id.as_ref() == Some(old) {
                record.origin_id = Some(new.clone());
            }
            if let Some(verbatim) = &mut record.verbatim {
                verbatim.text = verbatim.text.replace(&json_string(old), &json_string(new));
            }
        }
        true
    }
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns a fresh id in the format of `old`: a UUID at its end is replaced with another, any other id gets a suffix.
fn fresh_id(old: &str, digest: &[u8; 16]) -> String {
    let mut bytes = *digest;
    old.bytes().enumerate().for_each(|(i, byte)| bytes[i % 16] ^= byte.rotate_left((i / 16) as u32 % 8));
    // UUID version 8, which may be made from a digest (RFC 9562 §5.8).
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex::encode(bytes);
    let uuid = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    match old.len().checked_sub(uuid.len()).and_then(|at| old.split_at_checked(at)) {
        Some((before, end)) if is_uuid(end) => format!("{before}{uuid}"),
        _ => format!("{old}~{}", &hex[..8]),
    }
}

fn is_uuid(text: &str) -> bool {
    text.bytes().enumerate().all(|(i, b)| if matches!(i, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() })
}

impl ImportRun<'_> {
    /// True when duplicates are to be skipped and a record of this kind has exactly the same text.
    pub(super) fn is_duplicate(&mut self, record: &Record) -> VaultResult<bool> {
        if self.options.merge != Some(Merge::SkipDuplicates)
            || self.vault_was_empty
            || !INDEPENDENT_KINDS.contains(&record.kind)
        {
            return Ok(false);
        }
        if !self.texts.contains_key(&record.kind) {
            let texts = self.texts_of(record.kind)?;
            self.texts.insert(record.kind, texts);
        }
        let digest = self.text_digest(&record.text);
        Ok(!record.text.is_empty() && self.texts.get(&record.kind).is_some_and(|texts| texts.contains(&digest)))
    }

    fn texts_of(&self, kind: Kind) -> VaultResult<HashSet<[u8; 16]>> {
        // Only records from before this import count, since two records of one file may have the same text.
        let first = self.staging.as_ref().map_or(i64::MAX, |staging| staging.first_row);
        let sql = "SELECT pack, slot FROM records WHERE kind = ?1 AND row < ?2 AND trashed IS NULL ORDER BY pack, slot";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([kind_code(kind), first])?;
        let mut out = HashSet::new();
        while let Some(row) = rows.next()? {
            let record = self.context.store.packs.record(self.connection, row.get(0)?, row.get(1)?)?;
            out.insert(self.text_digest(&record.text));
        }
        Ok(out)
    }

    fn text_digest(&self, text: &str) -> [u8; 16] {
        self.context.keys.id_hasher().id_of(&[b"same text", text.as_bytes()])
    }
}
