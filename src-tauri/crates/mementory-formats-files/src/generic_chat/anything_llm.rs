//! Reads the database of AnythingLLM, and rows of its table in other files. A row of the table of chats is a question
//! with its answer. The rows of one thread of a workspace are a conversation.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{first_text, send};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::roles::{ASSISTANT, USER};
use mementory_formats_shared::sqlite::{Database, unreadable};
use mementory_formats_shared::sqlite_rows::{
    self, Row, Schema, each_row, each_row_in_order, report_other_tables, row_text, tables, text_or_number_in,
};
use mementory_json::Keys;
use mementory_model::Verbatim;
use serde_json::Value;
use std::collections::HashMap;

/// Name of the platform.
pub(super) const PLATFORM: &str = "anythingllm";
const CHATS: &str = "workspace_chats";
const THREADS: &str = "workspace_threads";
const WORKSPACES: &str = "workspaces";

/// True for the database of AnythingLLM.
pub(super) fn is_database(schema: &Schema) -> bool {
    schema.has_table(CHATS, &["workspaceId", "prompt", "response"]) && schema.has_table(WORKSPACES, &["id", "name"])
}

/// The workspace in which a question was asked, and the conversation that the question belongs to.
pub(super) struct Workspace {
    /// Id of the conversation.
    pub id: String,
    pub title: String,
    /// The person who asked. None on a server that one person uses.
    pub person: Option<String>,
    /// True if the entry is from the server's answer to an administrator. Such an answer also names the threads.
    pub is_answer: bool,
}

/// Returns the workspace of an entry in the export of all chats or in the answer to an administrator. Each of these two
/// files lists the chats of all workspaces and people together.
pub(super) fn workspace_of(object: &Object<'_>) -> Option<Workspace> {
    let known_name = |name: Option<String>| name.filter(|name| name != "unknown user");
    if let Some(workspace) = object.object("workspace").filter(|_| object.has("createdAt")) {
        let title = first_text(&workspace, &["name", "slug"])?;
        let id = first_text(&workspace, &["slug"]).unwrap_or_else(|| title.clone());
        let part_of = |name: &str, key: &str| Some(format!("/{name}{}", first_text(object, &[key])?));
        // The id is the same as in the database, except that a thread is identified by its number instead of its name.
        let part = part_of("", "thread_id").or_else(|| part_of("user/", "user_id")).unwrap_or_default();
        let person = object.object("user").and_then(|user| first_text(&user, &["username"]));
        return Some(Workspace { id: format!("{id}{part}"), title, person: known_name(person), is_answer: true });
    }
    let title = first_text(object, &["workspace"]).filter(|_| object.has("sent_at"))?;
    let person = known_name(first_text(object, &["username"]));
    Some(Workspace { id: title.clone(), title, person, is_answer: false })
}

/// True if the keys are those of an answer to an administrator that lists chats under the key `list`.
pub(super) fn is_answer(keys: &Keys, list: &str) -> bool {
    ["prompt", "response", "workspace.slug"].iter().all(|key| keys.has(&format!("{list}.{key}")))
}

/// The text of an answer in a row, which is JSON with the sources of the answer. None for any other text.
pub(super) fn answer_in_row(text: &str) -> Option<String> {
    let object = Object::parse(text.trim()).filter(|object| object.has("sources"))?;
    object.text("text").map(|text| text.into_owned())
}

/// Sends the conversations of a database. Opening the database neither locks nor changes anything.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    let workspaces = rows_by_id(files, member, &database, WORKSPACES)?;
    let threads = match names.iter().any(|name| name == THREADS) {
        true => rows_by_id(files, member, &database, THREADS)?,
        false => HashMap::new(),
    };
    let mut chats: Vec<Chat> = Vec::new();
    let mut positions: HashMap<[Option<String>; 3], usize> = HashMap::new();
    let mut bytes = 0;
    each_row_in_order(files, member, &database, (CHATS, "id"), |files, row, number| {
        let [workspace_id, thread_id] = ["workspaceId", "thread_id"].map(|name| text_or_number_in(&row, name));
        let workspace = workspace_id.as_ref().and_then(|id| workspaces.get(id));
        let thread = thread_id.as_ref().and_then(|id| threads.get(id));
        let user = text_or_number_in(&row, "user_id").or_else(|| owner_of(thread));
        let ids = [workspace_id, thread_id, user];
        let position = *positions.entry(ids.clone()).or_insert_with(|| {
            chats.push(head(workspace, thread, ids));
            chats.len() - 1
        });
        let turns = turns(&row, number);
        bytes += turns.iter().filter_map(|turn| Some(turn.verbatim.as_ref()?.text.len() as u64)).sum::<u64>();
        let limit = files.context.limits.element_bytes;
        if bytes > limit {
            return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
        }
        if let Some(chat) = chats.get_mut(position) {
            chat.turns.extend(turns);
        }
        Ok(())
    })?;
    for chat in chats {
        send(files, member, chat, PLATFORM, Some("database"))?;
    }
    report_other_tables(files, member, &database, &names, |table| match table {
        CHATS | THREADS | WORKSPACES => None,
        "api_keys" | "users" | "system_settings" | "invites" | "browser_extension_api_keys" => {
            Some("it has passwords, keys or settings of the server")
        }
        _ => Some("it has no messages"),
    });
    Ok(())
}

fn rows_by_id(
    files: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    table: &str,
) -> Result<HashMap<String, Row>, FormatError> {
    let mut out = HashMap::new();
    each_row(files, member, database, table, |_, row, _| {
        out.extend(text_or_number_in(&row, "id").map(|id| (id, row)));
        Ok(())
    })?;
    Ok(out)
}

/// The person who owns a thread. None if the thread was created before the server supported several people.
fn owner_of(thread: Option<&Row>) -> Option<String> {
    text_or_number_in(thread?, "user_id")
}

/// A conversation without its messages. Its id consists of the names that the workspace and the thread have in
/// addresses. Numbers are not used, because other databases have the same numbers.
fn head(workspace: Option<&Row>, thread: Option<&Row>, ids: [Option<String>; 3]) -> Chat {
    let of_workspace = |name: &str| workspace.and_then(|row| text_or_number_in(row, name));
    let of_thread = |name: &str| thread.and_then(|row| text_or_number_in(row, name));
    let [workspace_number, thread_number, user] = ids;
    let workspace_id = of_workspace("slug").or(workspace_number).unwrap_or_default();
    let mut id = workspace_id;
    if let Some(thread) = of_thread("slug").or(thread_number) {
        id = format!("{id}/{thread}");
    }
    // Each person has a separate chat in a workspace. The chat of a thread's owner gets the id of the thread alone.
    let owner = owner_of(thread);
    if let Some(user) = user.as_ref().filter(|user| owner.as_ref() != Some(user)) {
        id = format!("{id}/user/{user}");
    }
    let mut chat = Chat {
        id: Some(id),
        title: of_thread("name").or_else(|| of_workspace("name")),
        pointer: CHATS.into(),
        verbatim: thread.or(workspace).map(|row| Verbatim::json(row_text(row.clone(), |_| false))),
        ..Chat::default()
    };
    chat.source.project = of_workspace("name");
    chat.source.account = user;
    let thread_or_workspace = thread.or(workspace);
    chat.times.created =
        thread_or_workspace.and_then(|row| text_or_number_in(row, "createdAt")).as_deref().and_then(text_time);
    if let Some(prompt) = of_workspace("openAiPrompt") {
        chat.fields.insert("system_prompt".into(), prompt.into());
    }
    chat
}

/// The question and the answer of a row. The verbatim of the question omits the answer, and the verbatim of the answer
/// omits the question, so erasing a message erases its text completely.
fn turns(row: &Row, number: usize) -> Vec<Turn> {
    let id = text_or_number_in(row, "id").unwrap_or_else(|| number.to_string());
    let created = text_or_number_in(row, "createdAt").as_deref().and_then(text_time);
    let prompt = text_or_number_in(row, "prompt");
    let response = text_or_number_in(row, "response");
    let answer = response.map(|text| match Object::parse(&text) {
        Some(object) => object.text("text").map(|text| text.into_owned()).unwrap_or_default(),
        None => text,
    });
    let texts_by_role = [(USER, prompt, "response"), (ASSISTANT, answer, "prompt")];
    let turn = |(role, text, left_out): (&str, Option<String>, &str)| {
        let mut row = row.clone();
        row.insert(left_out.to_owned(), Value::Null);
        let mut turn = Turn {
            id: Some(format!("{id}/{role}")),
            role: role.into(),
            text: text?,
            content_type: "text".into(),
            pointer: format!("{CHATS}/row {number}"),
            verbatim: Some(Verbatim::json(row_text(row, |column| column == "response"))),
            ..Turn::default()
        };
        turn.times.created = created;
        Some(turn)
    };
    texts_by_role.into_iter().filter_map(turn).collect()
}
