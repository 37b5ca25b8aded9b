//! Writes memories as a text for another assistant: headings and dated lines, as import prompts ask for (vendor brief §9).
//! The report lists what such a text cannot contain.
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteReport};
use mementory_model::{Kind, LossKind, Timestamp};
use std::{collections::BTreeMap, fmt::Write as _};

/// Headings in the order of the text, with the types and sections that belong under them.
const HEADINGS: [(&str, &[&str]); 12] = [
    ("Instructions", &["instruction", "instructions", "custom_instructions", "project_instructions"]),
    ("Identity", &["identity", "fact", "profile", "personal"]),
    ("Career", &["career", "work", "job", "education"]),
    ("Projects", &["project", "projects"]),
    ("Preferences", &["preference", "preferences"]),
    ("People", &["person", "people", "relationship", "relationships", "family"]),
    ("Health", &["health"]),
    ("Goals", &["goal", "goals"]),
    ("Skills", &["skill", "skills", "procedural"]),
    ("Events", &["event", "events", "episodic"]),
    ("Knowledge", &["semantic", "knowledge"]),
    ("Other", &[]),
];

/// An entry. The order is that of the text: by heading, then by time, entries without a day last.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    heading: usize,
    undated: bool,
    created: Option<Timestamp>,
    id: String,
    text: String,
}

/// The text, and the report on what it does not contain.
pub(super) fn text(source: &mut dyn RecordSource) -> Result<(String, WriteReport), FormatError> {
    let mut report = WriteReport { version: "import_answer".into(), ..WriteReport::default() };
    let mut lines = Vec::new();
    source.records(&mut |stored| {
        match left_out(&stored) {
            Some(reason) => *report.withheld.entry(reason.into()).or_default() += 1,
            None => {
                *report.by_kind.entry(stored.record.kind.as_str().to_owned()).or_default() += 1;
                lose(&stored, &mut report);
                lines.push(line(stored));
            }
        }
        Ok(())
    })?;
    lines.sort();
    Ok((compose(&lines), report))
}

/// Why a record is left out: the text contains memories only, and only those that are still true.
fn left_out(stored: &StoredRecord) -> Option<&'static str> {
    let record = &stored.record;
    if !matches!(record.kind, Kind::Memory | Kind::Profile | Kind::Fact) {
        return Some("not_a_memory");
    }
    // Marked as not exportable (PAM §access).
    if record.fields.get("access").and_then(|a| a.get("exportable")) == Some(&false.into()) {
        return Some("not_exportable");
    }
    if record.kind == Kind::Fact && record.links.iter().any(|link| link.relation == "derived_from") {
        return Some("said_elsewhere");
    }
    let ended = matches!(record.status.as_deref(), Some("superseded" | "archived" | "deleted" | "cancelled"));
    if ended || record.times.valid_to.is_some() {
        return Some("no_longer_true");
    }
    record.text.trim().is_empty().then_some("no_text")
}

fn lose(stored: &StoredRecord, report: &mut WriteReport) {
    let record = &stored.record;
    let mut narrowed = |field: &str, note: &str| report.losses.add(&stored.id, field, LossKind::Narrowed, note);
    if record.times.created.is_some_and(|t| Timestamp::parse(&day(t)) != Some(t)) {
        narrowed("times", "only the day it was made");
    }
    if record.text.trim().lines().any(|line| line.trim().is_empty()) {
        narrowed("text", "paragraphs follow each other without an empty line");
    }
    if !record.links.is_empty() || !record.attachments.is_empty() || !record.tags.is_empty() {
        narrowed("record", "without its tags, links and files");
    }
}

fn line(stored: StoredRecord) -> Line {
    let record = stored.record;
    let text = record.text.trim();
    let title = record.title.as_deref().map(str::trim).filter(|title| !title.is_empty() && !text.contains(title));
    // The title of a short memory goes into its line, that of a document above it.
    let line_text = match title {
        Some(title) if text.contains('\n') => format!("{title}\n{text}"),
        Some(title) => format!("{title}: {text}"),
        None => text.to_owned(),
    };
    let types = record.record_type.iter().map(String::as_str);
    let section = record.fields.get("section").and_then(|s| s.as_str());
    Line {
        heading: heading(types.chain(section).chain(record.tags.iter().map(String::as_str))),
        undated: record.times.created.is_none(),
        created: record.times.created,
        id: stored.id,
        text: line_text,
    }
}

/// The heading of the first type, section or tag that belongs under one.
fn heading<'w>(words: impl Iterator<Item = &'w str>) -> usize {
    let place = |word: &str| {
        let word = word.to_lowercase();
        HEADINGS.iter().position(|(_, known)| known.contains(&word.as_str()))
    };
    words.filter_map(place).next().unwrap_or(HEADINGS.len() - 1)
}

fn day(time: Timestamp) -> String {
    let (year, month, day) = time.date();
    format!("{year:04}-{month:02}-{day:02}")
}

/// `[day] - text`. Further lines are indented, so that they belong to the entry (mem.md §15).
fn compose(lines: &[Line]) -> String {
    let mut by_heading: BTreeMap<usize, Vec<&Line>> = BTreeMap::new();
    for line in lines {
        by_heading.entry(line.heading).or_default().push(line);
    }
    let mut out = String::new();
    for (heading, lines) in by_heading {
        let separator = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(out, "{separator}## {}\n", HEADINGS[heading].0);
        for line in lines {
            let date = line.created.map_or_else(|| "unknown".to_owned(), day);
            let mut text_lines = line.text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
            let _ = writeln!(out, "[{date}] - {}", text_lines.next().unwrap_or_default().trim_start());
            for line in text_lines {
                let _ = writeln!(out, "  {line}");
            }
        }
    }
    out
}
