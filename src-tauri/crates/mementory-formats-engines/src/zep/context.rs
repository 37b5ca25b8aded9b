//! Reads a Context Block: the text that Zep assembles for a prompt, with facts, entities and a summary of the user.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::memory_rows::{Row, RowSender, time_of_text};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Issue, Kind, Record, Timestamp, Verbatim};

/// What a block begins with. The texts above the sections differ between versions.
const BEGINNINGS: [&str; 5] =
    [INTRODUCTION, "# This is the user summary", "# These are the most relevant facts", SUMMARY, FACTS];
/// Beginning of the sentence above the sections.
const INTRODUCTION: &str = "FACTS and ENTITIES";
const SUMMARY: &str = "<USER_SUMMARY>";
const FACTS: &str = "<FACTS>";
const ENTITIES: &str = "<ENTITIES>";
/// Part of the line above the facts, which describes their form.
const FORM: &str = "(Date range: from - to)";
const RANGE: &str = "Date range: ";
/// Words in place of a time.
const NO_TIMES: [&str; 3] = ["present", "date unknown", "unknown"];

/// True for a text that begins like a block and has a section of it.
pub(super) fn is_block(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let begins = BEGINNINGS.iter().any(|beginning| text.starts_with(beginning));
    begins && (text.contains(SUMMARY) || text.contains(FACTS) && text.contains(FORM))
}

/// A section that has begun.
#[derive(Clone, Copy, PartialEq)]
enum Section<'t> {
    Summary,
    Facts,
    Entities,
    /// A section that is not read, with the name of its tag.
    Other(&'t str),
}

impl<'t> Section<'t> {
    fn begin(line: &'t str) -> Option<Self> {
        let name = line.strip_prefix('<')?.strip_suffix('>')?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        is_name.then_some(match line {
            SUMMARY => Self::Summary,
            FACTS => Self::Facts,
            ENTITIES => Self::Entities,
            _ => Self::Other(name),
        })
    }
}

/// An item of a section: the number of its first line, and its lines.
struct Item<'t> {
    section: Section<'t>,
    line: usize,
    lines: Vec<&'t str>,
}

/// A block whose text is split.
struct Block<'t> {
    items: Vec<Item<'t>>,
    /// True if the text ends inside a section.
    is_cut: bool,
    /// True if there is text outside the sections that is not one of the headings of a block. Programs that compose
    /// blocks may write a section in one line, or add words of their own.
    has_other_text: bool,
}

/// Sends the records of a block. `pointer` makes the pointer of a record from the number of its line. Returns true if
/// the block has text that is in no record.
pub(super) fn read(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    member: &Member,
    text: &str,
    pointer: impl Fn(usize) -> String,
) -> Result<bool, FormatError> {
    let Block { items, is_cut, has_other_text } = split(text);
    if is_cut {
        let message = "partial: this block ends inside a section; everything before its end was read";
        files.sink.note(Issue::new("truncated", &member.place, message));
    }
    for item in &items {
        let source = item.lines.join("\n");
        let row = Row { member, text: &source, pointer: pointer(item.line) };
        let record = match item.section {
            Section::Summary => Some(summary(rows, &source)),
            Section::Facts => fact(rows, item),
            Section::Entities => entity(rows, item),
            Section::Other(_) => continue,
        };
        match record {
            Some(record) => {
                let verbatim = Verbatim { media_type: "text/plain".into(), text: source.clone() };
                rows.send_with(files, &row, record, verbatim)?;
            }
            None => rows.fail(files, &row, "no_content: no text in it", Kind::Memory),
        }
    }
    Ok(has_other_text || items.iter().any(|item| matches!(item.section, Section::Other(_))))
}

/// Splits a block into the items of its sections. An item begins with a hyphen or with the name of an entity; the
/// summary and a section that is not read are one item each.
fn split(text: &str) -> Block<'_> {
    let mut out: Vec<Item<'_>> = Vec::new();
    let mut section = None;
    let mut has_other_text = false;
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        let Some(open) = section else {
            section = Section::begin(trimmed);
            let is_known = trimmed.is_empty() || trimmed.starts_with('#') || trimmed.starts_with(INTRODUCTION);
            has_other_text |= section.is_none() && !is_known;
            continue;
        };
        if trimmed.starts_with("</") {
            section = None;
            continue;
        }
        if trimmed.is_empty() {
            // A blank line separates the paragraphs of a summary.
            if let Some(last) = out.last_mut()
                && open == Section::Summary
                && last.section == open
            {
                last.lines.push("");
            }
            continue;
        }
        let is_list = matches!(open, Section::Facts | Section::Entities);
        let is_start =
            is_list && (trimmed.starts_with("- ") || open == Section::Entities && trimmed.starts_with("Name: "));
        match out.last_mut().filter(|last| last.section == open && !is_start) {
            Some(last) => last.lines.push(line),
            None => out.push(Item { section: open, line: number + 1, lines: vec![line] }),
        }
    }
    Block { items: out, is_cut: section.is_some(), has_other_text }
}

fn summary(rows: &RowSender, text: &str) -> Record {
    let mut record = rows.record(Kind::Profile, None, text.trim(), text.trim());
    record.record_type = Some("user_summary".into());
    record.source.method = Some("extracted".into());
    record
}

/// A fact with the time in which it is valid, such as `- Keeps bees (2026-01-02 10:00:00 - present)`.
fn fact(rows: &RowSender, item: &Item<'_>) -> Option<Record> {
    let text = item.lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
    let text = text.strip_prefix("- ").unwrap_or(&text).trim();
    let (fact, range) = with_range(text).map_or((text, (None, None)), |(fact, range)| (fact.trim(), range));
    if fact.is_empty() {
        return None;
    }
    let mut record = rows.record(Kind::Memory, None, fact, fact);
    (record.times.valid_from, record.times.valid_to) = range;
    record.status = Some(if range.1.is_some() { "superseded" } else { "active" }.into());
    record.source.method = Some("extracted".into());
    Some(record)
}

type Range = (Option<Timestamp>, Option<Timestamp>);

/// The text before the range at its end, and the range. None if the text does not end with a range.
fn with_range(text: &str) -> Option<(&str, Range)> {
    let (fact, range) = text.strip_suffix(')')?.rsplit_once('(')?;
    if !fact.is_empty() && !fact.ends_with(' ') {
        return None;
    }
    let (from, to) = range.strip_prefix(RANGE).unwrap_or(range).split_once(" - ")?;
    let time = |text: &str| if NO_TIMES.contains(&text) { Some(None) } else { time_of_text(text).map(Some) };
    Some((fact, (time(from.trim())?, time(to.trim())?)))
}

/// An entity: `- Name: summary`, or lines that begin with `Name:`, `Label:` and `Summary:`.
fn entity(rows: &RowSender, item: &Item<'_>) -> Option<Record> {
    let mut lines = item.lines.iter().map(|line| line.trim());
    let first = lines.next()?;
    let first = first.strip_prefix("- ").unwrap_or(first);
    let (mut name, mut label, mut summary) = (first, None, Vec::new());
    if let Some(stated) = first.strip_prefix("Name: ") {
        name = stated;
    } else if let Some((stated, words)) = first.split_once(": ") {
        name = stated;
        summary.push(words);
    }
    for line in lines {
        match (line.strip_prefix("Label: "), line.strip_prefix("Summary: ")) {
            (Some(stated), _) if summary.is_empty() => label = Some(stated.to_owned()),
            (_, Some(words)) => summary.push(words),
            _ => summary.push(line),
        }
    }
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    let mut record = rows.record(Kind::Entity, None, name, summary.join("\n").trim());
    record.title = Some(name.to_owned());
    record.record_type = label;
    Some(record)
}

/// Reads a file that is a block.
pub(super) fn read_file(rows: &mut RowSender, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let text = match files.text(member) {
        Err(FormatError::Limit { limit: "side_file_bytes", .. }) => {
            let reason = "too_large: this text is too large to be read and is stored as a file";
            files.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Memory));
            return files.pass_through(member, "", "source_text");
        }
        text => text?,
    };
    let has_others = read(rows, files, member, &text, |line| format!("line {line}"))?;
    if has_others {
        let message = "parts of this block that are in no record are stored with the whole text";
        files.sink.note(Issue::new("kept_members", &member.place, message));
        return files.pass_through(member, "", "source_text");
    }
    Ok(())
}
