//! Scans records for sensitive values.
use crate::{
    VaultError, VaultResult,
    context::Context,
    findings::value_id,
    query::ListQuery,
    sensitive::fields::{STORED_SECRET_DETECTOR, count_code_points, field_name, fields, for_each_finding},
};
use mementory_formats::plain_secrets;
use mementory_model::{Kind, Record};
use mementory_scan::{Class, Confidence};
use mementory_store::kind_from_code;
use std::sync::{atomic::AtomicBool, atomic::Ordering};

/// Number of records between two checks for cancellation.
const RECORDS_PER_CHECK: usize = 256;

/// One sensitive value in one place.
#[derive(Debug, Clone)]
pub struct Sensitive {
    /// Id of the record.
    pub id: String,
    /// Kind of the record.
    pub kind: Kind,
    /// Field of the record: `text`, `title`, `file` (the text of a file, as provided by the source), `block` (thinking,
    /// tools) or `verbatim` (a plaintext secret in a credential).
    pub field: &'static str,
    /// Class of the value.
    pub class: Class,
    /// The detector that found the value.
    pub detector: &'static str,
    /// Confidence of the finding.
    pub confidence: Confidence,
    /// First code point of the value; 0 for a secret in the `verbatim`.
    pub start: u32,
    /// The code point after the last code point of the value.
    pub end: u32,
    /// Keyed fingerprint of the value, which is equal for equal values in this vault.
    pub value: String,
}

/// Scans for sensitive values, lists them, and stores decisions on them.
#[derive(Clone, Copy)]
pub struct Scanner<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Scanner<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Scanner<'_> {
    /// Scans the records that a query finds, in store order, and returns every sensitive value in them.
    ///
    /// # Errors
    /// `Cancelled`; errors of the store.
    pub fn find(
        &self,
        query: &ListQuery,
        cancel: &AtomicBool,
        progress: &dyn Fn(u64, u64),
    ) -> VaultResult<Vec<Sensitive>> {
        let (condition, values) = query.condition();
        self.context.store.read(|c| {
            // The rows are in the order of their packs, so that each pack is decompressed only once.
            let sql =
                format!("SELECT r.id, r.kind, r.pack, r.slot FROM records r WHERE {condition} ORDER BY r.pack, r.slot");
            let mut statement = c.prepare_cached(&sql)?;
            let row = |r: &rusqlite::Row| Ok((r.get::<_, [u8; 16]>(0)?, r.get(1)?, r.get(2)?, r.get(3)?));
            let places: Vec<([u8; 16], i64, i64, u32)> =
                statement.query_map(rusqlite::params_from_iter(values.iter()), row)?.collect::<Result<_, _>>()?;
            let mut findings = Vec::new();
            for (n, (id, kind, pack, slot)) in places.iter().enumerate() {
                if n % RECORDS_PER_CHECK == 0 {
                    if cancel.load(Ordering::Relaxed) {
                        return Err(VaultError::Cancelled);
                    }
                    progress(n as u64, places.len() as u64);
                }
                let record = self.context.store.packs.record(c, *pack, *slot)?;
                self.add_findings(&hex::encode(id), kind_from_code(*kind), &record, &mut findings);
            }
            Ok(findings)
        })
    }

    fn add_findings(&self, id: &str, kind: Kind, record: &Record, found: &mut Vec<Sensitive>) {
        for secret in plain_secrets(record) {
            found.push(Sensitive {
                id: id.to_owned(),
                kind,
                field: "verbatim",
                class: Class::StoredSecret,
                detector: STORED_SECRET_DETECTOR,
                confidence: Confidence::VeryLikely,
                start: 0,
                end: count_code_points(&secret),
                value: hex::encode(value_id(&self.context.keys, Class::StoredSecret, &secret)),
            });
        }
        for (field, text) in fields(record) {
            for_each_finding(text, |finding, start, end, value| {
                found.push(Sensitive {
                    id: id.to_owned(),
                    kind,
                    field: field_name(field),
                    class: finding.class,
                    detector: finding.detector,
                    confidence: finding.confidence,
                    start,
                    end,
                    value: hex::encode(value_id(&self.context.keys, finding.class, value)),
                });
            });
        }
    }
}
