//! Redacts sensitive values, given by their fingerprints, in every record that contains them or in chosen records.
use crate::{
    VaultError, VaultResult,
    applied::Applied,
    erasure::{
        eraser::EraseOutcome, ledger::ErasureLedger, passthrough_files::PassthroughFiles, quotations::changed_texts,
        quotations::changed_texts_of, receipts::Receipts, receipts::pending_receipt, redactor::CommittedRedaction,
        redactor::MAX_RECORDS, redactor::Redactor, reports::ErasedNames, reports::clean_reports,
        row_redaction::RowRedaction, same_words::SameWords, targets::RECORDS_PER_READ, targets::Target,
        targets::Targets, write_tombstones::TombstoneContext, write_tombstones::TombstoneWriter,
    },
    erasure_ledger::{ErasureAct, word_fingerprint},
    failed_step::FailedStep,
    findings::{is_present, value_id},
    sensitive::{Scanner, fields, for_each_value},
    word_removal::Removal,
};
use mementory_erasure_check::Evidence;
use mementory_formats::plain_secrets;
use mementory_model::{Record, Timestamp, normal_text};
use mementory_scan::Class;
use mementory_store::{RowView, Store, ids::parse_id};
use rusqlite::{Connection, params};
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::atomic::AtomicBool,
};

type ValueId = [u8; 16];

/// Minimum length in bytes of a spelling that is removed even from records in which the scan does not find the value.
const MIN_DISTINCTIVE_BYTES: usize = 8;

/// The chosen values, their spellings, and the rows that contain them.
#[derive(Default)]
struct FoundValues {
    views: Vec<RowView>,
    /// The replacement of each spelling.
    spellings: BTreeMap<String, String>,
    classes: BTreeMap<ValueId, Class>,
    /// The spellings that the scan finds in each row.
    by_row: HashMap<i64, HashSet<String>>,
}

impl FoundValues {
    /// True if the scan finds a value in this row that is too short to be removed elsewhere.
    fn has_short_value(&self, row: i64) -> bool {
        self.by_row.get(&row).is_some_and(|found| found.iter().any(|spelling| spelling.len() < MIN_DISTINCTIVE_BYTES))
    }

    /// Returns the spellings that are long enough to be removed wherever they occur, each with its mark. Shorter
    /// spellings could be part of any word.
    fn distinctive_spellings(&self) -> BTreeMap<String, String> {
        let is_distinctive = |(spelling, _): &(&String, &String)| spelling.len() >= MIN_DISTINCTIVE_BYTES;
        self.spellings.iter().filter(is_distinctive).map(|(s, mark)| (s.clone(), mark.clone())).collect()
    }

    /// Returns the spellings that are removed from a record, each with its mark. Short spellings are removed only from
    /// records in which the scan finds them.
    fn pairs_in(&self, before: &Target) -> Vec<(String, String)> {
        let found_in_row = self.by_row.get(&before.view.row);
        let is_removed = |spelling: &str| {
            spelling.len() >= MIN_DISTINCTIVE_BYTES || found_in_row.is_some_and(|found| found.contains(spelling))
        };
        let pairs = self.spellings.iter().filter(|(s, _)| is_removed(s) && may_contain(before, s));
        pairs.map(|(spelling, mark)| (spelling.clone(), mark.clone())).collect()
    }
}

impl Redactor<'_> {
    /// Redacts values in every version of the records that contain them, in the records derived from these records, and
    /// in passthrough files. If `only` is given, redacts only the records with these ids. If `only` is None, redacts
    /// every record that contains a value, including records in the Trash.
    ///
    /// # Errors
    /// `NotFound` if no record contains any of the values; `TooMany` if the number of records that contain the words is
    /// larger than one redaction allows.
    pub fn redact_values(
        &self,
        values: &[String],
        only: Option<&[String]>,
        now: Timestamp,
        progress: &dyn Fn(&str),
    ) -> VaultResult<Applied<EraseOutcome>> {
        // Records added since the last scan may contain the values too.
        while Scanner::new(self.context).scan_next(now)?.left > 0 {}
        let ids: BTreeSet<ValueId> = values.iter().filter_map(|value| parse_id(value)).collect();
        let only: Option<HashSet<ValueId>> = only.map(|ids| ids.iter().filter_map(|id| parse_id(id)).collect());
        let found_values = self.find_values(&ids, only.as_ref())?;
        let first_view =
            found_values.views.first().ok_or_else(|| VaultError::not_found(values.first().map_or("", |v| v)))?;
        let distinctive = found_values.distinctive_spellings();
        let removal_elsewhere = Removal::exact(distinctive.clone().into_iter().collect());
        let words: Vec<String> = found_values.spellings.keys().cloned().collect();
        let views = self.records_to_redact(&found_values, &distinctive, only.is_none())?;
        let mut evidence = Evidence::default();
        // Short values are not removed from files in general. A file loses a short value only where the file quotes a
        // record that contains the value.
        let with_short_values: Vec<RowView> =
            found_values.views.iter().filter(|view| found_values.has_short_value(view.row)).cloned().collect();
        evidence.quotations = changed_texts_of(self.context, &with_short_values, |before| {
            changed_texts(before, &Removal::exact(found_values.pairs_in(before)), &removal_elsewhere)
        })?;
        let removal_in_files =
            Removal::exact(distinctive.into_iter().chain(evidence.quotations.iter().cloned()).collect());
        let passthrough =
            PassthroughFiles::new(self.context).files_with_words(&removal_in_files, &HashSet::new(), true)?;
        let receipt_id = mementory_store::ids::random_hex_id()?;
        let act = RefCell::new(ErasureAct { at: now.as_micros(), ..ErasureAct::default() });
        let is_listed = Cell::new(true);
        progress("record");
        let written = self.context.store.write(|tx| {
            let tombstone_context =
                TombstoneContext { reason: "redaction", receipt: &receipt_id, now, act: &act, earlier: None };
            let (mut changed, mut tombstones) = (Vec::new(), Vec::new());
            // The records are read in chunks, because there may be thousands.
            for chunk in views.chunks(RECORDS_PER_READ) {
                let visit = &mut |record: &Record| {
                    evidence.add_record(record);
                    Ok(())
                };
                for before in Targets::new(self.context).read_targets(tx, chunk.to_vec(), visit)? {
                    let pairs = found_values.pairs_in(&before);
                    let removed: Vec<String> = pairs.iter().map(|(spelling, _)| spelling.clone()).collect();
                    let removal = Removal::exact(pairs);
                    if RowRedaction::new(self.context).redact_row(tx, &before.view, &removal, &mut evidence)? {
                        tombstones.push(TombstoneWriter::new(self.context).write_redacted(
                            tx,
                            &before,
                            &removal,
                            &removed,
                            &tombstone_context,
                        )?);
                        evidence.texts.extend(before.texts.iter().filter(|text| removed.contains(text)).cloned());
                        changed.push(before.view.row);
                    }
                }
            }
            let (old_blobs, file_count) = PassthroughFiles::new(self.context).rewrite_files(tx, &passthrough)?;
            evidence.blobs = old_blobs;
            evidence.passthrough_files = file_count;
            evidence.copies = changed.iter().filter(|row| !found_values.by_row.contains_key(*row)).count() as u32;
            clean_reports(tx, &removal_elsewhere, &ErasedNames::default())?;
            pending_receipt(tx, &receipt_id, now)?;
            let detail = format!("{} values, {} records", found_values.classes.len(), changed.len());
            mementory_store::audit::append(tx, &self.context.keys, now, "redact", &first_view.id_text(), &detail)?;
            let keys = &self.context.keys;
            let fingerprints =
                found_values.spellings.iter().map(|(words, mark)| word_fingerprint(keys, words, mark)).collect();
            is_listed.set(
                ErasureLedger::new(self.context).add(&receipt_id, ErasureAct { words: fingerprints, ..act.take() })?,
            );
            Ok((Store::last_change(tx)?, tombstones, changed))
        });
        ErasureLedger::new(self.context).end(&receipt_id, written.is_ok());
        let (seq, tombstones, changed) = PassthroughFiles::new(self.context).after_write(&passthrough, written)?;
        // A failure needs no warning: rows that are not scanned now stay in the scan queue.
        if Scanner::new(self.context).scan_rows(&changed).is_ok() {
            let _ = self.context.store.write(|tx| mark_redacted(tx, &found_values, &changed, now));
        }
        let committed = CommittedRedaction { seq, changed: &changed, words: &words, receipt_id, now };
        let id = committed.receipt_id.clone();
        let receipt = Receipts::after_commit(self.after_redacting(committed, &mut evidence, progress), id, now);
        let copies_redacted = changed.len() as u32;
        let outcome = receipt.map(|receipt| EraseOutcome { tombstones, receipt, copies_redacted });
        Ok(outcome.warn_if(!is_listed.get(), FailedStep::ErasureList))
    }

    /// Returns the records to redact: those in which the scan finds a value, and the records derived from them. With
    /// `everywhere`, also returns records that contain a distinctive value which the scan does not report in them.
    fn records_to_redact(
        &self,
        found_values: &FoundValues,
        distinctive: &BTreeMap<String, String>,
        everywhere: bool,
    ) -> VaultResult<Vec<RowView>> {
        let mut rows: HashSet<i64> = found_values.views.iter().map(|view| view.row).collect();
        let mut views = found_values.views.clone();
        if everywhere {
            let normal_spellings: Vec<String> =
                distinctive.keys().map(|s| normal_text(s)).filter(|s| !s.is_empty()).collect();
            views.extend(SameWords::new(self.context).all_with_sentences(
                &normal_spellings,
                &rows,
                MAX_RECORDS,
                &AtomicBool::new(false),
            )?);
            rows.extend(views.iter().map(|view| view.row));
        }
        for view in views.clone() {
            views.extend(self.derived_of(&view)?.into_iter().filter(|derived| rows.insert(derived.row)));
        }
        Ok(views)
    }

    fn find_values(&self, ids: &BTreeSet<ValueId>, only: Option<&HashSet<ValueId>>) -> VaultResult<FoundValues> {
        self.context.store.read(|c| {
            let mut out = FoundValues::default();
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
                // The records are scanned again, because the text may have changed since the last scan, and earlier
                // versions may spell the value differently.
                let mut places = vec![(view.pack, view.slot)];
                let mut versions = c.prepare_cached("SELECT pack, slot FROM versions WHERE row = ?1")?;
                places.extend(
                    versions
                        .query_map([row], |r| Ok((r.get(0)?, r.get(1)?)))?
                        .collect::<Result<Vec<(i64, u32)>, _>>()?,
                );
                let mut spellings = HashSet::new();
                for (pack, slot) in places {
                    let record = self.context.store.packs.record(c, pack, slot)?;
                    let mut add = |class: Class, value: &str| {
                        let id = value_id(&self.context.keys, class, value);
                        if ids.contains(&id) {
                            spellings.insert(value.to_owned());
                            out.classes.insert(id, class);
                            out.spellings.insert(value.to_owned(), format!("[REDACTED:{}]", class.as_str()));
                        }
                    };
                    fields(&record).for_each(|(_, text)| for_each_value(text, &mut add));
                    plain_secrets(&record).iter().for_each(|secret| add(Class::StoredSecret, secret));
                }
                if !spellings.is_empty() {
                    out.by_row.insert(row, spellings);
                    out.views.push(view);
                }
            }
            Ok(out)
        })
    }
}

/// True if a text of any version, or any member of the current version's body, contains the spelling.
fn may_contain(target: &Target, spelling: &str) -> bool {
    target.texts.iter().any(|text| text.contains(spelling))
        || serde_json::to_string(&target.record).is_ok_and(|body| {
            let escaped = serde_json::to_string(spelling).unwrap_or_default();
            body.contains(spelling) || body.contains(escaped.trim_matches('"'))
        })
}

/// Stores the decision "redacted" for values that no record contains any more.
fn mark_redacted(tx: &Connection, found: &FoundValues, changed: &[i64], now: Timestamp) -> VaultResult<()> {
    let places = i64::try_from(changed.len()).unwrap_or(i64::MAX);
    for (id, class) in &found.classes {
        if !is_present(tx, *id)? {
            // `places` counts the changed records of all values together, not only the records with this value.
            tx.execute(
                "INSERT OR REPLACE INTO judged (value, class, verdict, places, at) VALUES (?1, ?2, 2, ?3, ?4)",
                params![id, *class as i64, places, now.as_micros()],
            )?;
        }
    }
    Ok(())
}
