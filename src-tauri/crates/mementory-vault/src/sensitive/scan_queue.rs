//! Keeps the findings up to date: new and changed records are scanned in batches.
use crate::{
    VaultResult,
    findings::{class_code, value_id},
    sensitive::{fields::each, fields::fields, scanner::Scanner},
};
use mementory_model::{Kind, Record, Timestamp};
use mementory_store::{Packs, kind_code};
use rusqlite::{Connection, OptionalExtension, params};

/// Records in one batch; other work can run between batches.
const BATCH: usize = 2000;
/// Text in one batch, in bytes.
const BYTES: usize = 8 << 20;

/// Progress of a scan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanProgress {
    /// Records scanned by this call.
    pub records: u64,
    /// Upper bound of the records that are not scanned yet.
    pub left: u64,
}

struct Found {
    row: i64,
    field: u32,
    start: u32,
    class: i64,
    confidence: i64,
    detector: &'static str,
    value: [u8; 16],
}

impl Scanner<'_> {
    /// Scans one batch of new or changed records. Call it until nothing is left.
    ///
    /// # Errors
    /// The store.
    pub fn scan_next(&self, now: Timestamp) -> VaultResult<ScanProgress> {
        if self.context.store.read(|c| mark(c, "looked_by"))? != i64::from(mementory_scan::RULES) {
            self.rescan()?;
        }
        let batch = self.context.store.read(|c| {
            let rows = next_rows(c)?;
            let mut found = Vec::new();
            // Each pack is needed once: a cache of its own leaves the shared one unchanged.
            let packs = Packs::default();
            let (mut taken, mut bytes) = (Vec::new(), 0);
            for (row, kind, pack, slot) in rows {
                if bytes >= BYTES {
                    break;
                }
                taken.push(row);
                // The log is written by us, and passthrough files are not a person's text.
                if [Kind::Audit, Kind::Foreign].map(kind_code).contains(&kind) {
                    continue;
                }
                let record = packs.record(c, pack, slot)?;
                bytes += fields(&record).map(|(_, text)| text.len()).sum::<usize>();
                self.collect(row, &record, &mut found);
            }
            Ok((taken, found))
        })?;
        let (taken, found) = batch;
        self.context.store.write(|tx| {
            keep(tx, &taken, &found)?;
            let upto = taken.iter().max().copied().unwrap_or(0).max(mark(tx, "looked_row")?);
            set(tx, "looked_row", upto)?;
            let left = left(tx)?;
            if left == 0 {
                set(tx, "looked_at", now.as_micros())?;
            }
            Ok(ScanProgress { records: taken.len() as u64, left })
        })
    }

    /// Makes the next scan begin at the first record.
    pub fn rescan(&self) -> VaultResult<()> {
        self.context.store.write(|tx| {
            set(tx, "looked_row", 0)?;
            set(tx, "looked_by", i64::from(mementory_scan::RULES))?;
            tx.execute("DELETE FROM unlooked", [])?;
            Ok(())
        })
    }

    /// When the last scan of everything ended, in microseconds, and an upper bound of the records not scanned since.
    pub fn progress(&self) -> VaultResult<(Option<i64>, u64)> {
        self.context.store.read(|c| {
            let at = mark(c, "looked_at")?;
            // Findings of older rules: every record has to be scanned again.
            if at > 0 && mark(c, "looked_by")? != i64::from(mementory_scan::RULES) {
                return Ok((None, last_row(c)?.unsigned_abs()));
            }
            Ok(((at > 0).then_some(at), left(c)?))
        })
    }

    /// Scans these rows now, so that redacted values in them are not open any more.
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
        self.context.store.write(|tx| keep(tx, rows, &found))
    }

    fn collect(&self, row: i64, record: &Record, found: &mut Vec<Found>) {
        for (field, text) in fields(record) {
            each(text, |finding, start, _, value| {
                found.push(Found {
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

/// Row, kind, pack and slot of the next records, in store order.
fn next_rows(c: &Connection) -> VaultResult<Vec<(i64, i64, i64, u32)>> {
    // New rows without a gap, so that the mark may be set to the last of them.
    let mut statement = c.prepare_cached(
        "SELECT row, kind, pack, slot FROM records WHERE row IN (SELECT row FROM unlooked WHERE row <= ?1 LIMIT ?2) \
         UNION SELECT * FROM (SELECT row, kind, pack, slot FROM records WHERE row > ?1 ORDER BY row LIMIT ?2) \
         ORDER BY 1 LIMIT ?2",
    )?;
    let rows = statement
        .query_map(params![mark(c, "looked_row")?, BATCH as i64], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))?
        .collect::<Result<_, _>>()?;
    Ok(rows)
}

fn keep(tx: &Connection, rows: &[i64], found: &[Found]) -> VaultResult<()> {
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

/// Upper bound of the records left, since row numbers of erased records count too; 0 means that nothing is left.
fn left(c: &Connection) -> VaultResult<u64> {
    let scanned = mark(c, "looked_row")?;
    let sql = "SELECT count(*) FROM unlooked WHERE row <= ?1";
    let queued: i64 = c.prepare_cached(sql)?.query_row([scanned], |r| r.get(0))?;
    Ok(queued.saturating_add((last_row(c)? - scanned).max(0)).unsigned_abs())
}

fn last_row(c: &Connection) -> VaultResult<i64> {
    Ok(c.prepare_cached("SELECT coalesce(max(row), 0) FROM records")?.query_row([], |r| r.get(0))?)
}

fn mark(c: &Connection, key: &str) -> VaultResult<i64> {
    let found: Option<i64> =
        c.prepare_cached("SELECT value FROM meta WHERE key = ?1")?.query_row([key], |r| r.get(0)).optional()?;
    Ok(found.unwrap_or(0))
}

fn set(c: &Connection, key: &str, value: i64) -> VaultResult<()> {
    c.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?.execute(params![key, value])?;
    Ok(())
}
