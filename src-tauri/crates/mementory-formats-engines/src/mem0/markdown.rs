//! Reads exports of mem0's plugins for coding agents (`mem0-export-<project>-<date>.md`). An export contains a list
//! under `# Mem0 Memory Export`, or memories that each begin with a header between two lines `---`.
use super::record_key;
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::memory_rows::{Row, RowSender, time_of_text};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::text_head::text_head;
use mementory_model::{Kind, Record, Verbatim};

const HEADER_NAMES: [&str; 7] = ["id", "created_at", "type", "confidence", "branch", "files", "categories"];
/// Smallest number of [`HEADER_NAMES`] in a header. Notes of other programs may have `id` or `type` too, so fewer names
/// are not enough.
const MIN_NAMES: usize = 4;
/// First line of an export with a list, in lower case.
const LIST_TITLE: &str = "# mem0 memory export";
/// Number of bytes at the beginning of a file that detection reads.
const HEAD_BYTES: usize = 8 << 10;

/// True if the name of a file is that of a text or Markdown file.
fn has_ending(member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    [".md", ".markdown", ".txt"].iter().any(|ending| name.ends_with(ending))
}

/// True if a file begins with the title of the list or with a header.
pub(super) fn is_export(catalog: &Catalog, member: &Member) -> bool {
    if !has_ending(member) {
        return false;
    }
    let Some(head) = text_head(catalog, member, HEAD_BYTES) else { return false };
    let text = head.trim_start();
    let lines: Vec<&str> = text.lines().collect();
    let is_list = lines.first().is_some_and(|line| line.trim().to_lowercase() == LIST_TITLE);
    is_list || header_end(&lines, 0).is_some()
}

/// Returns the index of the first line after the header that begins at line `start`. None if no header begins there. A
/// line `---` inside a text does not begin a header, because no header names follow.
fn header_end(lines: &[&str], start: usize) -> Option<usize> {
    if lines.get(start)?.trim_end() != "---" {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for (n, line) in lines.iter().enumerate().skip(start + 1) {
        if line.trim_end() == "---" {
            let is_header = names.contains(&"id") && names.len() >= MIN_NAMES;
            return is_header.then_some(n + 1);
        }
        let (name, _) = line.split_once(':')?;
        names.push(HEADER_NAMES.into_iter().find(|known| *known == name.trim())?);
    }
    None
}

/// Reads an export and sends its memories.
pub(super) fn read(rows: &mut RowSender, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let text = files.text(member)?;
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<(usize, usize)> =
        (0..lines.len()).filter_map(|start| Some((start, header_end(&lines, start)?))).collect();
    if starts.is_empty() {
        return read_list(rows, files, member, &lines);
    }
    for (n, (start, body)) in starts.iter().enumerate() {
        let end = starts.get(n + 1).map_or(lines.len(), |(next, _)| *next);
        let joined_lines = |from: usize, to: usize| lines.get(from..to).unwrap_or_default().join("\n");
        let source = joined_lines(*start, end);
        let row = Row { member, text: source.trim_end(), pointer: format!("line {}", start + 1) };
        let content = joined_lines(*body, end).trim().to_owned();
        if content.is_empty() {
            rows.fail(files, &row, "no_content: no text in it", Kind::Memory);
            continue;
        }
        let record = memory(lines.get(start + 1..body - 1).unwrap_or_default(), content);
        rows.send_with(files, &row, record, markdown(row.text))?;
    }
    Ok(())
}

fn markdown(text: &str) -> Verbatim {
    Verbatim { media_type: "text/markdown".into(), text: text.to_owned() }
}

fn memory(header: &[&str], content: String) -> Record {
    let value = |name: &str| {
        let pairs = header.iter().filter_map(|line| line.split_once(':'));
        let (_, value) = pairs.into_iter().find(|(key, _)| key.trim() == name)?;
        Some(value.trim()).filter(|value| !value.is_empty())
    };
    let parts = |name: &str| -> Vec<String> {
        let parts = value(name).unwrap_or_default().split(',').map(str::trim);
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let id = value("id").map(str::to_owned);
    let mut record = Record::new(Kind::Memory, record_key(id.as_deref(), &content), content);
    record.origin_id = id;
    record.record_type = value("type").map(str::to_owned);
    record.confidence = value("confidence").and_then(|text| text.parse().ok()).filter(|n| (0.0..=1.0).contains(n));
    record.tags = parts("categories");
    record.times.created = value("created_at").and_then(time_of_text);
    if let Some(branch) = value("branch") {
        record.fields.insert("branch".into(), branch.into());
    }
    if !parts("files").is_empty() {
        record.fields.insert("files".into(), parts("files").into());
    }
    record
}

/// Reads a list, in which the headings are types and each item is a memory.
fn read_list(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    member: &Member,
    lines: &[&str],
) -> Result<(), FormatError> {
    let mut heading = None;
    for (n, line) in lines.iter().enumerate() {
        if let Some(title) = line.strip_prefix("## ") {
            heading = Some(title.trim().to_owned());
        }
        let Some(text) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).map(str::trim) else { continue };
        let row = Row { member, text: line, pointer: format!("line {}", n + 1) };
        if text.is_empty() {
            rows.fail(files, &row, "no_content: no text in it", Kind::Memory);
            continue;
        }
        let mut record = Record::new(Kind::Memory, record_key(None, text), text);
        record.record_type.clone_from(&heading);
        rows.send_with(files, &row, record, markdown(line))?;
    }
    Ok(())
}
