//! Writes the tombstones of erasures and redactions. They are signed and have no content. Fingerprints that are stored
//! with them block the words in later imports.
use crate::{
    VaultResult,
    context::Context,
    erasure::targets::Target,
    erasure_ledger::{ErasureAct, LedgerRecord, text_fingerprint},
    word_removal::Removal,
};
use mementory_formats::{Format, registry};
use mementory_model::{Derived, Record, RecordKey, Timestamp, TombstoneOp, shares_words};
use mementory_store::{
    RowView, export_ids,
    ids::fingerprint,
    tombstones::{TombstoneRow, store_own, store_redacted},
};
use rusqlite::Connection;
use std::{cell::RefCell, collections::HashMap};

/// The common properties of the tombstones of one erasure or redaction: reason, receipt and time.
#[derive(Clone, Copy)]
pub(crate) struct TombstoneContext<'a> {
    pub(crate) reason: &'a str,
    pub(crate) receipt: &'a str,
    pub(crate) now: Timestamp,
    /// The entry for the list of erasures. The record of each tombstone is added to this entry.
    pub(crate) act: &'a RefCell<ErasureAct>,
    /// Set if this erasure or redaction was already made in a newer copy of the vault. In that case the tombstone ids
    /// and the time from the newer copy are used.
    pub(crate) earlier: Option<&'a EarlierErasure>,
}

/// Ids and time of an erasure or redaction that was made in a newer copy of the vault. This copy uses the same ids and
/// time.
pub(crate) struct EarlierErasure {
    pub(crate) receipt: String,
    pub(crate) at: Timestamp,
    /// Ids of the tombstones by record.
    pub(crate) tombstones: HashMap<[u8; 16], String>,
}

/// Writes the tombstones of erasures and redactions.
#[derive(Clone, Copy)]
pub(crate) struct TombstoneWriter<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> TombstoneWriter<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl TombstoneWriter<'_> {
    /// Writes one tombstone for each erased record.
    pub(crate) fn write_erased(
        &self,
        tx: &Connection,
        targets: &[Target],
        tombstone_context: &TombstoneContext<'_>,
    ) -> VaultResult<Vec<TombstoneRow>> {
        // The first tombstone lists the other erased records. These records also get their own tombstones.
        let mut derived = Derived::default();
        let titles = Titles::of(targets);
        for target in targets.iter().skip(1) {
            if let Some(format) = naming_format(&target.record) {
                let export_id = hex::encode(export_ids::export_id(tx, target.view.id)?);
                // If the id that the format uses for the record contains words of the record, the export id is used
                // instead.
                let unnamed = Record::new(target.record.kind, RecordKey::new("", ""), "");
                let id = target.record.origin_id.as_ref().unwrap_or(&target.record.key.value);
                let has_words = has_words_of(id, &target.texts, &titles.related_to(&target.record));
                format.add_derived(&mut derived, if has_words { &unnamed } else { &target.record }, &export_id);
            }
        }
        let mut derived = Some(derived);
        let is_named_by_format =
            |record: &Record| tombstone_formats().any(|format| format.tombstone_target(record).is_some());
        let mut out = Vec::with_capacity(targets.len());
        for target in targets {
            let related_titles = titles.related_to(&target.record);
            let source_key = target.record.key_without_words(&related_titles);
            let source_key = source_key.filter(|key| !has_words_of(&key.value, &target.texts, &[]));
            let row = TombstoneRow {
                derived: Derived {
                    source_key: source_key.filter(|_| !is_named_by_format(&target.record)).cloned(),
                    ..derived.take().unwrap_or_default()
                },
                ..tombstone(
                    TombstoneOp::Delete,
                    (&target.view, &target.record),
                    &target.texts,
                    &related_titles,
                    tombstone_context,
                )?
            };
            let fingerprints: Vec<_> =
                target.texts.iter().filter_map(|t| fingerprint(&self.context.keys, target.view.kind, t)).collect();
            tombstone_context.act.borrow_mut().records.push(ledger_record(&row, target, &fingerprints, Vec::new()));
            out.push(store_own(tx, &self.context.keys, row, &target.view.id, &[target.view.id], &fingerprints)?);
            let kind = target.view.kind.as_str();
            mementory_store::audit::append(
                tx,
                &self.context.keys,
                tombstone_context.now,
                "erase",
                &target.view.id_text(),
                kind,
            )?;
        }
        Ok(out)
    }

    /// Writes the tombstone of a redacted record. The removed words are blocked in later imports, whichever record
    /// contains them. The record itself is blocked too if the vault no longer has it.
    pub(crate) fn write_redacted(
        &self,
        tx: &Connection,
        before: &Target,
        removal: &Removal,
        removed: &[String],
        tombstone_context: &TombstoneContext<'_>,
    ) -> VaultResult<TombstoneRow> {
        let row = tombstone(TombstoneOp::Redact, (&before.view, &before.record), removed, &[], tombstone_context)?;
        // A text or title that loses no words may be imported again.
        let texts_with_words: Vec<&String> =
            before.texts.iter().filter(|text| removal.record_text(text).is_some()).collect();
        let keys = &self.context.keys;
        let fingerprints: Vec<_> =
            texts_with_words.iter().filter_map(|text| fingerprint(keys, before.view.kind, text)).collect();
        let former_fingerprints = texts_with_words.iter().map(|text| text_fingerprint(keys, text)).collect();
        tombstone_context.act.borrow_mut().records.push(ledger_record(
            &row,
            before,
            &fingerprints,
            former_fingerprints,
        ));
        let row = store_own(tx, &self.context.keys, row, &before.view.id, &[], &fingerprints)?;
        store_redacted(tx, &[before.view.id], &row.id)?;
        Ok(row)
    }
}

/// Titles of erased records. They are needed because the ids of a record's parts may contain the title of the record.
struct Titles<'t> {
    by_key: HashMap<&'t RecordKey, &'t str>,
}

impl<'t> Titles<'t> {
    fn of(targets: &'t [Target]) -> Self {
        let key_and_title = |target: &'t Target| Some((&target.record.key, target.record.title.as_deref()?));
        Self { by_key: targets.iter().filter_map(key_and_title).collect() }
    }

    /// Returns the title of the record, and the titles of the erased records that it is a part of or was derived from.
    fn related_to(&self, record: &'t Record) -> Vec<&'t str> {
        let sources = record.links.iter().filter(|link| link.relation == "derived_from").map(|link| &link.target);
        let keys = std::iter::once(&record.key).chain(&record.parent).chain(sources);
        keys.filter_map(|key| self.by_key.get(key).copied()).collect()
    }
}

/// True if an id shares words with one of these texts or titles.
fn has_words_of(id: &str, texts: &[String], titles: &[&str]) -> bool {
    texts.iter().map(String::as_str).chain(titles.iter().copied()).any(|text| shares_words(id, text))
}

/// Returns the tombstone of a record. The tombstone contains the record's id at its source, unless that id has words of
/// `texts` or `titles`.
fn tombstone(
    op: TombstoneOp,
    (view, record): (&RowView, &Record),
    texts: &[String],
    titles: &[&str],
    tombstone_context: &TombstoneContext<'_>,
) -> VaultResult<TombstoneRow> {
    // If the record came from a format with tombstones, the tombstone contains the record's id in that format, so that
    // other programs find the record too.
    let format_and_target = tombstone_formats().find_map(|f| f.tombstone_target(record).map(|target| (f.id(), target)));
    let (scope, kind, origin_id) = match format_and_target {
        Some((scope, (kind, id))) => (scope, kind, Some(id)),
        None => ("keepsake", view.kind.as_str().to_owned(), record.origin_id.clone()),
    };
    let known = tombstone_context.earlier.and_then(|earlier| earlier.tombstones.get(&view.id).cloned());
    let id = match known {
        Some(id) => id,
        None => format!("tomb_{}", mementory_store::ids::random_hex_id()?),
    };
    Ok(TombstoneRow {
        id,
        op,
        kind,
        target: view.id_text(),
        scope: scope.into(),
        origin_id: origin_id.filter(|id| !has_words_of(id, texts, titles)),
        source: Some(view.source.clone()),
        at: tombstone_context.earlier.map_or(tombstone_context.now, |earlier| earlier.at),
        actor: "owner".into(),
        reason: tombstone_context.reason.into(),
        derived: Derived::default(),
        signature: String::new(),
        own: true,
        receipt: Some(tombstone_context.receipt.into()),
        signature_valid: false,
        verbatim: None,
    })
}

/// Returns the entry of a target in the list of erasures.
fn ledger_record(row: &TombstoneRow, target: &Target, fingerprints: &[[u8; 16]], former: Vec<String>) -> LedgerRecord {
    LedgerRecord {
        tombstone: row.id.clone(),
        record: target.view.id_text(),
        kind: target.view.kind.as_str().to_owned(),
        redacted: row.op == TombstoneOp::Redact,
        blocked: fingerprints.iter().map(hex::encode).collect(),
        former,
    }
}

fn tombstone_formats() -> impl Iterator<Item = &'static dyn Format> {
    registry().iter().copied().filter(|format| format.capabilities().tombstones)
}

/// Returns the format whose ids a tombstone of this record uses: the record's source format if it has tombstones,
/// otherwise the first format with tombstones.
fn naming_format(record: &Record) -> Option<&'static dyn Format> {
    tombstone_formats().find(|f| f.tombstone_target(record).is_some()).or_else(|| tombstone_formats().next())
}
