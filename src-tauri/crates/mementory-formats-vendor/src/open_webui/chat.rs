//! Reads a chat of an export or of the database: a map of messages by id, and the id of the last message that was
//! shown.
use super::steps::separate_steps;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{first_text, read_list, read_map, send};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Times, Verbatim};
use serde_json::{Value, value::RawValue};
use std::collections::HashMap;

/// Name of the platform in the records.
pub(super) const PLATFORM: &str = "open_webui";
/// Name of the platform Qwen. Its website is built on Open WebUI and exports the same files with additional members.
const QWEN: &str = "qwen";

/// Maps folder ids to folder names. Empty for exports, because only the database contains the names.
pub(super) type Folders = HashMap<String, String>;

/// Reads a chat and sends it to the sink. `text` is the row `{id, title, user_id, chat: {…}, …}`, or only the value of
/// `chat`. `stored` contains the messages in the table `chat_message`, which are used if the chat itself has no
/// messages.
pub(super) fn read_chat(
    files: &mut FileReader<'_>,
    member: &Member,
    text: &str,
    pointer: &str,
    version: Option<&str>,
    folders: &Folders,
    stored: Vec<Turn>,
) -> Result<(), FormatError> {
    let place = || format!("{}#{pointer}", member.place);
    let Some(row) = Object::parse(text) else {
        files.report_dropped(
            place(),
            DroppedAs::Failed,
            "malformed: this chat is not an object",
            Some(Kind::Conversation),
        );
        return Ok(());
    };
    let inner = row.object("chat");
    let data = inner.as_ref().unwrap_or(&row);
    let history = data.object("history");
    let map = history.as_ref().and_then(|history| history.object("messages"));
    let list = data.list("messages");
    if map.is_none() && list.is_none() && stored.is_empty() {
        files.report_dropped(
            place(),
            DroppedAs::Failed,
            "no_messages: this chat has no messages",
            Some(Kind::Conversation),
        );
        return Ok(());
    }
    let at = if inner.is_some() { format!("{pointer}/chat") } else { pointer.to_owned() };
    let mut turns = match (&map, &list) {
        (Some(map), _) if map.members().next().is_some() => {
            read_map(files, member, map, &format!("{at}/history/messages"))
        }
        (_, Some(list)) if !list.is_empty() => read_list(files, member, list, &format!("{at}/messages")),
        _ => stored,
    };
    turns.iter_mut().for_each(separate_steps);
    let mut chat = Chat {
        id: first_text(&row, &["id"]).or_else(|| first_text(data, &["id"])),
        title: first_text(&row, &["title"]).or_else(|| first_text(data, &["title"])),
        times: Times {
            created: first_time(&row, &["created_at"]).or_else(|| first_time(data, &["timestamp"])),
            updated: first_time(&row, &["updated_at"]),
            ..Times::default()
        },
        tags: tags(&row, data),
        leaf: history.as_ref().and_then(|history| first_text(history, &["currentId"])),
        pointer: pointer.to_owned(),
        verbatim: Some(Verbatim::json(without_messages(text, data, history.as_ref()))),
        turns,
        ..Chat::default()
    };
    chat.source.account = first_text(&row, &["user_id"]);
    chat.source.project = first_text(&row, &["folder_id"]).map(|id| folders.get(&id).cloned().unwrap_or(id));
    chat.status = is_set(&row, "archived").then(|| "archived".to_owned());
    if is_set(&row, "pinned") {
        chat.fields.insert("pinned".into(), true.into());
    }
    let system = data.object("params").and_then(|params| first_text(&params, &["system"]));
    if let Some(system) = first_text(data, &["system"]).or(system) {
        chat.fields.insert("system_prompt".into(), system.into());
    }
    if let Some(models) = data.raw_value("models").and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok()) {
        chat.fields.insert("models".into(), models);
    }
    let is_qwen = row.has("chat_type") || history.as_ref().is_some_and(|history| history.has("currentResponseIds"));
    send(files, member, chat, if is_qwen { QWEN } else { PLATFORM }, version)
}

/// True if a member is `true` or 1, because databases store `true` as 1.
fn is_set(object: &Object<'_>, key: &str) -> bool {
    object.is_true(key) || object.whole_number(key) == Some(1)
}

/// Returns the tags of a chat. Newer chats contain them in `meta`, older ones in the chat itself. Each tag is a text or
/// `{name}`.
fn tags(row: &Object<'_>, data: &Object<'_>) -> Vec<String> {
    let meta = row.object("meta");
    let list = meta.as_ref().and_then(|meta| meta.list("tags")).or_else(|| data.list("tags")).unwrap_or_default();
    let name = |raw: &&RawValue| match Object::parse(raw.get()) {
        Some(object) => first_text(&object, &["name", "tag_name"]),
        None => mementory_formats_shared::object::decode_string(raw).map(std::borrow::Cow::into_owned),
    };
    list.iter().filter_map(name).filter(|tag| !tag.trim().is_empty()).collect()
}

/// Returns the verbatim of a chat without its messages, which have records of their own. The history contains the
/// messages, and the list beside it repeats the branch that was shown last. In both, only the values remain that no
/// other record contains.
fn without_messages(text: &str, data: &Object<'_>, history: Option<&Object<'_>>) -> String {
    let map = history.and_then(|history| history.object("messages"));
    let remaining_entries = map.as_ref().map_or_else(|| "{}".to_owned(), unread_entries);
    let repeated = map.filter(|map| map.members().next().is_some()).zip(data.list("messages"));
    let unread_messages = repeated.map_or_else(|| "[]".to_owned(), |(map, list)| unread_messages(&map, &list));
    let mut cuts: Vec<(&RawValue, &str)> = Vec::new();
    cuts.extend(history.and_then(|history| history.raw_value("messages")).map(|raw| (raw, remaining_entries.as_str())));
    cuts.extend(data.raw_value("messages").map(|raw| (raw, unread_messages.as_str())));
    with_replaced_values(text, &cuts)
}

/// Returns a JSON object with the entries of a history that are not messages.
fn unread_entries(map: &Object<'_>) -> String {
    let entries = map.members().filter(|(_, raw)| Object::parse(raw.get()).is_none());
    json_object(entries.map(|(key, raw)| (key, raw.get())))
}

/// Returns a JSON list of the messages, or their members, that the list of messages contains and the history does not.
/// A message that the history contains too is reduced to its id and to the members that differ from the history. Its
/// text is always removed, because it belongs to an older version. If only the id remains, the whole message is
/// removed. A message that the history does not contain is not changed, because it has no record.
fn unread_messages(map: &Object<'_>, list: &[&RawValue]) -> String {
    let by_id: HashMap<&str, &RawValue> = map.members().collect();
    let unread = list.iter().filter_map(|raw| {
        let message = Object::parse(raw.get());
        let id = message.as_ref().and_then(|message| first_text(message, &["id"]));
        let stored = id.and_then(|id| Object::parse(by_id.get(id.as_str())?.get()));
        let Some((message, stored)) = message.zip(stored) else { return Some(raw.get().to_owned()) };
        let is_stored = |key: &str, raw: &RawValue| {
            let value = stored.raw_value(key).map(RawValue::get);
            key == "content" || raw.get() == "null" || value.is_some_and(|value| is_same_json(value, raw.get()))
        };
        let mut differing_members = message.members().filter(|(key, raw)| !is_stored(key, raw)).peekable();
        differing_members.peek()?;
        let id = message.raw_value("id").map(|raw| ("id", raw.get()));
        Some(json_object(id.into_iter().chain(differing_members.map(|(key, raw)| (key, raw.get())))))
    });
    format!("[{}]", unread.collect::<Vec<_>>().join(","))
}

fn is_same_json(a: &str, b: &str) -> bool {
    a == b || serde_json::from_str::<Value>(a).is_ok_and(|a| serde_json::from_str(b).is_ok_and(|b: Value| a == b))
}

fn json_object<'m>(members: impl Iterator<Item = (&'m str, &'m str)>) -> String {
    let members: Vec<String> = members.map(|(key, value)| format!("{}:{value}", Value::String(key.into()))).collect();
    format!("{{{}}}", members.join(","))
}
