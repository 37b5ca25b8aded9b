//! Looking for sensitive values in what the vault holds. Where they are is told; what they are never leaves this file:
//! equal values have equal fingerprints, and those are keyed.
use crate::{Vault, VaultError, VaultResult, query::ListQuery, store::kind_from};
use keepsake_crypto::keyed_id;
use keepsake_model::{Kind, Record};
use keepsake_scan::{Class, Confidence};
use std::sync::atomic::{AtomicBool, Ordering};

/// Records between two looks at whether to go on.
const TICK: usize = 256;

/// One sensitive value in one place.
#[derive(Debug, Clone)]
pub struct Sensitive {
    /// Record.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Member of the record: `text` or `title`.
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

impl Vault {
    /// Every sensitive value in texts and titles of the records that a query names, in the order of the store.
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
                self.look(&hex::encode(id), kind_from(*kind), &record, &mut found);
            }
            Ok(found)
        })
    }

    fn look(&self, id: &str, kind: Kind, record: &Record, found: &mut Vec<Sensitive>) {
        let fields = [("text", record.text.as_str()), ("title", record.title.as_deref().unwrap_or_default())];
        for (field, text) in fields {
            let (mut bytes, mut points) = (0, 0u32);
            for finding in keepsake_scan::scan(text) {
                let value = &text[finding.start..finding.end];
                points += count(&text[bytes..finding.start]);
                let end = points + count(value);
                found.push(Sensitive {
                    id: id.to_owned(),
                    kind,
                    field,
                    class: finding.class,
                    detector: finding.detector,
                    confidence: finding.confidence,
                    start: points,
                    end,
                    value: hex::encode(keyed_id(self.keys.fingerprints(), &[b"value", value.as_bytes()])),
                });
                (bytes, points) = (finding.end, end);
            }
        }
    }
}

fn count(text: &str) -> u32 {
    text.chars().count() as u32
}
