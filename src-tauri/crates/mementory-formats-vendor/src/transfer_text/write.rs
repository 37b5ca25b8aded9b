//! Writes memories as a text for another assistant, with the headings and dated lines that import prompts request
//! (vendors.md §9). The report lists the values that such a text cannot contain.
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteReport};
use mementory_formats_shared::topics;
use mementory_model::{Kind, LossKind, Timestamp};
use std::{collections::BTreeMap, fmt::Write as _};

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
pub(super) fn memory_text(source: &mut dyn RecordSource) -> Result<(String, WriteReport), FormatError> {
    let mut report = WriteReport { version: "import_answer".into(), ..WriteReport::default() };
    let mut lines = Vec::new();
    source.records(&mut |stored| {
        match reason_to_leave_out(&stored) {
            Some(reason) => *report.withheld.entry(reason.into()).or_default() += 1,
            None => {
                *report.by_kind.entry(stored.record.kind.as_str().to_owned()).or_default() += 1;
                report_losses(&stored, &mut report);
                lines.push(entry_line(stored));
            }
        }
        Ok(())
    })?;
    lines.sort();
    Ok((compose_text(&lines), report))
}

/// Reason why a record is left out. None if it is a current memory, because the text contains all current memories.
fn reason_to_leave_out(stored: &StoredRecord) -> Option<&'static str> {
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
    if has_ended || record.times.valid_to.is_some() {
        return Some("no_longer_true");
    }
    record.text.trim().is_empty().then_some("no_text")
}

fn report_losses(stored: &StoredRecord, report: &mut WriteReport) {
    let record = &stored.record;
    let mut add_narrowed = |field: &str, note: &str| report.losses.add(&stored.id, field, LossKind::Narrowed, note);
    if record.times.created.is_some_and(|t| Timestamp::parse(&day_text(t)) != Some(t)) {
        add_narrowed("times", "only the day it was made");
    }
    if record.text.trim().lines().any(|line| line.trim().is_empty()) {
        add_narrowed("text", "paragraphs follow each other without an empty line");
    }
    if !record.links.is_empty() || !record.attachments.is_empty() || !record.tags.is_empty() {
        add_narrowed("record", "without its tags, links and files");
    }
}

fn entry_line(stored: StoredRecord) -> EntryLine {
    let record = stored.record;
    let text = record.text.trim();
    let title = record.title.as_deref().map(str::trim).filter(|title| !title.is_empty() && !text.contains(title));
    // The title is put before a text of one line, and on a line of its own above a text of several lines.
    let line_text = match title {
        Some(title) if text.contains('\n') => format!("{title}\n{text}"),
        Some(title) => format!("{title}: {text}"),
        None => text.to_owned(),
    };
    EntryLine {
        heading: topics::topic_of(&record),
        is_undated: record.times.created.is_none(),
        created: record.times.created,
        id: stored.id,
        text: line_text,
    }
}

fn day_text(time: Timestamp) -> String {
    let (year, month, day) = time.date();
    format!("{year:04}-{month:02}-{day:02}")
}

/// The text, in which each entry begins with `[day] - text`. Further lines of an entry are indented, so that readers
/// treat them as part of the entry (mem.md §15).
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
            let mut text_lines = line.text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
            let _ = writeln!(out, "[{date}] - {}", text_lines.next().unwrap_or_default().trim_start());
            for line in text_lines {
                let _ = writeln!(out, "  {line}");
            }
        }
    }
    out
}
