//! The details of one version of a record in a form that does not depend on notation.
use mementory_crypto::VaultKeys;
use mementory_model::{Record, Verbatim, remove_usage};
use mementory_store::details;

/// Keyed digests of links, entities and vectors, and of the original text.
pub(super) struct DetailSet {
    /// Digests of the links, entities and vectors, sorted.
    members: Box<[u64]>,
    /// Digest of the original text. None if the record has none.
    original: Option<u64>,
    /// Digest of the id of the format that the record was read from.
    format: u64,
}

impl DetailSet {
    pub(super) fn of(keys: &VaultKeys, record: &Record) -> Self {
        let hash = |parts: &[&str]| short_id(keys, parts);
        let mut members: Vec<u64> = Vec::new();
        details::each_member(record, |texts| members.push(hash(texts)));
        members.sort_unstable();
        members.dedup();
        let original = record.verbatim.as_ref().map(|verbatim| match canonical_json(verbatim) {
            Some(json) => hash(&["json", &json]),
            None => hash(&["text", &verbatim.text]),
        });
        Self { members: members.into(), original, format: format_id(keys, &record.origin.format) }
    }

    /// True if the details of this newer version differ from those of `former`. A missing original text is not a
    /// difference, since only some sources send one.
    pub(super) fn differs_from(&self, former: &Self) -> bool {
        self.members != former.members || self.has_other_original(former)
    }

    /// True if this version has a detail that the former one lacks, and both come from the format `source`. Versions
    /// from other formats are not compared, because such a format may have no field for a detail, and because a part of
    /// an export does not contain references to the other parts.
    pub(super) fn adds_to(&self, keys: &VaultKeys, former: &Self, source: &str) -> bool {
        let is_native = self.format == former.format && self.format == format_id(keys, source);
        let is_new = |member: &u64| former.members.binary_search(member).is_err();
        is_native && (self.has_other_original(former) || self.members.iter().any(is_new))
    }

    fn has_other_original(&self, former: &Self) -> bool {
        self.original.is_some() && self.original != former.original
    }
}

fn format_id(keys: &VaultKeys, format: &str) -> u64 {
    short_id(keys, &["format", format])
}

/// Returns a keyed 64-bit digest of `parts`. Without the key, nobody can craft an input in which different details have
/// the same digest.
fn short_id(keys: &VaultKeys, parts: &[&str]) -> u64 {
    let mut bytes: Vec<&[u8]> = vec![b"detail"];
    bytes.extend(parts.iter().map(|part| part.as_bytes()));
    let id = keys.id_hasher().id_of(&bytes);
    u64::from_le_bytes(std::array::from_fn(|i| id[i]))
}

/// Returns the JSON text with sorted members, without white space between them, and without the members that count how
/// often the record was used. None if the text is not JSON.
fn canonical_json(verbatim: &Verbatim) -> Option<String> {
    let mut value = serde_json::from_str::<serde_json::Value>(&verbatim.text).ok()?;
    remove_usage(&mut value);
    value.sort_all_objects();
    Some(value.to_string())
}
