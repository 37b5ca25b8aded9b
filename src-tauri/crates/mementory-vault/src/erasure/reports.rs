//! Import reports name files and places; an erased name goes from them too.
use crate::{VaultResult, import_report::ImportReport, word_removal::Removal};
use rusqlite::{Connection, params};

/// Takes the words out of every report's places, reasons, messages and names. Its own words (keys, outcomes, formats)
/// stay as they are: a report must still be readable when somebody erases the text "messages". Paths that hold the words
/// are forgotten.
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
    // A report that is no report (of an import without one) names nothing.
    let mut report: ImportReport = serde_json::from_str(text).ok()?;
    let mut changed = clean_all(&mut report.missing_parts, removal);
    for item in &mut report.items {
        changed |= removal.in_place(&mut item.place) | removal.in_place(&mut item.reason);
    }
    for source in &mut report.sources {
        changed |= removal.in_place(&mut source.reason) | clean_all(&mut source.places, removal);
    }
    // The key of a warning is its code and the place without the pointer; the code is ours.
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
