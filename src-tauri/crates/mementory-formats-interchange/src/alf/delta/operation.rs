//! The `operation` member of a delta's line: taken out and put in without touching any other byte of the line.
use super::super::wire;
use mementory_json::Tree;

/// What a line does to its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// New.
    Create,
    /// Changed.
    Update,
    /// Deleted softly: the record stays as a tombstone (spec §3.1.8).
    Delete,
}

impl Operation {
    /// The format's word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// A line, taken apart.
pub(super) struct Change {
    /// What it does.
    pub operation: Operation,
    /// Id of the record.
    pub id: String,
    /// The record's line; None = a tombstone that only names its record.
    pub line: Option<String>,
    /// Nothing of the record may stay, not even a tombstone (our own word, in `keepsake.erased`).
    pub erased: bool,
}

/// Takes a line of a delta apart. Errors: stable codes.
pub(super) fn parse(text: &str) -> Result<Change, &'static str> {
    let members = wire::members(text).ok_or("not_json")?;
    let raw = wire::get(&members, "operation").ok_or("no_operation")?;
    let operation = match wire::string(raw).as_deref() {
        Some("create") => Operation::Create,
        Some("update") => Operation::Update,
        Some("delete") => Operation::Delete,
        _ => return Err("unknown_operation"),
    };
    let id = wire::get(&members, "id").and_then(wire::string).filter(|id| !id.is_empty()).ok_or("no_id")?.into_owned();
    let content = wire::get(&members, "content").and_then(wire::string);
    let erased = wire::get(&members, "keepsake").is_some_and(|k| {
        wire::members(k.get()).is_some_and(|m| wire::get(&m, "erased").is_some_and(|e| e.get() == "true"))
    });
    if content.is_none() {
        return match operation {
            Operation::Delete => Ok(Change { operation, id, line: None, erased }),
            _ => Err("no_content"),
        };
    }
    let mut line = without(text, raw.get()).unwrap_or_else(|| rewritten(text, |tree| tree.remove("operation")));
    let status = wire::get(&members, "status").and_then(wire::string);
    if operation == Operation::Delete && status.as_deref() != Some("deleted") {
        line = rewritten(&line, |tree| tree.set("status", Tree::Text("deleted".into())));
    }
    Ok(Change { operation, id, line: Some(line), erased })
}

/// A record's line as a line of a delta.
pub(super) fn put(line: &str, operation: Operation) -> String {
    let end = line.trim_ascii_end().len().saturating_sub(1);
    // an operation of the record's own would be read as ours: it gives way
    if wire::members(line).is_some_and(|m| wire::get(&m, "operation").is_some()) {
        return rewritten(line, |tree| tree.set("operation", Tree::Text(operation.word().into())));
    }
    let comma = if line[..end].trim_ascii_end().ends_with('{') { "" } else { "," };
    format!("{}{comma}\"operation\":\"{}\"}}", &line[..end], operation.word())
}

/// The line with a deleted status, all else as it is.
pub(super) fn deleted(line: &str) -> String {
    rewritten(line, |tree| tree.set("status", Tree::Text("deleted".into())))
}

/// Cuts the member `operation` with its comma out of the text.
fn without(text: &str, value: &str) -> Option<String> {
    // the value borrows from `text`, so the distance of the pointers is the offset
    let start = (value.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let end = start + value.len();
    if text.get(start..end) != Some(value) {
        return None;
    }
    let before = text[..start].trim_ascii_end().strip_suffix(':')?.trim_ascii_end();
    let before = before.strip_suffix("\"operation\"")?.trim_ascii_end();
    if let Some(head) = before.strip_suffix(',') {
        return Some(format!("{head}{}", &text[end..]));
    }
    let after = text[end..].trim_ascii_start();
    Some(format!("{before}{}", after.strip_prefix(',').unwrap_or(after)))
}

fn rewritten(text: &str, change: impl FnOnce(&mut Tree)) -> String {
    let Ok(mut tree) = Tree::parse(text, 512) else { return text.to_owned() };
    change(&mut tree);
    let mut out = String::new();
    tree.write(&mut out);
    out
}
