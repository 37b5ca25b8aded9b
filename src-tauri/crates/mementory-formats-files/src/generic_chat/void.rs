//! Reads the chats of the editor Void: an object with the threads by their ids. The object is in the editor's storage
//! (`state.vscdb`) under `void.chatThreadStorageII`, or alone in a file.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, times_of};
use mementory_formats_shared::content::Content;
use mementory_formats_shared::message::{first_text, read_message, report_no_message, send, times};
use mementory_formats_shared::object::{Object, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, USER};
use mementory_formats_shared::sqlite::unreadable;
use mementory_formats_shared::sqlite_rows::{self, Schema};
use mementory_json::Keys;
use mementory_model::{DroppedAs, Kind, Verbatim};

const PLATFORM: &str = "void";
/// Table of the storage of VS Code and of editors that are derived from it.
const TABLE: &str = "ItemTable";
/// Middle part of the keys of the threads. A key begins with the name of the editor and ends with a version.
const KEY: &str = "chatThreadStorage";

/// True for a storage with threads.
pub(super) fn is_database(schema: &Schema) -> bool {
    schema.has_table(TABLE, &["key", "value"]) && schema.contains(KEY)
}

/// Sends the threads of a storage. Opening the database neither locks nor changes anything. Its other rows are settings
/// of the editor, and are not read.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let limit = i64::try_from(files.context.limits.element_bytes).unwrap_or(i64::MAX);
    // When a version of the editor began to use another key, it left the threads under the earlier key. The rows are
    // sorted by key, so the newest key is last.
    let sql = format!(
        "SELECT CAST(key AS TEXT), CASE WHEN length(value) <= ?2 THEN CAST(value AS BLOB) END FROM {TABLE} \
         WHERE instr(key, ?1) ORDER BY key"
    );
    let rows = database.connection.prepare(&sql).and_then(|mut statement| {
        let row = statement
            .query_map((KEY, limit), |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<Vec<u8>>>(1)?)))?;
        row.collect::<Result<Vec<_>, _>>()
    });
    for (key, value) in rows.map_err(|error| unreadable(member, &error))? {
        let text = value.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let document = match &text {
            Some(text) => {
                Object::parse(text).map(|object| (text, object)).ok_or("malformed: these threads are not JSON")
            }
            None => Err("too_large: these threads are larger than the limit"),
        };
        match document {
            Ok((text, object)) => read_storage(files, member, &ObjectElement { text, object, pointer: key })?,
            Err(reason) => {
                let place = format!("{}#{key}", member.place);
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            }
        }
    }
    Ok(())
}

/// True for the keys of threads. Only Void writes two texts of a message, one to show and one for the model, and lists
/// the files that the person changed.
pub(super) fn is_storage(keys: &Keys) -> bool {
    ["lastModified", "filesWithUserChanges", "messages.role", "messages.displayContent"]
        .iter()
        .all(|key| keys.has_at_any_level(key))
}

/// Sends the threads of a storage.
pub(super) fn read_storage(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    for (id, raw) in element.object.members() {
        let pointer = format!("{}/{id}", element.pointer);
        let thread = Object::parse(raw.get()).and_then(|thread| Some((thread.raw_value("messages")?, thread)));
        let Some((messages, thread)) = thread else {
            let place = format!("{}#{pointer}", member.place);
            let reason = "no_messages: this thread has no messages";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            continue;
        };
        let mut turns = Vec::new();
        for (index, raw) in list(messages).unwrap_or_default().into_iter().enumerate() {
            let pointer = format!("{pointer}/messages/{index}");
            match Object::parse(raw.get()) {
                // A checkpoint describes a state of the person's files, so it is not read as a message.
                Some(message) if message.text("role").as_deref() == Some("checkpoint") => {}
                Some(message) => turns.push(turn(&message, raw.get(), pointer)),
                None => report_no_message(files, member, &pointer),
            }
        }
        // Void opens an empty thread at each start.
        if turns.is_empty() {
            continue;
        }
        let mut chat_times = times(&thread);
        chat_times.created = chat_times.created.or(times_of(&turns).created);
        let chat = Chat {
            id: first_text(&thread, &["id"]).or_else(|| Some(id.to_owned())),
            times: chat_times,
            pointer,
            verbatim: Some(Verbatim::json(with_replaced_values(raw.get(), &[(messages, "[]")]))),
            is_log: true,
            turns,
            ..Chat::default()
        };
        send(files, member, chat, PLATFORM, Some("void"))?;
    }
    Ok(())
}

fn turn(message: &Object<'_>, text: &str, pointer: String) -> Turn {
    let mut turn = read_message(message, text, pointer, FORMAT_ID);
    let mut content = Content::default();
    let member = |key: &str| first_text(message, &[key]).unwrap_or_default();
    turn.role = match message.text("role").unwrap_or_default().as_ref() {
        "user" => USER,
        "assistant" => ASSISTANT,
        "tool" => TOOL,
        _ => SYSTEM,
    }
    .to_owned();
    match turn.role.as_str() {
        TOOL => {
            let name = first_text(message, &["name"]);
            let parameters = message.raw_value("rawParams").map(|raw| raw.get()).unwrap_or_default();
            content.add_block("tool_call", name.clone(), parameters);
            content.add_block("tool_result", name, member("content"));
        }
        ASSISTANT => {
            content.add_block("thinking", None, member("reasoning"));
            content.add_text(&member("displayContent"));
        }
        _ => {
            // The text for the model also contains the files that the person chose, so the displayed text is preferred.
            let shown_text = first_text(message, &["displayContent"]);
            content.add_text(&shown_text.unwrap_or_else(|| member("content")));
        }
    }
    turn.hidden = matches!(turn.role.as_str(), SYSTEM | TOOL);
    turn.content_type = content.content_type().into();
    content.put_into(&mut turn, FORMAT_ID);
    turn
}
