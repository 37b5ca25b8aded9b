//! Handles secrets in an agent file: variables of tools and settings of tool servers. Their names become records, but
//! their values are not stored.
use super::ID;
use mementory_format::FormatError;
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, link};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::redact::{REDACTED, redact, redact_in_program};
use mementory_model::{Issue, Kind, Verbatim};
use serde_json::value::RawValue;

/// Members that contain the variables of an agent, either by name or as a list of `key` and `value`.
const VARIABLE_MEMBERS: [&str; 2] = ["tool_exec_environment_variables", "secrets"];
/// Members of a tool server whose whole value may be secret.
const SERVER_SECRETS: [&str; 6] = ["token", "custom_headers", "env", "auth_token", "auth_header", "access_token"];

/// Names of variables, each with a flag that is true if the file contains a value for it.
fn variables(object: &Object<'_>, member: &str) -> Vec<(String, bool)> {
    if let Some(list) = object.list(member) {
        let variable = |raw: &&RawValue| {
            let entry = Object::parse(raw.get())?;
            Some((entry.first_text(&["key", "name"])?, entry.non_blank_text("value").is_some()))
        };
        return list.iter().filter_map(variable).collect();
    }
    let by_name = object.object(member).unwrap_or_default();
    let has_value = |raw: &RawValue| !matches!(raw.get(), "\"\"" | "null");
    by_name.members().map(|(name, raw)| (name.to_owned(), has_value(raw))).collect()
}

/// The members that contain variables, each with the JSON that replaces it in the stored text. The JSON contains the
/// names of the variables, but no values.
pub(super) fn hidden_members<'a>(object: &Object<'a>) -> Vec<(&'a RawValue, String)> {
    let is_hidden = |member: &&str| {
        let raw = object.raw_value(member)?;
        let names = variables(object, member).into_iter();
        let names: serde_json::Map<String, serde_json::Value> =
            names.map(|(name, has_value)| (name, if has_value { REDACTED } else { "" }.into())).collect();
        Some((raw, serde_json::Value::Object(names).to_string()))
    };
    VARIABLE_MEMBERS.iter().filter_map(is_hidden).collect()
}

/// Sends a credential record for each variable. The record contains the name of the variable, but not its value.
pub(super) fn send_names(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
    agent: &str,
) -> Result<(), FormatError> {
    let mut seen = std::collections::HashSet::new();
    let mut count = 0;
    for member in VARIABLE_MEMBERS {
        for (name, has_value) in variables(object, member) {
            count += u32::from(has_value);
            if !seen.insert(name.clone()) {
                continue;
            }
            let row = Row { member: row.member, text: row.text, pointer: format!("{}/{member}/{name}", row.pointer) };
            let mut record = rows.record(Kind::Credential, None, "", name.clone());
            record.key.value = format!("{agent}/variable/{name}");
            record.title = Some(name.clone());
            record.record_type = Some("custom".into());
            record.fields.insert("secret_inside".into(), false.into());
            record.links = vec![link("member_of", Kind::Profile, ID, agent)];
            let verbatim = Verbatim::json(serde_json::json!({ "name": name }).to_string());
            rows.send_with(files, &row, record, verbatim)?;
        }
    }
    note(files, row, count);
    Ok(())
}

/// Removes private keys and tokens of known services from a tool's text. Returns the text and the number of removed
/// secrets. If the result would not be valid JSON, returns the unchanged text and 0.
pub(super) fn without_tokens(text: &str) -> (String, u32) {
    clean_if_still_json(text, redact_in_program(text))
}

/// Returns `clean` if its text is still JSON, otherwise `text` and 0.
fn clean_if_still_json(text: &str, clean: (String, u32)) -> (String, u32) {
    if clean.1 > 0 && Object::parse(&clean.0).is_some() { clean } else { (text.to_owned(), 0) }
}

/// The settings of a tool server without its secrets.
pub(super) fn without_server_secrets(text: &str, object: &Object<'_>) -> (String, u32) {
    let stdio_config = object.object("stdio_config").unwrap_or_default();
    let values_of = |name: &&str| [object_value(object, name), object_value(&stdio_config, name)];
    let secrets: Vec<&RawValue> = SERVER_SECRETS.iter().flat_map(values_of).flatten().collect();
    let placeholder = format!("\"{REDACTED}\"");
    let replaced: Vec<(&RawValue, &str)> = secrets.iter().map(|raw| (*raw, placeholder.as_str())).collect();
    let text = with_replaced_values(text, &replaced);
    let (text, count) = clean_if_still_json(&text, redact(&text));
    (text, count.max(u32::try_from(secrets.len()).unwrap_or(u32::MAX)))
}

/// A value that is present and not empty, as a slice of the object's text.
fn object_value<'a>(object: &Object<'a>, name: &str) -> Option<&'a RawValue> {
    object.raw_value(name).filter(|raw| !matches!(raw.get(), "\"\"" | "{}" | "[]"))
}

/// Reports how many secret values were left out.
pub(super) fn note(files: &mut FileReader<'_>, row: &Row<'_>, count: u32) {
    if count > 0 {
        let place = format!("{}#{}", row.member.place, row.pointer);
        let message = format!("{count} values of secrets are not stored, only their names");
        files.sink.note(Issue::new("secret_left_out", place, message));
    }
}
