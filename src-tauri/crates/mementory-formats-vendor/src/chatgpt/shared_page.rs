//! Reads the saved page of a shared conversation (`chatgpt.com/share/<id>`). The messages are in a script, as a table
//! of values that refer to each other by their positions. In older pages, the messages are JSON.
use super::page::head_text;
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::text_head::page_text;
use mementory_model::Limits;
use serde_json::{Deserializer, Value};
use std::fmt::Write as _;

/// Number of bytes at the beginning of a page that are searched for the address of the site.
const HEAD_BYTES: usize = 256 << 10;
/// Number of bytes at the beginning of a page in which detection searches for the conversation. It is large because the
/// styles of a page come before the conversation.
const PAGE_BYTES: usize = 16 << 20;
/// Key of the messages of the shared branch. Newer pages also have `mapping`, which contains the messages of all
/// branches.
const BRANCH: &str = "linear_conversation";
/// Key that a page contains before its messages, so that detection finds it regardless of the number of messages.
const SHARED_ID: &str = "sharedConversationId";
/// Beginning of a script call that adds text to the table.
const TABLE_TEXT: &str = ".enqueue(";
/// Texts that come directly before the JSON in older pages.
const OLDER_STARTS: [&str; 2] = ["id=\"__NEXT_DATA__\"", "window.__remixContext"];
/// Deepest nesting of the JSON that is built from the table of a page. A page with deeper nesting is reported as
/// unreadable.
const MAX_JSON_DEPTH: usize = 100;

/// True for a page with a shared conversation. Detection only searches the page for keys, because parsing a large page
/// takes long.
pub(super) fn is_shared_page(catalog: &Catalog, member: &Member) -> Result<bool, FormatError> {
    let head = head_text(catalog, member, HEAD_BYTES)?;
    let has_site_address = head.contains("chatgpt.com") || head.contains("chat.openai.com");
    Ok(has_site_address && (has_conversation(&head) || has_conversation(&head_text(catalog, member, PAGE_BYTES)?)))
}

/// True if a script contains a key of a shared conversation. A key ends with `"` in JSON, and with `\"` in the text of
/// a table.
fn has_conversation(page: &str) -> bool {
    let starts = OLDER_STARTS.iter().chain([&TABLE_TEXT]).filter_map(|start| page.find(start)).min();
    let scripts = starts.and_then(|start| page.get(start..)).unwrap_or_default();
    let is_key = |(at, key): (usize, &str)| {
        let before = scripts.get(..at).is_some_and(|before| before.ends_with('"'));
        let after = scripts.get(at + key.len()..).is_some_and(|after| after.starts_with(['"', '\\']));
        before && after
    };
    [SHARED_ID, BRANCH].iter().any(|key| scripts.match_indices(key).any(is_key))
}

/// Returns the shared conversation of a page as JSON, in the form of an element of an export. None if the page contains
/// no conversation or cannot be read.
pub(super) fn conversation(catalog: &Catalog, member: &Member, limits: &Limits) -> Result<Option<String>, FormatError> {
    let bytes = match catalog.bytes(member, limits.element_bytes) {
        Err(e @ FormatError::Limit { limit: "total_bytes", .. }) => return Err(e),
        bytes => bytes.unwrap_or_default(),
    };
    let page = page_text(&bytes);
    if !page.contains(BRANCH) {
        return Ok(None);
    }
    let max_bytes = usize::try_from(limits.element_bytes).unwrap_or(usize::MAX);
    Ok(from_table(&table(&page), max_bytes).or_else(|| from_json(&page)))
}

/// Returns the values of all tables in a page as one list, because the values of a later table refer to those of
/// earlier tables.
fn table(page: &str) -> Vec<Value> {
    let literals = page.match_indices(TABLE_TEXT).filter_map(|(at, before)| {
        let literal = page.get(at + before.len()..)?.trim_start();
        Deserializer::from_str(literal).into_iter::<String>().next()?.ok()
    });
    let text: String = literals.collect();
    let mut values = Vec::new();
    for line in text.lines() {
        // A table that the server sent later has a prefix of a letter and a number, such as `P12:`, before its list.
        let list = line.find('[').and_then(|at| serde_json::from_str::<Vec<Value>>(line.get(at..)?).ok());
        values.extend(list.unwrap_or_default());
    }
    values
}

/// Returns the JSON of the conversation in a table of values. None if there is none.
fn from_table(table: &[Value], max_bytes: usize) -> Option<String> {
    let name = table.iter().position(|value| value == BRANCH)?;
    let key = format!("_{name}");
    let at = table.iter().position(|value| value.get(&key).is_some())?;
    let mut out = String::new();
    write_value(table, at, 0, max_bytes, &mut out)?;
    as_export(&serde_json::from_str(&out).ok()?)
}

/// Writes the value at position `at` of the table as JSON. None if the JSON becomes too deep or too large.
fn write_value(table: &[Value], at: usize, depth: usize, max_bytes: usize, out: &mut String) -> Option<()> {
    if depth > MAX_JSON_DEPTH || out.len() > max_bytes {
        return None;
    }
    // A negative position represents null, undefined or a number that JSON cannot express. All become null.
    let write_at = |position: &Value, out: &mut String| match position.as_u64() {
        Some(at) => write_value(table, usize::try_from(at).ok()?, depth + 1, max_bytes, out),
        None => {
            out.push_str("null");
            Some(())
        }
    };
    match table.get(at) {
        Some(Value::Object(members)) => {
            out.push('{');
            for (key, value) in members {
                let name = key.strip_prefix('_').and_then(|at| table.get(at.parse::<usize>().ok()?));
                if let Some(name @ Value::String(_)) = name {
                    out.push_str(if out.ends_with('{') { "" } else { "," });
                    let _ = write!(out, "{name}:");
                    write_at(value, out)?;
                }
            }
            out.push('}');
        }
        // A list that begins with a string represents a value of a special type, such as a date: the name of the type,
        // then the value.
        Some(Value::Array(items)) if items.first().is_some_and(Value::is_string) => {
            let value = items.get(1).filter(|value| value.is_string()).unwrap_or(&Value::Null);
            let _ = write!(out, "{value}");
        }
        Some(Value::Array(items)) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_at(item, out)?;
            }
            out.push(']');
        }
        other => {
            let _ = write!(out, "{}", other.unwrap_or(&Value::Null));
        }
    }
    Some(())
}

/// Returns the JSON of the conversation in an older page. None if there is none.
fn from_json(page: &str) -> Option<String> {
    let starts = OLDER_STARTS.iter().filter_map(|start| page.split_once(start));
    let mut documents = starts.filter_map(|(_, rest)| {
        let json = rest.get(rest.find('{')?..)?;
        Deserializer::from_str(json).into_iter::<Value>().next()?.ok()
    });
    documents.find_map(|document| {
        let mut pending = vec![&document];
        while let Some(value) = pending.pop() {
            match value {
                Value::Object(members) if members.contains_key(BRANCH) => return as_export(value),
                Value::Object(members) => pending.extend(members.values()),
                Value::Array(items) => pending.extend(items),
                _ => {}
            }
        }
        None
    })
}

/// Returns a shared conversation with the members that an export has. If the page has no `mapping`, the messages of the
/// shared branch become its nodes.
fn as_export(conversation: &Value) -> Option<String> {
    let members = conversation.as_object()?;
    let mut out = String::from("{");
    for (key, value) in members.iter().filter(|(key, _)| *key != BRANCH) {
        let _ = write!(out, "{}:{value},", Value::from(key.as_str()));
    }
    if !members.get("mapping").is_some_and(Value::is_object) {
        let nodes = members.get(BRANCH)?.as_array()?;
        out.push_str("\"mapping\":{");
        for (index, node) in nodes.iter().enumerate() {
            let id = node.get("id").and_then(Value::as_str).map_or_else(|| index.to_string(), str::to_owned);
            let _ = write!(out, "{}{}:{node}", if index > 0 { "," } else { "" }, Value::from(id));
        }
        out.push_str("},");
    }
    out.truncate(out.trim_end_matches(',').len());
    out.push('}');
    Some(out)
}
