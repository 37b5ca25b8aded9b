//! Redacting sensitive values by their fingerprints: in every record that holds them, or in some.
use super::{
    bury::Occasion,
    erase::{EraseOutcome, pending_receipt},
    redact::Aftermath,
    replace::Removal,
};
use crate::{
    Vault, VaultError, VaultResult,
    ids::parse_id,
    sensitive::{fields, fields_found, stands, value_id},
    store::{RowView, Store},
    verify::Evidence,
};
use keepsake_model::Timestamp;
use keepsake_scan::Class;
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, BTreeSet, HashSet};

type ValueId = [u8; 16];

/// Where chosen values stand, and how they are written there.
#[derive(Default)]
struct Standing {
    views: Vec<RowView>,
    /// Spelling, and what takes its place.
    spellings: BTreeMap<String, String>,
    classes: BTreeMap<ValueId, Class>,
}

impl Vault {
    /// Redacts values in every version of the records that hold them, in what was derived from those, and in parts kept
    /// from imports. `only`: these records; None = all, the Trash included.
    ///
    /// # Errors
    /// `NotFound` when no record holds any of them.
    pub fn redact_values(
        &self,
        values: &[String],
        only: Option<&[String]>,
        now: Timestamp,
        progress: &dyn Fn(&str),
    ) -> VaultResult<EraseOutcome> {
        let ids: BTreeSet<ValueId> = values.iter().filter_map(|value| parse_id(value)).collect();
        let only: Option<HashSet<ValueId>> = only.map(|ids| ids.iter().filter_map(|id| parse_id(id)).collect());
        let standing = self.standing(&ids, only.as_ref())?;
        let lead = standing.views.first().ok_or_else(|| VaultError::not_found(values.first().map_or("", |v| v)))?;
        let removal = Removal::exact(standing.spellings.clone().into_iter().collect());
        let words: Vec<String> = standing.spellings.keys().cloned().collect();
        let mut rows: HashSet<i64> = standing.views.iter().map(|view| view.row).collect();
        let mut views = standing.views.clone();
        for view in &standing.views {
            views.extend(self.derived_of(view)?.into_iter().filter(|derived| rows.insert(derived.row)));
        }
        let parts = self.parts_holding(&removal, &HashSet::new(), true)?;
        let receipt_id = crate::ids::random_text()?;
        let mut evidence = Evidence::default();
        progress("record");
        let written = self.store.write(|tx| {
            let occasion = Occasion { reason: "redaction", receipt: &receipt_id, now };
            let (mut changed, mut tombstones) = (Vec::new(), Vec::new());
            for before in self.read_targets(tx, views.clone())? {
                if self.redact_row(tx, &before.view, &removal, &mut evidence)? {
                    tombstones.push(self.bury_redacted(tx, &before, &removal, &words, &occasion)?);
                    evidence.texts.extend(before.texts.iter().filter(|text| words.contains(text)).cloned());
                    changed.push(before.view.row);
                }
            }
            let (old_blobs, part_count) = self.rewrite_parts(tx, &parts)?;
            evidence.blobs = old_blobs;
            evidence.parts = part_count;
            super::erase::clean_reports(tx, &removal)?;
            pending_receipt(tx, &receipt_id, now)?;
            let detail = format!("{} values, {} records", ids.len(), changed.len());
            crate::audit::append(tx, &self.keys, now, "redact", &lead.id_text(), &detail)?;
            Ok((Store::last_change(tx)?, tombstones, changed))
        });
        if written.is_err() {
            self.drop_parts(&parts)?;
        }
        let (seq, tombstones, changed) = written?;
        self.look_at(&changed)?;
        self.store.write(|tx| judge_redacted(tx, &standing, &changed, now))?;
        let after = Aftermath { seq, changed: &changed, words: &words, receipt_id, now };
        let receipt = self.after_redacting(after, &mut evidence, progress)?;
        Ok(EraseOutcome { tombstones, receipt, copies_redacted: changed.len() as u32 })
    }

    /// Fingerprints of every open value of these classes.
    pub fn open_values(&self, classes: &[Class]) -> VaultResult<Vec<String>> {
        let mut out = Vec::new();
        let mut query = crate::SensitiveQuery { classes: classes.to_vec(), limit: 500, ..Default::default() };
        loop {
            let page = self.sensitive_values(&query)?.values;
            query.offset += page.len() as u32;
            let last = page.len() < 500;
            out.extend(page.into_iter().map(|value| value.value));
            if last {
                return Ok(out);
            }
        }
    }

    fn standing(&self, ids: &BTreeSet<ValueId>, only: Option<&HashSet<ValueId>>) -> VaultResult<Standing> {
        self.store.read(|c| {
            let mut out = Standing::default();
            let mut rows = BTreeSet::new();
            for id in ids {
                let mut statement = c.prepare_cached("SELECT DISTINCT row FROM findings WHERE value = ?1")?;
                rows.extend(statement.query_map([id], |r| r.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?);
            }
            for row in rows {
                let Some(view) = RowView::by_row(c, row)? else { continue };
                if only.is_some_and(|only| !only.contains(&view.id)) {
                    continue;
                }
                // Read now, not at the last look: the text may have changed since.
                let record = self.store.packs.record(c, view.pack, view.slot)?;
                let mut holds = false;
                for (_, text) in fields(&record) {
                    fields_found(text, |class, value| {
                        let id = value_id(&self.keys, class, value);
                        if ids.contains(&id) {
                            holds = true;
                            out.classes.insert(id, class);
                            out.spellings.insert(value.to_owned(), format!("[REDACTED:{}]", class.as_str()));
                        }
                    });
                }
                if holds {
                    out.views.push(view);
                }
            }
            Ok(out)
        })
    }
}

/// Values that stand nowhere any more are told as redacted.
fn judge_redacted(tx: &Connection, standing: &Standing, changed: &[i64], now: Timestamp) -> VaultResult<()> {
    let places = i64::try_from(changed.len()).unwrap_or(i64::MAX);
    for (id, class) in &standing.classes {
        if !stands(tx, *id)? {
            // With several at once nobody counted each; then the number is of all of them.
            tx.execute(
                "INSERT OR REPLACE INTO judged (value, class, verdict, places, at) VALUES (?1, ?2, 2, ?3, ?4)",
                params![id, *class as i64, places, now.as_micros()],
            )?;
        }
    }
    Ok(())
}
