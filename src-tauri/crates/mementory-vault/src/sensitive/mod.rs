//! Sensitive values in what the vault holds. Where they are is told; what they are never leaves this folder: equal values
//! have equal fingerprints, and those are keyed.
mod cover;
mod look;
mod marks;
mod queue;

pub(crate) use cover::Cover;
pub use look::Looked;
pub(crate) use marks::taken_out;
pub use queue::{Piece, SensitiveList, SensitivePlace, SensitiveQuery, SensitiveState, SensitiveValue};
pub(crate) use queue::{by_class, stands};

use crate::{Vault, VaultError, VaultResult, query::ListQuery};
use mementory_crypto::{VaultKeys, keyed_id};
use mementory_model::{Kind, Record};
use mementory_scan::{Class, Confidence, Finding};
use mementory_store::kind_from;
use std::sync::atomic::{AtomicBool, Ordering};

/// Records between two looks at whether to go on.
const TICK: usize = 256;

/// Fingerprint of a value.
pub(crate) type ValueId = [u8; 16];

/// One sensitive value in one place.
#[derive(Debug, Clone)]
pub struct Sensitive {
    /// Record.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Member of the record: `text`, `title`, `file` (what the source says is in a file) or `block` (thinking, tools).
    pub field: &'static str,
    /// What kind of value.
    pub class: Class,
    /// Who found it.
    pub detector: &'static str,
    /// How sure.
    pub confidence: Confidence,
    /// First code point.
    pub start: u32,
    /// One past the last.
    pub end: u32,
    /// The same for the same value, in this vault only.
    pub value: String,
}

/// What is looked through in a record, by the number that the store keeps: its text and title, what the source says is
/// in its files, and blocks that stand beside its text (thinking, tool calls).
pub(crate) fn fields(record: &Record) -> impl Iterator<Item = (u32, &str)> {
    let files = record.attachments.iter().enumerate();
    let files = files.filter_map(|(n, file)| file.text.as_deref().map(|text| (2 + 2 * n as u32, text)));
    let blocks = record.fields.get("blocks").and_then(|blocks| blocks.as_array()).into_iter().flatten().enumerate();
    let blocks = blocks.filter_map(|(n, block)| block.get("text")?.as_str().map(|text| (3 + 2 * n as u32, text)));
    let own = [(0, record.text.as_str()), (1, record.title.as_deref().unwrap_or_default())];
    own.into_iter().chain(files).chain(blocks)
}

/// Name of such a number.
fn field_name(field: u32) -> &'static str {
    match field {
        0 => "text",
        1 => "title",
        n if n % 2 == 0 => "file",
        _ => "block",
    }
}

/// The same for one value however it is written: spaces in a card number, case in an address.
pub(crate) fn value_id(keys: &VaultKeys, class: Class, value: &str) -> ValueId {
    let canonical = match class {
        Class::Card | Class::Iban | Class::Phone | Class::NationalId => {
            value.chars().filter(|c| c.is_alphanumeric() || *c == '+').flat_map(char::to_uppercase).collect()
        }
        Class::Email => value.to_lowercase(),
        Class::AccessKey | Class::PrivateKey | Class::Password => value.to_owned(),
    };
    keyed_id(keys.fingerprints(), &[b"value", canonical.as_bytes()])
}

/// A class as the store keeps it, and as lists are ordered.
fn class_code(class: Class) -> i64 {
    class as i64
}

fn class_from(code: i64) -> Class {
    Class::ALL.into_iter().find(|class| class_code(*class) == code).unwrap_or(Class::Password)
}

impl Vault {
    /// Every sensitive value in the records that a query names, in the order of the store; looked for now.
    ///
    /// # Errors
    /// `Cancelled`; the store.
    pub fn sensitive(
        &self,
        query: &ListQuery,
        cancel: &AtomicBool,
        progress: &dyn Fn(u64, u64),
    ) -> VaultResult<Vec<Sensitive>> {
        let (condition, values) = query.condition();
        self.store.read(|c| {
            // In the order of the packs: each is unpacked once.
            let sql =
                format!("SELECT r.id, r.kind, r.pack, r.slot FROM records r WHERE {condition} ORDER BY r.pack, r.slot");
            let mut statement = c.prepare_cached(&sql)?;
            let row = |r: &rusqlite::Row| Ok((r.get::<_, [u8; 16]>(0)?, r.get(1)?, r.get(2)?, r.get(3)?));
            let places: Vec<([u8; 16], i64, i64, u32)> =
                statement.query_map(rusqlite::params_from_iter(values.iter()), row)?.collect::<Result<_, _>>()?;
            let mut found = Vec::new();
            for (n, (id, kind, pack, slot)) in places.iter().enumerate() {
                if n % TICK == 0 {
                    if cancel.load(Ordering::Relaxed) {
                        return Err(VaultError::Cancelled);
                    }
                    progress(n as u64, places.len() as u64);
                }
                let record = self.store.packs.record(c, *pack, *slot)?;
                self.found_in(&hex::encode(id), kind_from(*kind), &record, &mut found);
            }
            Ok(found)
        })
    }

    fn found_in(&self, id: &str, kind: Kind, record: &Record, found: &mut Vec<Sensitive>) {
        for (field, text) in fields(record) {
            each(text, |finding, start, end, value| {
                found.push(Sensitive {
                    id: id.to_owned(),
                    kind,
                    field: field_name(field),
                    class: finding.class,
                    detector: finding.detector,
                    confidence: finding.confidence,
                    start,
                    end,
                    value: hex::encode(value_id(&self.keys, finding.class, value)),
                });
            });
        }
    }
}

/// Calls `told` for each finding with its first and last code point and the value itself.
fn each(text: &str, mut told: impl FnMut(&Finding, u32, u32, &str)) {
    let (mut bytes, mut points) = (0, 0u32);
    for finding in mementory_scan::scan(text) {
        let value = &text[finding.start..finding.end];
        points += count(&text[bytes..finding.start]);
        let end = points + count(value);
        told(&finding, points, end, value);
        (bytes, points) = (finding.end, end);
    }
}

/// Calls `told` for each value.
pub(crate) fn fields_found(text: &str, mut told: impl FnMut(Class, &str)) {
    each(text, |finding, _, _, value| told(finding.class, value));
}

fn count(text: &str) -> u32 {
    text.chars().count() as u32
}
