//! Reads conversations with Posit Assistant, which are in two files: the tree of the messages, and a log with their
//! content. A message of the tree represents one or several entries of the log.
use super::session::Session;
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::agent_content::AgentContent;
use mementory_formats_shared::chat::{Turn, TurnParent};
use mementory_formats_shared::files::{folder, folder_of};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::memory_heads::Head;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::values::id;
use mementory_model::{DroppedAs, Kind, Verbatim};
use std::collections::HashMap;

/// Name of the platform.
const PLATFORM: &str = "posit-assistant";
/// Name of the log beside the tree.
pub(super) const LOG_FILE: &str = "lm-messages.jsonl";
/// Name of the file with the path of the project. The folder of the conversation is inside the folder of this file.
const WORKSPACE_FILE: &str = "workspace.json";

/// True for the tree of a conversation.
pub(super) fn is_tree(catalog: &Catalog, member: &Member) -> bool {
    let head = Head::candidate(catalog, member);
    head.is_some_and(|head| head.has_all("", &["schemaVersion", "root.id", "messages.lmMessageIds"]))
}

/// The log beside a tree.
pub(super) fn log_of<'c>(catalog: &'c Catalog, tree: &Member) -> Option<&'c Member> {
    let is_log = |member: &&Member| member.file_name() == LOG_FILE && folder_of(member) == folder_of(tree);
    catalog.members().iter().find(is_log)
}

/// An entry of the log.
struct Entry {
    line: String,
    pointer: String,
}

/// Reads the conversation of a tree.
pub(super) fn read(reader: &mut FileReader<'_>, tree: &Member) -> Result<(), FormatError> {
    let entries = match log_of(reader.catalog, tree) {
        Some(log) => read_log(reader, log)?,
        None => HashMap::new(),
    };
    let text = reader.text(tree)?;
    let Some(document) = Object::parse(text.trim()) else {
        let reason = "malformed: the tree of this conversation is not JSON";
        reader.report_dropped(tree.place.clone(), DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    let root = document.object("root").unwrap_or_default();
    let metadata = root.object("metadata").unwrap_or_default();
    let mut session = Session::default();
    session.chat.id = id(&root, "id");
    session.chat.title = ["title", "summary"].into_iter().find_map(|key| root.non_blank_text(key)).map(Into::into);
    session.chat.times.created = any_time(&root, "timestamp");
    session.chat.record_type = metadata.non_blank_text("kind").filter(|kind| kind == "subagent").map(Into::into);
    let is_subagent = session.chat.record_type.is_some();
    session.chat.source.project = project_of(reader, tree)?;
    session.other_lines.push(text.trim().to_owned());
    // Position of the last turn of each message in the tree. The children of the message follow this turn.
    let mut last_of: HashMap<String, usize> = HashMap::new();
    let mut missing = 0;
    for message in document.objects("messages") {
        let message_id = id(&message, "id").unwrap_or_default();
        let parent = id(&message, "parentId").and_then(|parent| last_of.get(&parent).copied());
        let mut parent = parent.map_or(TurnParent::Root, TurnParent::At);
        let numbers = message.list("lmMessageIds").unwrap_or_default();
        for (n, number) in numbers.iter().enumerate() {
            let Some(entry) = number.get().parse::<u64>().ok().and_then(|number| entries.get(&number)) else {
                missing += 1;
                continue;
            };
            let Some(inner) = Object::parse(&entry.line).and_then(|line| line.object("message")) else { continue };
            let key = if n == 0 { message_id.clone() } else { format!("{message_id}/{n}") };
            let mut turn = Turn { id: Some(key), parent, pointer: entry.pointer.clone(), ..Turn::default() };
            turn.role = role_of(&inner, is_subagent).into();
            let options = inner.object("providerOptions").and_then(|options| options.object("providerMetadata"));
            let options = options.and_then(|options| options.object("positai")).unwrap_or_default();
            turn.times.created = any_time(&options, "timestamp").or_else(|| any_time(&message, "timestamp"));
            turn.model = options.non_blank_text("modelId").map(Into::into);
            turn.verbatim = Some(Verbatim::json(entry.line.as_str()));
            let at = session.push(reader, tree, turn, AgentContent::read(inner.raw_value("content")))?;
            parent = TurnParent::At(at);
            if message.is_true("isActive") {
                session.chat.leaf = session.chat.turns.get(at).and_then(|turn| turn.id.clone());
            }
        }
        // The children of a message without entries follow the turn before that message.
        if let TurnParent::At(at) = parent {
            last_of.insert(message_id, at);
        }
    }
    if missing > 0 {
        let reason = format!("missing: {missing} entries are not in the log beside this file");
        reader.report_dropped(tree.place.clone(), DroppedAs::Failed, &reason, Some(Kind::Message));
    }
    session.send(reader, tree, PLATFORM)
}

/// The entries of a log by their numbers.
fn read_log(reader: &mut FileReader<'_>, log: &Member) -> Result<HashMap<u64, Entry>, FormatError> {
    let mut entries = HashMap::new();
    let mut bytes = 0;
    reader.lines(log, Kind::Message, |reader, line| {
        if reader.add_message_size(&mut bytes, log, line, "conversation")
            && let Some(number) = line.object.whole_number("id")
        {
            entries.insert(number, Entry { line: line.text.to_owned(), pointer: line.pointer.clone() });
        }
        Ok(())
    })?;
    Ok(entries)
}

/// The role of an entry. The prompts of a subagent are written by the assistant.
fn role_of(message: &Object<'_>, is_subagent: bool) -> &'static str {
    match message.text("role").as_deref() {
        Some("user") if is_subagent => "system",
        Some("user") => "user",
        Some("assistant") => "assistant",
        Some("tool") => "tool",
        _ => "system",
    }
}

/// Reads the path of the project from the file in the parent folder of the conversation's folder.
fn project_of(reader: &mut FileReader<'_>, tree: &Member) -> Result<Option<String>, FormatError> {
    let own_folder = folder(&tree.name);
    let workspace = own_folder.split_once("/subagents/").map_or(own_folder, |(outer, _)| outer);
    let name = match folder(workspace) {
        "" => WORKSPACE_FILE.to_owned(),
        around => format!("{around}/{WORKSPACE_FILE}"),
    };
    let is_file = |member: &&Member| member.name == name && (member.root, member.archive) == (tree.root, tree.archive);
    let Some(file) = reader.catalog.members().iter().find(is_file) else { return Ok(None) };
    match reader.text(file) {
        Ok(text) => Ok(Object::parse(text.trim()).and_then(|object| Some(object.non_blank_text("path")?.into_owned()))),
        Err(error) => {
            reader.drop_if_damaged(file, Err(error))?;
            Ok(None)
        }
    }
}
