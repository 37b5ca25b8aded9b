//! Reads one entry of a thread, which becomes two messages: a query and its answer.
use super::{PERPLEXITY, answer};
use mementory_formats_shared::{
    chat::Turn,
    object::{Object, content_id, decode_string, with_replaced_values},
    roles::role_or_name,
    values::{first_id, first_text, first_time, other_fields},
};
use mementory_model::{AttachmentRef, Fields, RecordKey, Times, Verbatim};
use serde_json::{Value, value::RawValue};

/// Members of an entry for which the model has a field, and members that describe the thread of the entry.
const MEMBERS: [&str; 39] = [
    "uuid",
    "entry_uuid",
    "query",
    "query_str",
    "answer",
    "text",
    "blocks",
    "sources",
    "web_results",
    "citations",
    "display_model",
    "model",
    "timestamp",
    "created_at",
    "updated_datetime",
    "entry_updated_datetime",
    "entry_created_datetime",
    "context_uuid",
    "thread_uuid",
    "thread_id",
    "slug",
    "question",
    "prompt",
    "response",
    "answer_text",
    "search_results",
    "createdAt",
    "created",
    "updated_at",
    "updatedAt",
    "context_title",
    "thread_title",
    "thread_url_slug",
    "index",
    "attachments",
    "id",
    "mode",
    "status",
    "query_status",
];

/// Members that may contain the id of an entry. In the export of an account, this is `entry_uuid`.
const ENTRY_IDS: [&str; 4] = ["uuid", "entry_uuid", "id", "backend_uuid"];
/// Members that may contain the query.
const QUERIES: [&str; 4] = ["query", "query_str", "question", "prompt"];
/// Members that may contain the time of an entry.
const TIMES: [&str; 9] = [
    "timestamp",
    "created_at",
    "createdAt",
    "created",
    "entry_created_datetime",
    "entry_updated_datetime",
    "updated_datetime",
    "updated_at",
    "updatedAt",
];

/// Returns the query and the answer of an entry as turns. `pointer` is the JSON pointer of the entry.
pub(super) fn turns(text: &str, entry: &Object<'_>, pointer: &str) -> Vec<Turn> {
    let id = first_id(entry, &ENTRY_IDS);
    let answer = answer::of_entry(entry);
    let query_key = QUERIES.into_iter().find(|key| entry.non_blank_text(key).is_some());
    if let Some(role) = first_text(entry, &["role"]).filter(|_| query_key.is_none()) {
        return vec![message(text, entry, pointer, &role)];
    }
    let raw_query = query_key.and_then(|key| entry.raw_value(key));
    let query = raw_query.and_then(decode_string).map(Into::into).or(answer.query);
    let rest = query.as_deref().map_or_else(|| text.to_owned(), |query| without_query(text, entry, query));
    let created = first_time(entry, &TIMES);
    let times = Times { created, ..Times::default() };
    let base = id.clone().unwrap_or_else(|| content_id(&format!("{created:?}\n{query:?}\n{}", answer.text)));
    let mut out = Vec::with_capacity(2);
    if let Some(query) = query {
        out.push(Turn {
            id: id.clone(),
            key: Some(format!("{base}/query")),
            role: "user".into(),
            verbatim: Some(Verbatim::json(
                raw_query.map_or_else(|| Value::from(query.as_str()).to_string(), |raw| raw.get().to_owned()),
            )),
            text: query,
            content_type: "text".into(),
            times: times.clone(),
            pointer: query_key.map_or_else(|| pointer.to_owned(), |key| format!("{pointer}/{key}")),
            attachments: attachments(entry),
            ..Turn::default()
        });
    }
    let mut fields: Fields = other_fields(entry, &MEMBERS);
    for (key, members) in [("mode", &["mode"][..]), ("status", &["query_status", "status"])] {
        let value = first_text(entry, members).filter(|value| !value.eq_ignore_ascii_case("completed"));
        fields.extend(value.map(|value| (key.to_owned(), Value::from(value))));
    }
    if !answer.citations.is_empty() {
        fields.insert("citations".into(), Value::Array(answer.citations));
    }
    let content_type = match answer.blocks.first().filter(|_| answer.text.trim().is_empty()) {
        Some(first) => first.get("type").and_then(Value::as_str).unwrap_or("text").to_owned(),
        None => "text".to_owned(),
    };
    if !answer.blocks.is_empty() {
        fields.insert("blocks".into(), Value::Array(answer.blocks));
    }
    out.push(Turn {
        id,
        key: Some(format!("{base}/answer")),
        role: "assistant".into(),
        text: answer.text,
        content_type,
        model: first_text(entry, &["display_model", "model", "user_selected_model"]),
        times,
        pointer: pointer.to_owned(),
        verbatim: Some(Verbatim::json(rest)),
        fields,
        ..Turn::default()
    });
    out
}

/// Returns the JSON of an entry without its query, which the title of the thread and the steps of the search may
/// repeat. So the query is only in the verbatim of its own message, and erasing that message erases its text
/// completely.
fn without_query(text: &str, entry: &Object<'_>, query: &str) -> String {
    let rest_of = |(name, raw): (&str, &RawValue)| {
        if answer::ANSWERS.contains(&name) {
            answer::without_query(raw)
        } else {
            decode_string(raw).filter(|value| value.trim() == query.trim()).map(|_| "\"\"".to_owned())
        }
    };
    let rests: Vec<(&RawValue, String)> =
        entry.members().filter_map(|member| Some((member.1, rest_of(member)?))).collect();
    let cuts: Vec<(&RawValue, &str)> = rests.iter().map(|(raw, rest)| (*raw, rest.as_str())).collect();
    with_replaced_values(text, &cuts)
}

/// Returns the turn of an entry that is a single message: `{role, content, created_at, citations}`.
fn message(text: &str, entry: &Object<'_>, pointer: &str, role: &str) -> Turn {
    let id = first_id(entry, &ENTRY_IDS);
    let answer = answer::of_entry(entry);
    let content = first_text(entry, &["content", "message"]).unwrap_or(answer.text);
    let created = first_time(entry, &TIMES);
    let used_members: Vec<&str> = MEMBERS.iter().copied().chain(["role", "content", "message"]).collect();
    let mut fields = other_fields(entry, &used_members);
    if !answer.citations.is_empty() {
        fields.insert("citations".into(), Value::Array(answer.citations));
    }
    let role = role_or_name(role);
    // If a message has neither an id nor a time, only its place distinguishes it from another message with the same
    // text.
    let place = if created.is_none() { pointer } else { "" };
    let base = id.clone().unwrap_or_else(|| content_id(&format!("{created:?}\n{place}\n{content}")));
    Turn {
        id,
        key: Some(format!("{base}/{role}")),
        role,
        text: content,
        content_type: "text".into(),
        model: first_text(entry, &["display_model", "model", "user_selected_model"]),
        times: Times { created, ..Times::default() },
        pointer: pointer.to_owned(),
        verbatim: Some(Verbatim::json(text)),
        attachments: attachments(entry),
        fields,
        ..Turn::default()
    }
}

/// Returns the key of the record of a file, from the last part of its address or path.
pub(super) fn file_key(name: &str) -> RecordKey {
    RecordKey::new(PERPLEXITY, format!("file/{name}"))
}

/// Returns the files that were uploaded with a query. The source states them as addresses, paths, or objects that
/// contain an address or path.
fn attachments(entry: &Object<'_>) -> Vec<AttachmentRef> {
    let mut out: Vec<AttachmentRef> = Vec::new();
    for raw in entry.list("attachments").into_iter().flatten() {
        let object = Object::parse(raw.get());
        let address = decode_string(raw).map(Into::into);
        let address: Option<String> =
            address.or_else(|| first_text(object.as_ref()?, &["url", "file_url", "path", "name", "file_name"]));
        let Some(address) = address.filter(|address| !address.trim().is_empty()) else { continue };
        let path = address.split(['?', '#']).next().unwrap_or(&address);
        let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path).to_owned();
        let key = file_key(&name);
        if !out.iter().any(|known| known.key == key) {
            let shown_name = object.as_ref().and_then(|o| first_text(o, &["file_name", "name"])).unwrap_or(name);
            out.push(AttachmentRef {
                key,
                origin_id: Some(address),
                name: shown_name,
                media_type: None,
                size: None,
                text: None,
            });
        }
    }
    out
}
