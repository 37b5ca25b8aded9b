//! Keeps the findings up to date: new and changed records are scanned in batches.
use crate::{
    VaultResult,
    findings::{class_code, value_id},
    meta,
    sensitive::{
        fields::{STORED_SECRET_DETECTOR, VERBATIM_FIELD, fields, for_each_finding},
        scanner::Scanner,
    },
};
use mementory_formats::plain_secrets;
use mementory_model::{Kind, Record, Timestamp};
use mementory_scan::{Class, Confidence};
use mementory_store::{Packs, kind_code};
use rusqlite::{Connection, params};

/// Maximum number of records in one batch. Other work can run between batches.
const MAX_BATCH_RECORDS: usize = 2000;
/// Number of text bytes after which a batch ends.
const MAX_BATCH_BYTES: usize = 8 << 20;

/// Progress of a scan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanProgress {
    /// Number of records that this call scanned.
    pub records: u64,
    /// Upper bound on the number of records that are not scanned yet.
    pub left: u64,
}

struct FoundValue {
    row: i64,
    field: u32,
    start: u32,
    class: i64,
    confidence: i64,
    detector: &'static str,
    value: [u8; 16],
}

impl Scanner<'_> {
    /// Scans one batch of new or changed records. Call it again until `left` is 0.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn scan_next(&self, now: Timestamp) -> VaultResult<ScanProgress> {
        if self.context.store.read(|c| read_meta_number(c, "looked_by"))? != i64::from(mementory_scan::RULES) {
            self.rescan()?;
        }
        let batch = self.context.store.read(|c| {
            let rows = next_rows(c)?;
            let mut findings = Vec::new();
            // Each pack is needed only once. A separate cache keeps these packs out of the shared cache.
            let packs = Packs::default();
            let (mut scanned_rows, mut bytes) = (Vec::new(), 0);
            for (row, kind, pack, slot) in rows {
                if bytes >= MAX_BATCH_BYTES {
                    break;
                }
                scanned_rows.push(row);
                // Audit records and passthrough files contain no text that a person wrote, so they are not scanned.
                if [Kind::Audit, Kind::Foreign].map(kind_code).contains(&kind) {
                    continue;
                }
                let record = packs.record(c, pack, slot)?;
                bytes += fields(&record).map(|(_, text)| text.len()).sum::<usize>();
                self.collect(row, &record, &mut findings);
            }
            Ok((scanned_rows, findings))
        })?;
        let (scanned_rows, found) = batch;
        self.context.store.write(|tx| {
            store_findings(tx, &scanned_rows, &found)?;
            let last_scanned_row =
                scanned_rows.iter().max().copied().unwrap_or(0).max(read_meta_number(tx, "looked_row")?);
            meta::write(tx, "looked_row", last_scanned_row)?;
            let left = records_left(tx)?;
            if left == 0 {
                meta::write(tx, "looked_at", now.as_micros())?;
            }
            Ok(ScanProgress { records: scanned_rows.len() as u64, left })
        })
    }

    /// Makes the next scan start again at the first record.
    pub fn rescan(&self) -> VaultResult<()> {
        self.context.store.write(|tx| {
            meta::write(tx, "looked_row", 0)?;
            meta::write(tx, "looked_by", i64::from(mementory_scan::RULES))?;
            tx.execute("DELETE FROM unlooked", [])?;
            Ok(())
        })
    }

    /// Returns the time at which the last scan of everything ended, in microseconds since 1970, and an upper bound on
    /// the number of records that were not scanned since.
    pub fn progress(&self) -> VaultResult<(Option<i64>, u64)> {
        self.context.store.read(|c| {
            let at = read_meta_number(c, "looked_at")?;
            // If the findings were made with older rules, every record has to be scanned again.
            if at > 0 && read_meta_number(c, "looked_by")? != i64::from(mementory_scan::RULES) {
                return Ok((None, last_row(c)?.unsigned_abs()));
            }
            Ok(((at > 0).then_some(at), records_left(c)?))
        })
    }

    /// Scans these rows now, so that redacted values in them are no longer open.
    pub(crate) fn scan_rows(&self, rows: &[i64]) -> VaultResult<()> {
        let found = self.context.store.read(|c| {
            let mut found = Vec::new();
            for row in rows {
                if let Some(view) = mementory_store::RowView::by_row(c, *row)? {
                    self.collect(*row, &self.context.store.packs.record(c, view.pack, view.slot)?, &mut found);
                }
            }
            Ok(found)
        })?;
        self.context.store.write(|tx| store_findings(tx, rows, &found))
    }

    fn collect(&self, row: i64, record: &Record, found: &mut Vec<FoundValue>) {
        // A plaintext secret has no stored position. Its index among the secrets of the record is stored instead.
        for (start, secret) in (0..).zip(plain_secrets(record)) {
            found.push(FoundValue {
                row,
                field: VERBATIM_FIELD,
                start,
                class: class_code(Class::StoredSecret),
                confidence: Confidence::VeryLikely as i64,
                detector: STORED_SECRET_DETECTOR,
                value: value_id(&self.context.keys, Class::StoredSecret, &secret),
            });
        }
        for (field, text) in fields(record) {
            for_each_finding(text, |finding, start, _, value| {
                found.push(FoundValue {
                    row,
                    field,
                    start,
                    class: class_code(finding.class),
                    confidence: finding.confidence as i64,
                    detector: finding.detector,
                    value: value_id(&self.context.keys, finding.class, value),
                });
            });
        }
    }
}

/// Returns the row, kind, pack and slot of the next records, ordered by row.
fn next_rows(c: &Connection) -> VaultResult<Vec<(i64, i64, i64, u32)>> {
    // New rows are selected in ascending order, so that `looked_row` can be set to the last of them.
    let mut statement = c.prepare_cached(
        "SELECT row, kind, pack, slot FROM records WHERE row IN (SELECT row FROM unlooked WHERE row <= ?1 LIMIT ?2) \
         UNION SELECT * FROM (SELECT row, kind, pack, slot FROM records WHERE row > ?1 ORDER BY row LIMIT ?2) \
         ORDER BY 1 LIMIT ?2",
    )?;
    let rows = statement
        .query_map(params![read_meta_number(c, "looked_row")?, MAX_BATCH_RECORDS as i64], |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?))
        })?
        .collect::<Result<_, _>>()?;
    Ok(rows)
}

fn store_findings(tx: &Connection, rows: &[i64], found: &[FoundValue]) -> VaultResult<()> {
    for row in rows {
        tx.prepare_cached("DELETE FROM findings WHERE row = ?1")?.execute([row])?;
        tx.prepare_cached("DELETE FROM unlooked WHERE row = ?1")?.execute([row])?;
    }
    let mut statement = tx.prepare_cached(
        "INSERT OR REPLACE INTO findings (row, field, start, class, confidence, detector, value) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for f in found {
        statement.execute(params![f.row, f.field, f.start, f.class, f.confidence, f.detector, f.value])?;
    }
    Ok(())
}

/// Returns an upper bound on the number of records that are not scanned yet. It is an upper bound, since row numbers of
/// erased records count too. 0 means that every record is scanned.
fn records_left(c: &Connection) -> VaultResult<u64> {
    let last_scanned_row = read_meta_number(c, "looked_row")?;
    let sql = "SELECT count(*) FROM unlooked WHERE row <= ?1";
    let queued_count: i64 = c.prepare_cached(sql)?.query_row([last_scanned_row], |r| r.get(0))?;
    Ok(queued_count.saturating_add((last_row(c)? - last_scanned_row).max(0)).unsigned_abs())
}

fn last_row(c: &Connection) -> VaultResult<i64> {
    Ok(c.prepare_cached("SELECT coalesce(max(row), 0) FROM records")?.query_row([], |r| r.get(0))?)
}

/// Returns a number stored in `meta`, or 0 if the key is missing.
fn read_meta_number(c: &Connection, key: &str) -> VaultResult<i64> {
    Ok(meta::read(c, key)?.unwrap_or(0))
}
