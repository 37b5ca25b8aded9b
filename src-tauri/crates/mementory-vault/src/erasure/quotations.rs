//! Finds the texts of records that lose words but are not erased as a whole. A passthrough file that quotes such a text
//! completely has to lose the same words. Otherwise the quotation would differ from the record and would not be found
//! when the record is erased later.
use crate::{
    VaultResult,
    context::Context,
    erasure::{targets::RECORDS_PER_READ, targets::Target, targets::Targets},
    word_removal::{Removal, is_distinctive_sentence},
};
use mementory_model::{normal_text, without_redaction_marks};
use mementory_store::RowView;

/// Returns the texts of a record that `removal` changes, each with the new text. Leaves out texts that are too short to
/// be recognised as quotations. Also leaves out texts that `removal_in_files` changes in the same way, because it is
/// applied to the files anyway.
pub(crate) fn changed_texts(target: &Target, removal: &Removal, removal_in_files: &Removal) -> Vec<(String, String)> {
    let texts = target.texts.iter().map(|text| (text, removal.record_text(text)));
    let parts = target.parts.iter().map(|part| (part, removal.text(part)));
    let changed = texts.chain(parts).filter_map(|(text, new)| Some((text, new?)));
    changed
        .filter(|(text, new)| is_quotable(text) && removal_in_files.text(text).as_ref() != Some(new))
        .map(|(text, new)| (text.clone(), new))
        .collect()
}

/// Calls `changed_texts` for each of these records and joins the results. Reads the records in chunks, because there
/// may be thousands.
pub(crate) fn changed_texts_of(
    context: &Context,
    views: &[RowView],
    changed_texts: impl Fn(&Target) -> Vec<(String, String)>,
) -> VaultResult<Vec<(String, String)>> {
    let mut out = Vec::new();
    for chunk in views.chunks(RECORDS_PER_READ) {
        let read = context.store.read(|c| Targets::new(context).read_targets(c, chunk.to_vec(), &mut |_| Ok(())))?;
        out.extend(read.iter().flat_map(&changed_texts));
    }
    Ok(out)
}

fn is_quotable(text: &str) -> bool {
    is_distinctive_sentence(&normal_text(&without_redaction_marks(text)))
}
