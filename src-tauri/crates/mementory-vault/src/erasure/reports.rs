//! Removes erased words from import reports, which name files and places.
use crate::{VaultResult, import_report::ImportReport, word_removal::Removal};
use rusqlite::{Connection, params};

/// Removes the words from every report's places, reasons, messages and names. The report's own words (keys, outcomes,
/// formats) stay, so that it can still be read when somebody erases the text "messages". File locations that contain
/// the words are deleted.
pub(crate) fn clean_reports(tx: &Connection, removal: &Removal) -> VaultResult<()> {
    if removal.is_empty() {
        return Ok(());
    }
    let mut statement = tx.prepare("SELECT id, report, names FROM batches")?;
    let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    let batches: Vec<(i64, String, String)> = rows.collect::<Result<_, _>>()?;
    for (id, report, names) in batches {
        if let Some(new) = cleaned_report(&report, removal) {
            tx.execute("UPDATE batches SET report = ?2 WHERE id = ?1", params![id, new])?;
        }
        if let Ok(mut list) = serde_json::from_str::<Vec<String>>(&names)
            && clean_all(&mut list, removal)
        {
            let new = serde_json::to_string(&list).unwrap_or_default();
            tx.execute("UPDATE batches SET names = ?2 WHERE id = ?1", params![id, new])?;
        }
    }
    crate::file_locations::forget(tx, removal)
}

fn cleaned_report(text: &str, removal: &Removal) -> Option<String> {
    // An import without a report has nothing to clean here.
    let mut report: ImportReport = serde_json::from_str(text).ok()?;
    let mut changed = clean_all(&mut report.missing_parts, removal);
    for item in &mut report.items {
        changed |= removal.in_place(&mut item.place) | removal.in_place(&mut item.reason);
    }
    for part in &mut report.missing {
        changed |= removal.in_place(&mut part.place) | removal.in_place(&mut part.reason);
    }
    for source in &mut report.sources {
        changed |= removal.in_place(&mut source.reason) | clean_all(&mut source.places, removal);
    }
    // The key of a warning is its code, which is a word of ours and stays, and the place without the pointer.
    let warnings = std::mem::take(&mut report.warnings);
    for (mut key, (mut place, mut message, count)) in warnings {
        changed |= removal.in_place(&mut place) | removal.in_place(&mut message);
        if let Some((code, container)) = key.split_once(' ')
            && let Some(container) = removal.text(container)
        {
            key = format!("{code} {container}");
            changed = true;
        }
        report.warnings.entry(key).and_modify(|w| w.2 += count).or_insert((place, message, count));
    }
    changed.then(|| serde_json::to_string(&report).ok()).flatten()
}

fn clean_all(list: &mut [String], removal: &Removal) -> bool {
    list.iter_mut().fold(false, |changed, text| removal.in_place(text) | changed)
}
