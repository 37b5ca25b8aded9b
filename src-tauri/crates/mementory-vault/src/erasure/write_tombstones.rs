//! Tombstones of erasures and redactions: signed, without content, with what holds the words back from now on.
use crate::{
    VaultResult,
    context::Context,
    erasure::targets::Target,
    word_removal::{Removal, contains_words},
};
use mementory_formats::mem;
use mementory_model::{Derived, Record, Timestamp, TombstoneOp, normal_text};
use mementory_store::{
    RowView,
    ids::fingerprint,
    tombstones::{TombstoneRow, store_own, store_redacted},
};
use rusqlite::Connection;

/// Why, by which receipt, and when.
pub(crate) struct TombstoneContext<'a> {
    pub(crate) reason: &'a str,
    pub(crate) receipt: &'a str,
    pub(crate) now: Timestamp,
}

/// Tombstones of erasures and redactions.
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
    /// One tombstone for each erased record.
    pub(crate) fn write_erased(
        &self,
        tx: &Connection,
        targets: &[Target],
        occasion: &TombstoneContext<'_>,
    ) -> VaultResult<Vec<TombstoneRow>> {
        // The list of derived records is on the tombstone of the requested record; each of them has a tombstone of its own too.
        let mut reach = Derived::default();
        for target in targets.iter().skip(1) {
            mem::add_reach(&mut reach, &target.record, &target.view.id_text());
        }
        let mut derived = Some(reach);
        let mut out = Vec::with_capacity(targets.len());
        for target in targets {
            let row = TombstoneRow {
                derived: derived.take().unwrap_or_default(),
                ..tombstone(TombstoneOp::Delete, &target.view, &target.record, &target.texts, occasion)?
            };
            let prints: Vec<_> =
                target.texts.iter().filter_map(|t| fingerprint(&self.context.keys, target.view.kind, t)).collect();
            out.push(store_own(tx, &self.context.keys, row, &target.view.id, &[target.view.id], &prints)?);
            let kind = target.view.kind.as_str();
            mementory_store::audit::append(
                tx,
                &self.context.keys,
                occasion.now,
                "erase",
                &target.view.id_text(),
                kind,
            )?;
        }
        Ok(out)
    }

    /// A tombstone for a redacted record. Its former words are blocked from now on, in whatever record they come, and
    /// so is the record itself should it ever be unknown again.
    pub(crate) fn write_redacted(
        &self,
        tx: &Connection,
        before: &Target,
        removal: &Removal,
        removed: &[String],
        occasion: &TombstoneContext<'_>,
    ) -> VaultResult<TombstoneRow> {
        let row = tombstone(TombstoneOp::Redact, &before.view, &before.record, removed, occasion)?;
        // A text or title that loses nothing may be said again.
        let prints: Vec<_> = before
            .texts
            .iter()
            .filter(|text| removal.record_text(text).is_some())
            .filter_map(|text| fingerprint(&self.context.keys, before.view.kind, text))
            .collect();
        let row = store_own(tx, &self.context.keys, row, &before.view.id, &[], &prints)?;
        store_redacted(tx, &[before.view.id], &row.id)?;
        Ok(row)
    }
}

fn tombstone(
    op: TombstoneOp,
    view: &RowView,
    record: &Record,
    texts: &[String],
    occasion: &TombstoneContext<'_>,
) -> VaultResult<TombstoneRow> {
    // A record that came in a bundle is named as the bundle does, so that other programs find it too.
    let (scope, kind, origin_id) = match mem::wire_target(record) {
        Some((kind, id)) => ("mem", kind, Some(id)),
        None => ("keepsake", view.kind.as_str().to_owned(), record.origin_id.clone()),
    };
    Ok(TombstoneRow {
        id: format!("tomb_{}", mementory_store::ids::random_text()?),
        op,
        kind,
        target: view.id_text(),
        scope: scope.into(),
        origin_id: origin_id.filter(|id| !texts.iter().any(|text| tells(id, text))),
        source: Some(view.platform.clone()),
        at: occasion.now,
        actor: "owner".into(),
        reason: occasion.reason.into(),
        derived: Derived::default(),
        signature: String::new(),
        own: true,
        receipt: Some(occasion.receipt.into()),
        signature_valid: false,
        verbatim: None,
    })
}

/// True when an id and a text share their words: files without an id go by their path, which is often their title.
fn tells(id: &str, text: &str) -> bool {
    if text.contains(id) || contains_words(id, text) {
        return true;
    }
    let (id, text) = (format!(" {} ", normal_text(id)), format!(" {} ", normal_text(text)));
    let words = |s: &str| s.trim().contains(' ');
    words(&text) && id.contains(&text) || words(&id) && text.contains(&id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_say_the_words_are_known() {
        assert!(tells("notes/Secret trip.md", "Secret trip"), "a path");
        assert!(tells("secret-trip-to-rome", "Secret trip"), "a slug");
        assert!(tells("trip", "a secret trip"), "part of the text");
        assert!(!tells("ep_0123", "a secret trip"), "an id that says nothing");
        assert!(!tells("5f0e7a19", "e7"), "two letters are no words");
    }
}
