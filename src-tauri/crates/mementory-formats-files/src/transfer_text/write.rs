//! Writes memories as a text for another assistant, with the headings and dated lines that import prompts request.
//! The report lists the values that such a text cannot contain.
use super::entries::{self, Entry, unix_line_ends};
use super::{FORMAT_ID, dates};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_formats_shared::export::Export;
use mementory_formats_shared::topics;
use mementory_model::{Kind, Record, Times, Timestamp};
use std::collections::{BTreeMap, HashSet};
use std::{borrow::Cow, fmt::Write as _};

/// Members of a record that the text has in another form: the day of its creation, and the title above the words.
const MEMBERS_IN_OTHER_FORM: [&str; 2] = ["times", "title"];

/// An entry. Entries are sorted by heading, then by time; entries without a date come last under their heading.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct EntryLine {
    heading: usize,
    is_undated: bool,
    created: Option<Timestamp>,
    id: String,
    text: String,
}

/// The text, and the report with the records and values that it does not contain.
pub(super) fn memory_text(
    source: &mut dyn RecordSource,
    options: &WriteOptions,
) -> Result<(String, WriteReport), FormatError> {
    let mut export = Export::new(FORMAT_ID, "import_answer", source, options, false);
    let mut lines = Vec::new();
    let mut written_ids = HashSet::new();
    source.records(&mut |stored| {
        if let Some(reason) = reason_to_leave_out(&stored, export.now) {
            export.withhold(reason);
            return Ok(());
        }
        let line = entry_line(&stored);
        match entries::read(&compose_text(std::slice::from_ref(&line))).entries.into_iter().next() {
            None => export.withhold("no_text"),
            // Readers identify an entry by its day and its words, so a second entry with the same day and words would
            // be lost.
            Some(entry) if !written_ids.insert(entry.id()) => export.withhold("said_elsewhere"),
            Some(entry) => {
                export.count_written_with(&stored, &read_back(&stored.record, &entry), &MEMBERS_IN_OTHER_FORM);
                lines.push(line);
            }
        }
        Ok(())
    })?;
    lines.sort();
    Ok((compose_text(&lines), export.finish(source, options)?))
}

/// Reason why a record is left out. None if it is a current memory, because the text contains all current memories.
fn reason_to_leave_out(stored: &StoredRecord, now: Timestamp) -> Option<&'static str> {
    let record = &stored.record;
    if !matches!(record.kind, Kind::Memory | Kind::Profile | Kind::Fact) {
        return Some("not_a_memory");
    }
    // The source marks the record as not exportable (PAM §access).
    if record.fields.get("access").and_then(|a| a.get("exportable")) == Some(&false.into()) {
        return Some("not_exportable");
    }
    if record.kind == Kind::Fact && record.links.iter().any(|link| link.relation == "derived_from") {
        return Some("said_elsewhere");
    }
    let has_ended = matches!(record.status.as_deref(), Some("superseded" | "archived" | "deleted" | "cancelled"));
    if has_ended || record.times.valid_to.is_some_and(|end| end <= now) {
        return Some("no_longer_true");
    }
    record.text.trim().is_empty().then_some("no_text")
}

fn entry_line(stored: &StoredRecord) -> EntryLine {
    let record = &stored.record;
    // Readers treat a lone carriage return as the end of a line too.
    let text = unix_line_ends(&record.text);
    let text = text.trim();
    let title = record.title.as_deref().map(str::trim).filter(|title| !title.is_empty() && !text.contains(title));
    let title = title.map(unix_line_ends);
    // The title is on the same line as a text of one line, and on a separate line above a text of several lines.
    let line_text = match title {
        Some(title) if text.contains('\n') => format!("{title}\n{text}"),
        Some(title) => format!("{title}: {text}"),
        None => text.to_owned(),
    };
    EntryLine {
        heading: topics::topic_of(record),
        is_undated: record.times.created.is_none(),
        created: record.times.created,
        id: stored.id.clone(),
        text: line_text,
    }
}

/// The record that our reader creates from an entry. It has the day of the entry and the trimmed lines of its text, up
/// to a line that begins like a separate entry.
fn read_back(record: &Record, entry: &Entry) -> Record {
    let mut out = Record::new(Kind::Memory, record.key.clone(), entry.content.as_str());
    out.times = Times { created: entry.day.and_then(dates::start_of_day), ..Times::default() };
    out
}

/// The first line of an entry, and its further lines. Some readers let an indented line begin a code block, and the
/// reader of Portable Memory reads only the code blocks of a text that has any. So a line that would begin a code block
/// gets a backslash.
fn lines_of(line: &EntryLine) -> (&str, impl Iterator<Item = Cow<'_, str>>) {
    let mut lines = line.text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().trim_start();
    (first, lines.map(without_fence))
}

fn without_fence(line: &str) -> Cow<'_, str> {
    match line.trim_start() {
        words if words.starts_with("```") => format!("\\{words}").into(),
        _ => line.into(),
    }
}

fn day_text(time: Timestamp) -> String {
    let (year, month, day) = time.date();
    format!("{year:04}-{month:02}-{day:02}")
}

/// The text, in which each entry begins with `[day] - text`. Further lines of an entry are indented, so that readers
/// treat them as part of the entry.
fn compose_text(lines: &[EntryLine]) -> String {
    let mut by_heading: BTreeMap<usize, Vec<&EntryLine>> = BTreeMap::new();
    for line in lines {
        by_heading.entry(line.heading).or_default().push(line);
    }
    let mut out = String::new();
    for (heading, lines) in by_heading {
        let separator = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(out, "{separator}## {}\n", topics::TOPIC_NAMES[heading]);
        for line in lines {
            let date = line.created.map_or_else(|| "unknown".to_owned(), day_text);
            let (first, others) = lines_of(line);
            let _ = writeln!(out, "[{date}] - {first}");
            for line in others {
                let _ = writeln!(out, "  {line}");
            }
        }
    }
    out
}
