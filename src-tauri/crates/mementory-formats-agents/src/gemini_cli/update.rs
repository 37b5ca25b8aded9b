//! Applies changes to a message that is already in the log. A line `message_update` contains the message's id and the
//! members to replace, either next to the id or under `$set`.
use mementory_formats_shared::object::Object;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// True for a line that changes an earlier message.
pub(super) fn is_update(line: &Object<'_>) -> bool {
    line.text("type").as_deref() == Some("message_update")
}

/// The message after its updates, as JSON. An update never changes the members that identify the message, or its time,
/// because the time of the update is not the time at which the message was written.
pub(super) fn merged(text: &str, updates: &[String]) -> String {
    let mut members: Vec<(String, &RawValue)> = Vec::new();
    let mut position_of: HashMap<String, usize> = HashMap::new();
    let mut set = |key: &str, value| match position_of.get(key).and_then(|at| members.get_mut(*at)) {
        Some(member) => member.1 = value,
        None => {
            position_of.insert(key.to_owned(), members.len());
            members.push((key.to_owned(), value));
        }
    };
    for (key, value) in Object::parse(text).unwrap_or_default().members() {
        set(key, value);
    }
    for update in updates {
        let update = Object::parse(update).unwrap_or_default();
        let change = update.object("$set").unwrap_or(update);
        for (key, value) in change.members().filter(|(key, _)| !matches!(*key, "id" | "type" | "timestamp")) {
            set(key, value);
        }
    }
    let members: Vec<String> = members
        .iter()
        .map(|(key, value)| format!("{}:{}", serde_json::Value::String(key.clone()), value.get()))
        .collect();
    format!("{{{}}}", members.join(","))
}
