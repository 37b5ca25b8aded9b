//! Converts rows of `memories` to records and records to rows (spec §2.2, §9).
use super::database::{Row, decode_blob};
use super::settings::Settings;
use mementory_model::{Embedding, Record, Timestamp, Verbatim};
use serde_json::{Map, Value};

/// Fills a record from a row. Returns false if the row's time of creation cannot be parsed.
pub(super) fn fill_record(record: &mut Record, row: &Row, settings: &Settings) -> bool {
    let text = |key: &str| row.get(key).and_then(Value::as_str).filter(|t| !t.is_empty());
    let category = text("category").unwrap_or("core");
    let (memory_type, namespace) = match category {
        "core" => ("semantic", "core".to_owned()),
        "daily" => ("episodic", "daily".to_owned()),
        "conversation" => ("episodic", "conversation".to_owned()),
        other => ("semantic", format!("custom:{other}")),
    };
    record.title = text("key").map(str::to_owned);
    record.record_type = Some(memory_type.into());
    record.namespace = Some(namespace);
    record.status = Some("active".into());
    record.source.method = Some("agent_written".into());
    record.source.conversation = text("session_id").map(str::to_owned);
    record.fields.insert("category".into(), category.into());
    let created = text("created_at").or_else(|| text("timestamp"));
    record.times.created = created.and_then(parse_time);
    record.times.updated = text("updated_at").and_then(parse_time);
    if let Some(vector) =
        row.get("embedding").and_then(decode_blob).and_then(|b| parse_embedding(&b, settings, record.times.created))
    {
        record.embeddings.push(vector);
    }
    record.verbatim = Some(Verbatim::json(Value::Object(row.clone()).to_string()));
    created.is_none() || record.times.created.is_some()
}

/// A time in RFC 3339 or in SQLite's `YYYY-MM-DD HH:MM:SS` (UTC).
fn parse_time(text: &str) -> Option<Timestamp> {
    let from_sqlite_form =
        || (text.len() >= 19 && text.as_bytes()[10] == b' ').then(|| format!("{}T{}Z", &text[..10], &text[11..]));
    Timestamp::parse(text).or_else(|| Timestamp::parse(&from_sqlite_form()?))
}

/// Converts little-endian floats to an `.alf` embedding. None if the settings state no model, a value is invalid, or
/// there are fewer than 64 or more than 4,096 values. The verbatim contains the bytes in any case.
fn parse_embedding(bytes: &[u8], settings: &Settings, at: Option<Timestamp>) -> Option<Embedding> {
    let n = bytes.len() / 4;
    if !bytes.len().is_multiple_of(4) || !(64..=4096).contains(&n) {
        return None;
    }
    let model = settings.embedding_model()?;
    let numbers: Vec<String> = bytes
        .chunks_exact(4)
        .map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .map(|f| f.is_finite().then(|| f.to_string()))
        .collect::<Option<_>>()?;
    let at = at.unwrap_or(Timestamp::EPOCH).to_rfc3339();
    let json = format!(
        r#"{{"model":{},"dimensions":{n},"vector":[{}],"computed_at":"{at}","source":"runtime"}}"#,
        Value::String(model.clone()),
        numbers.join(",")
    );
    Some(Embedding { model, json })
}

/// The changed column values of an edited record.
pub(super) fn edited_columns(record: &Record) -> Row {
    let mut out = Map::new();
    out.insert("content".into(), record.text.clone().into());
    if let Some(title) = &record.title {
        out.insert("key".into(), title.clone().into());
    }
    if let Some(updated) = record.times.updated {
        out.insert("updated_at".into(), updated.to_rfc3339().into());
    }
    out
}

/// Converts a record of another format to a row. `used_keys` contains the keys of the other rows.
pub(super) fn new_row(record: &Record, used_keys: &mut std::collections::BTreeSet<String>) -> Row {
    let id = match record.origin_id.as_deref().filter(|id| mementory_format::is_uuid(id)) {
        Some(id) => id.to_owned(),
        None => {
            let name = format!("keepsake:zeroclaw:{}|{}", record.key.scope, record.key.value);
            uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, name.as_bytes()).hyphenated().to_string()
        }
    };
    let words: String = record.text.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
    let base_key = crate::openclaw::write::slug(record.title.as_deref().filter(|t| !t.is_empty()).unwrap_or(&words));
    let (mut key, mut n) = (base_key.clone(), 2);
    while !used_keys.insert(key.clone()) {
        key = format!("{base_key}-{n}");
        n += 1;
    }
    let original_category = record.fields.get("category").and_then(Value::as_str);
    let category = match record.namespace.as_deref() {
        Some(name @ ("core" | "daily" | "conversation")) => name,
        Some(name) if name.starts_with("custom:") => &name["custom:".len()..],
        _ if record.record_type.as_deref() == Some("episodic") => "daily",
        _ => original_category.filter(|c| *c != "daily_log").unwrap_or("core"),
    };
    let created = record.times.created.or(record.times.updated).unwrap_or(Timestamp::EPOCH).to_rfc3339();
    let updated = record.times.updated.map_or_else(|| created.clone(), Timestamp::to_rfc3339);
    let text = if record.text.is_empty() { record.title.clone().unwrap_or_default() } else { record.text.clone() };
    Map::from_iter(
        [
            ("id", id),
            ("key", key),
            ("content", text),
            ("category", category.to_owned()),
            ("timestamp", created.clone()),
            ("created_at", created),
            ("updated_at", updated),
        ]
        .map(|(k, v)| (k.to_owned(), Value::String(v))),
    )
}
