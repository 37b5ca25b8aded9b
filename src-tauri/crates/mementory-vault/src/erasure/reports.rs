//! Removes erased words and names from import reports, which name files and places.
use crate::{
    VaultResult,
    erasure::targets::Target,
    import_report::ImportReport,
    word_removal::{ERASED_MARK, Removal},
};
use mementory_model::{Record, contains_words};
use rusqlite::{Connection, params};
use std::collections::BTreeSet;

/// Names by which import reports mention erased records: titles, file names, and positions in a source file.
#[derive(Default)]
pub(crate) struct ErasedNames {
    /// Names of files. A file name is also found inside a longer name.
    files: BTreeSet<String>,
    /// Titles, tags and one-line texts. They are found only as a whole text or as a whole segment of a path.
    titles: BTreeSet<String>,
    places: BTreeSet<String>,
}

impl ErasedNames {
    /// Collects the names of erased records. The name of a record's file is included only if the record was the whole
    /// file, or if no other record of the same import is left (`was_last_of_import`).
    pub(crate) fn collect(targets: &[Target], was_last_of_import: &dyn Fn(&Target) -> bool) -> Self {
        let mut out = Self::default();
        for target in targets {
            let record = &target.record;
            out.titles.extend(record.title.iter().chain(&record.tags).cloned());
            out.titles.extend(target.texts.iter().filter(|text| !text.contains('\n')).cloned());
            out.files.extend(record.attachments.iter().map(|file| file.name.clone()));
            out.places.insert(report_place(record));
            if record.origin.pointer.is_empty() || was_last_of_import(target) {
                let file = record.origin.container.rsplit(['/', '\\', '!']).next().unwrap_or_default();
                out.files.insert(file.to_owned());
            }
        }
        for names in [&mut out.files, &mut out.titles, &mut out.places] {
            names.retain(|name| !name.trim().is_empty());
        }
        out
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.titles.is_empty() && self.places.is_empty()
    }

    /// True if `text` (a place or a name) contains the name of an erased record.
    fn occur_in(&self, text: &str) -> bool {
        let is_inside = |place: &String| {
            text.strip_prefix(place.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '#', '!']))
        };
        self.titles.contains(text)
            || text.split(['/', '#', '!', '\\']).any(|part| self.titles.contains(part) || self.files.contains(part))
            || self.files.iter().any(|file| contains_words(text, file))
            || self.places.iter().any(is_inside)
    }

    fn hide_names(&self, text: &mut String) -> bool {
        let is_named = text != ERASED_MARK && self.occur_in(text);
        if is_named {
            *text = ERASED_MARK.to_owned();
        }
        is_named
    }
}

/// Returns the place of a record in the notation of import reports: `<container>#<pointer>`.
fn report_place(record: &Record) -> String {
    format!("{}#{}", record.origin.container, record.origin.pointer)
}

/// Removes the words from the places, reasons, messages and names of every import report. Keys, outcomes and formats
/// stay: otherwise, erasing the text "messages" would make every report unreadable. Stored file paths and suggestions
/// of clients that contain the words are deleted.
pub(crate) fn clean_reports(tx: &Connection, removal: &Removal, erased: &ErasedNames) -> VaultResult<()> {
    if removal.is_empty() && erased.is_empty() {
        return Ok(());
    }
    let mut statement = tx.prepare("SELECT id, report, names FROM batches")?;
    let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    let batches: Vec<(i64, String, String)> = rows.collect::<Result<_, _>>()?;
    for (id, report, names) in batches {
        if let Some(new) = cleaned_report(&report, removal, erased) {
            tx.execute("UPDATE batches SET report = ?2 WHERE id = ?1", params![id, new])?;
        }
        if let Ok(mut list) = serde_json::from_str::<Vec<String>>(&names)
            && clean_all(&mut list, removal, erased)
        {
            let new_names = serde_json::to_string(&list).unwrap_or_default();
            tx.execute("UPDATE batches SET names = ?2 WHERE id = ?1", params![id, new_names])?;
        }
    }
    crate::suggestions::forget(tx, removal, &|text| erased.occur_in(text))?;
    crate::file_locations::forget(tx, removal, &|path| erased.occur_in(path))
}

fn cleaned_report(text: &str, removal: &Removal, erased: &ErasedNames) -> Option<String> {
    // A batch without a report has another text in this column. That text contains no names.
    let mut report: ImportReport = serde_json::from_str(text).ok()?;
    let clean_text = |text: &mut String| erased.hide_names(text) | removal.remove_in_place(text);
    let mut changed = clean_all(&mut report.missing_parts, removal, erased);
    for item in &mut report.items {
        changed |= clean_text(&mut item.place) | clean_text(&mut item.reason);
    }
    for part in &mut report.missing {
        changed |= removal.remove_in_place(&mut part.place) | removal.remove_in_place(&mut part.reason);
    }
    for source in &mut report.sources {
        changed |= removal.remove_in_place(&mut source.reason) | clean_all(&mut source.places, removal, erased);
    }
    // The key of a warning consists of its code, which stays, and its place without the pointer.
    let warnings = std::mem::take(&mut report.warnings);
    for (mut key, (mut place, mut message, count)) in warnings {
        changed |= clean_text(&mut place) | removal.remove_in_place(&mut message);
        if erased.files.iter().any(|file| contains_words(&message, file)) {
            ERASED_MARK.clone_into(&mut message);
            changed = true;
        }
        if let Some((code, container)) = key.split_once(' ') {
            let mut container = container.to_owned();
            if clean_text(&mut container) {
                key = format!("{code} {container}");
                changed = true;
            }
        }
        report.warnings.entry(key).and_modify(|w| w.2 += count).or_insert((place, message, count));
    }
    changed.then(|| serde_json::to_string(&report).ok()).flatten()
}

fn clean_all(list: &mut [String], removal: &Removal, erased: &ErasedNames) -> bool {
    list.iter_mut().fold(false, |changed, text| erased.hide_names(text) | removal.remove_in_place(text) | changed)
}
