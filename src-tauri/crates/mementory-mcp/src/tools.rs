//! What each tool does: reads its arguments, calls the API, and puts the answer into the tool's output.
use crate::{
    documents,
    untrusted_text::{one_line, quote, quote_message},
};
use mementory_api::{ApiError, ApiResult, ClientCalls, Session, types::*};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// Largest number of characters of stored text in one answer.
const MAX_CHARS: usize = 40_000;
/// Largest number of characters of one message in a conversation. A message that is fetched alone is not cut.
const MAX_MESSAGE_CHARS: usize = 8_000;
/// Largest number of characters of one memory in a list.
const MAX_LISTED_CHARS: usize = 4_000;
/// Length of a title that is derived from a text, in characters.
const TITLE_CHARS: usize = 80;
/// Longest query, in characters.
const MAX_QUERY_CHARS: usize = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    query: String,
    limit: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FetchArguments {
    id: String,
    offset: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    cursor: Option<String>,
    limit: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuggestArguments {
    id: Option<String>,
    text: Option<String>,
    #[serde(rename = "type")]
    record_type: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    reason: Option<String>,
}

/// Answers a tool call by the client with this token.
///
/// # Errors
/// Those of [`ClientCalls`]; `usage` for an unknown tool or wrong arguments. After `usage`, nothing was read or
/// changed.
pub fn answer(session: &Session, token: &str, tool: &str, arguments: &Value) -> ApiResult<Value> {
    let client = session.agents().client(token);
    match tool {
        "search" => search(client, parse(arguments)?),
        "fetch" => fetch(client, &parse(arguments)?),
        "list_memories" => list(client, &parse(arguments)?),
        "about" => {
            let NoArguments {} = parse(arguments)?;
            let about = client.about()?;
            Ok(json!({"grant": about.grant, "counts": about.counts}))
        }
        "suggest_memory" => suggest(client, "new", parse(arguments)?),
        "suggest_change" => suggest(client, "change", parse(arguments)?),
        "suggest_forgetting" => suggest(client, "forget", parse(arguments)?),
        "export_memory" => documents::export_memory(client, &parse(arguments)?),
        "import_memory" => documents::import_memory(client, &parse(arguments)?),
        "memory_export" => documents::memory_export(client, &parse(arguments)?),
        _ => Err(ApiError::usage("There is no such tool. Nothing was read or changed.")),
    }
}

fn parse<T: DeserializeOwned>(arguments: &Value) -> ApiResult<T> {
    let arguments = if arguments.is_null() { json!({}) } else { arguments.clone() };
    serde_json::from_value(arguments).map_err(|error| {
        ApiError::usage(format!("The arguments do not fit the tool: {error}. Nothing was read or changed."))
    })
}

fn search(client: ClientCalls<'_>, arguments: SearchArguments) -> ApiResult<Value> {
    if arguments.query.chars().count() > MAX_QUERY_CHARS {
        let message = format!("A query has at most {MAX_QUERY_CHARS} characters. Nothing was read.");
        return Err(ApiError::usage(message));
    }
    let hits = client.search(&arguments.query, arguments.limit.unwrap_or(10).clamp(1, 50))?;
    let results: Vec<Value> = hits
        .iter()
        .map(|ClientHit { record, snippet }| {
            json!({
                "id": record.id,
                "title": title_of(record),
                "url": url_of(record),
                "text": quote(record, snippet),
                "metadata": metadata_of(record),
            })
        })
        .collect();
    Ok(json!({"results": results}))
}

fn fetch(client: ClientCalls<'_>, arguments: &FetchArguments) -> ApiResult<Value> {
    let offset = arguments.offset.unwrap_or(0);
    let id = arguments.id.strip_prefix(URL_PREFIX).unwrap_or(&arguments.id);
    let fetched_record = client.fetch(id, offset, MAX_CHARS)?;
    let record = &fetched_record.record;
    let (text, next) = if record.kind == "conversation" {
        let mut parts = vec![quote(record, &title_of(record))];
        parts.extend(fetched_record.messages.iter().map(|m| quote_message(m, &shorten(&m.text, MAX_MESSAGE_CHARS))));
        let next = fetched_record.more_messages.then(|| offset.saturating_add(fetched_record.messages.len() as u32));
        (parts.join("\n\n"), next)
    } else {
        let part: String = record.text.chars().skip(offset as usize).take(MAX_CHARS).collect();
        let end = offset as usize + part.chars().count();
        let has_more = record.text.chars().nth(end).is_some();
        (quote(record, &part), has_more.then(|| u32::try_from(end).unwrap_or(u32::MAX)))
    };
    let mut out = json!({
        "id": record.id,
        "title": title_of(record),
        "text": text,
        "url": url_of(record),
        "metadata": metadata_of(record),
    });
    if let (Some(next), Some(members)) = (next, out.as_object_mut()) {
        members.insert("next_offset".into(), next.into());
    }
    Ok(out)
}

fn list(client: ClientCalls<'_>, arguments: &ListArguments) -> ApiResult<Value> {
    let limit = arguments.limit.unwrap_or(50).clamp(1, 100);
    let page = client.list(arguments.cursor.as_deref(), limit, MAX_CHARS)?;
    let memories: Vec<Value> = page
        .records
        .iter()
        .map(|record| {
            json!({
                "id": record.id,
                "title": title_of(record),
                "text": quote(record, &shorten(&record.text, MAX_LISTED_CHARS)),
                "metadata": metadata_of(record),
            })
        })
        .collect();
    let mut out = json!({"memories": memories, "total": page.total});
    if let (Some(next), Some(members)) = (page.next_cursor, out.as_object_mut()) {
        members.insert("next_cursor".into(), next.into());
    }
    Ok(out)
}

fn suggest(client: ClientCalls<'_>, op: &str, arguments: SuggestArguments) -> ApiResult<Value> {
    let SuggestArguments { id, text, record_type, tags, reason } = arguments;
    let suggestion = client.suggest(&ClientSuggestion { op: op.into(), id, text, record_type, tags, reason })?;
    Ok(json!({"suggestion": suggestion, "status": "waiting for the person"}))
}

const URL_PREFIX: &str = "mementory://record/";

fn url_of(record: &ClientRecord) -> String {
    format!("{URL_PREFIX}{}", record.id)
}

fn title_of(record: &ClientRecord) -> String {
    let title = record.title.as_deref().filter(|title| !title.trim().is_empty());
    let line = one_line(title.unwrap_or(&record.text), TITLE_CHARS);
    if line.is_empty() { format!("A {} without words", record.kind) } else { line }
}

/// The metadata of a record. Names and tags are untrusted stored data, so each of them is put on one line.
fn metadata_of(record: &ClientRecord) -> Value {
    let mut out = Map::new();
    out.insert("kind".into(), record.kind.clone().into());
    out.insert("source".into(), one_line(&record.source, 60).into());
    let texts = [
        ("type", &record.record_type),
        ("created_at", &record.created_at),
        ("updated_at", &record.updated_at),
        ("status", &record.status),
        ("method", &record.method),
        ("role", &record.role),
        ("conversation", &record.conversation_id),
    ];
    for (name, value) in texts {
        if let Some(value) = value {
            out.insert(name.into(), one_line(value, 60).into());
        }
    }
    if !record.tags.is_empty() {
        out.insert("tags".into(), record.tags.iter().take(50).map(|tag| one_line(tag, 60)).collect());
    }
    if let Some(confidence) = record.confidence {
        out.insert("confidence".into(), confidence.into());
    }
    if record.covered {
        out.insert("masked".into(), true.into());
    }
    out.into()
}

/// The beginning of a text. If the text was cut, a note at the end says how much was left out.
fn shorten(text: &str, max_chars: usize) -> String {
    let length = text.chars().count();
    if length <= max_chars {
        return text.to_owned();
    }
    let head: String = text.chars().take(max_chars).collect();
    format!("{head}\n[{} more characters; fetch this id for all]", length - max_chars)
}
