//! Removes and adds the member `operation` of a delta line without changing any other byte of the line.
use super::wire;
use mementory_json::{Tree, equal_names};
use mementory_model::RecordKey;
use serde::Deserialize;

/// Error message for a line for which [`parse`] returns an error.
pub(super) const NOT_A_CHANGE: &str = "this line is not a change of a record, so no change is made";

/// The validator's message for a line that cannot be read, or for which [`parse`] returns an error, by its code.
pub(super) fn fault_message(code: &str) -> &'static str {
    match code {
        "no_operation" => "the change has no operation",
        "unknown_operation" => "the operation must be create, update or delete, and stated once",
        "no_id" => "the change does not state the id of its record, or states more than one",
        "wrong_agent" => "the change states more than one agent",
        "no_content" => "the record has no content, or content that is not a text",
        "not_json" => "this line is not a JSON object",
        _ => "this line cannot be read",
    }
}

/// Scope of a tombstone whose target is an export id.
const EXPORT_ID_SCOPE: &str = "keepsake";

/// The change that a delta line makes to its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Adds a record.
    Create,
    /// Changes a record.
    Update,
    /// Marks a record as deleted. Its line stays as a tombstone (spec §3.1.8).
    Delete,
}

impl Operation {
    /// Name of the operation in the file.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// A parsed delta line.
pub(super) struct Change {
    pub operation: Operation,
    /// Id of the record, folded for comparison ([`wire::folded_id`]).
    pub id: String,
    /// Agent id in the line, if any.
    pub agent: Option<String>,
    /// The record's line without the operation. None for a deletion that states only an id.
    pub line: Option<String>,
    /// True if the record must be removed completely, without even a tombstone (our extension `mementory.erased`).
    pub is_erased: bool,
}

/// Parses a delta line. The error is a stable code. Accepts only the values of `operation` that the schema lists
/// (`DeltaMemoryRecord`): the specification has no default for any other value (§8.2), and if the change were skipped,
/// the delta would not lead to the state that it declares.
pub(super) fn parse(text: &str) -> Result<Change, &'static str> {
    let members = wire::members(text).ok_or("not_json")?;
    let raw = wire::get(&members, "operation").ok_or("no_operation")?;
    // Refuses a line that states twice what is done, to which record, or of which agent, because some programs apply the
    // first member and others the last.
    let is_repeated = |name: &str| members.0.iter().filter(|(key, _)| equal_names(key, name)).count() > 1;
    let repeated = [("operation", "unknown_operation"), ("id", "no_id"), ("agent_id", "wrong_agent")];
    if let Some((_, code)) = repeated.into_iter().find(|(name, _)| is_repeated(name)) {
        return Err(code);
    }
    let operation = match wire::string(raw).as_deref() {
        Some("create") => Operation::Create,
        Some("update") => Operation::Update,
        Some("delete") => Operation::Delete,
        _ => return Err("unknown_operation"),
    };
    let id = wire::get(&members, "id").and_then(wire::string).filter(|id| !id.is_empty()).ok_or("no_id")?;
    let id = wire::folded_id(&id);
    let agent = wire::get(&members, "agent_id").and_then(wire::string).map(std::borrow::Cow::into_owned);
    let content = wire::get(&members, "content").and_then(wire::string);
    let is_erased = wire::vendor(&members).is_some_and(|k| {
        wire::members(k.get()).is_some_and(|m| wire::get(&m, "erased").is_some_and(|e| e.get() == "true"))
    });
    if content.is_none() {
        return match operation {
            Operation::Delete => Ok(Change { operation, id, agent, line: None, is_erased }),
            _ => Err("no_content"),
        };
    }
    let mut line = cut_operation(text, raw.get()).unwrap_or_else(|| edit_json(text, |tree| tree.remove("operation")));
    let status = wire::get(&members, "status").and_then(wire::string);
    if operation == Operation::Delete && status.as_deref() != Some("deleted") {
        line = edit_json(&line, |tree| tree.set("status", Tree::Text("deleted".into())));
    }
    Ok(Change { operation, id, agent, line: Some(line), is_erased })
}

/// The record that a delta line changes.
pub(super) struct ChangedRecord {
    /// Id in the line, folded for comparison.
    pub id: String,
    /// Id of the record in its vault, which differs if an export moved it (see [`wire::original_id`]).
    pub original_id: String,
    /// The record's line. None for a deletion that states only an id or that erases the record.
    pub line: Option<String>,
    /// The names of an erased record in other vaults.
    pub names: TargetNames,
}

/// Our extension slot in a line that erases a record. It identifies the record to each vault, because the vault may
/// have the record under an id other than that of the line.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TargetNames {
    /// Key that the record has in every vault that read it from its source. None if the key contains words of the
    /// record.
    key: Option<RecordKey>,
    /// Export id of a record that did not come from ALF.
    export_id: Option<String>,
}

impl TargetNames {
    /// Scope and id of the target of the tombstone. None for a line that has only an id.
    pub(super) fn target(self) -> Option<(String, String)> {
        let by_export_id = self.export_id.map(|id| (EXPORT_ID_SCOPE.to_owned(), id));
        self.key.map(|RecordKey { scope, value }| (scope, value)).or(by_export_id)
    }
}

/// Parses a delta line for an import.
pub(super) fn record_of(line: &str) -> Result<ChangedRecord, &'static str> {
    let Change { id, line: record, is_erased, .. } = parse(line)?;
    let members = wire::members(line);
    let original_id = members.as_ref().and_then(wire::original_id);
    let slot = members.as_ref().and_then(wire::vendor).filter(|_| is_erased);
    let names = slot.and_then(|slot| serde_json::from_str(slot.get()).ok()).unwrap_or_default();
    let original_id = original_id.unwrap_or_else(|| id.clone());
    Ok(ChangedRecord { original_id, id, line: record.filter(|_| !is_erased), names })
}

/// Converts the line of a record to a delta line.
pub(super) fn add_operation(line: &str, operation: Operation) -> String {
    let end = line.trim_ascii_end().len().saturating_sub(1);
    // A member `operation` of the record itself is replaced, because readers would mistake it for the delta's
    // operation.
    if wire::members(line).is_some_and(|m| wire::get(&m, "operation").is_some()) {
        return edit_json(line, |tree| tree.set("operation", Tree::Text(operation.as_str().into())));
    }
    let comma = if line[..end].trim_ascii_end().ends_with('{') { "" } else { "," };
    format!("{}{comma}\"operation\":\"{}\"}}", &line[..end], operation.as_str())
}

/// The line with its status set to `deleted`.
pub(super) fn with_deleted_status(line: &str) -> String {
    edit_json(line, |tree| tree.set("status", Tree::Text("deleted".into())))
}

/// Removes the member `operation` and its comma from the text. `value` is the slice of `text` with the member's value.
fn cut_operation(text: &str, value: &str) -> Option<String> {
    // `value` is a slice of `text`, so the distance between the two pointers is the offset of `value`.
    let start = (value.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let end = start + value.len();
    if text.get(start..end) != Some(value) {
        return None;
    }
    let text_before = text[..start].trim_ascii_end().strip_suffix(':')?.trim_ascii_end();
    let text_before = text_before.strip_suffix("\"operation\"")?.trim_ascii_end();
    if let Some(head) = text_before.strip_suffix(',') {
        return Some(format!("{head}{}", &text[end..]));
    }
    let text_after = text[end..].trim_ascii_start();
    Some(format!("{text_before}{}", text_after.strip_prefix(',').unwrap_or(text_after)))
}

fn edit_json(text: &str, change: impl FnOnce(&mut Tree)) -> String {
    let Ok(mut tree) = Tree::parse(text, 512) else { return text.to_owned() };
    change(&mut tree);
    let mut out = String::new();
    tree.write(&mut out);
    out
}
