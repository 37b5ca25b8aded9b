//! Reads the chats that Amazon Q Developer stores in an editor (`~/.aws/amazonq/history/chat-history-….json`). The file
//! is a database of LokiJS with a collection of tabs. A tab is a conversation.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, times_of};
use mementory_formats_shared::message::{content, first_text, read_message, report_no_message, send, times};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, USER};
use mementory_json::Keys;
use mementory_model::{DroppedAs, Kind, Verbatim};

const PLATFORM: &str = "amazon_q";
/// Key of the list of collections.
pub(super) const WRAPPER_KEYS: [&str; 1] = ["collections"];
/// Name of the collection with the tabs.
const TABS: &str = "tabs";

/// True for the keys of a database with tabs.
pub(super) fn is_history(keys: &Keys) -> bool {
    ["data.historyId", "data.tabType", "data.conversations"]
        .iter()
        .all(|key| keys.has(&format!("{}.{key}", WRAPPER_KEYS[0])))
}

/// Sends the tabs of a collection. Other collections have no chats.
pub(super) fn read_collection(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    if element.object.text("name").as_deref() != Some(TABS) {
        let place = format!("{}#{}", member.place, element.pointer);
        files.report_dropped(place, DroppedAs::Skipped, "no_chats: this collection has no chats", None);
        return Ok(());
    }
    for (index, raw) in element.object.list("data").unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}/data/{index}", element.pointer);
        let Some(tab) = Object::parse(raw.get()) else {
            let place = format!("{}#{pointer}", member.place);
            let reason = "not_an_object: this tab is none";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            continue;
        };
        let turns = turns(files, member, &tab, &pointer);
        let conversations: Vec<_> = tab.raw_value("conversations").map(|raw| (raw, "[]")).into_iter().collect();
        let mut chat_times = times_of(&turns);
        chat_times.updated = times(&tab).updated.or(chat_times.updated);
        let chat = Chat {
            id: first_text(&tab, &["historyId"]),
            title: first_text(&tab, &["title"]),
            times: chat_times,
            pointer,
            verbatim: Some(Verbatim::json(with_replaced_values(raw.get(), &conversations))),
            is_log: true,
            turns,
            ..Chat::default()
        };
        send(files, member, chat, PLATFORM, Some("amazon_q_tabs"))?;
    }
    Ok(())
}

/// The messages of all conversations of a tab. A tab has a new conversation after its context was cleared.
fn turns(files: &mut FileReader<'_>, member: &Member, tab: &Object<'_>, pointer: &str) -> Vec<Turn> {
    let mut out = Vec::new();
    for (index, conversation) in tab.objects("conversations").enumerate() {
        for (n, raw) in conversation.list("messages").unwrap_or_default().into_iter().enumerate() {
            let pointer = format!("{pointer}/conversations/{index}/messages/{n}");
            match Object::parse(raw.get()) {
                Some(message) => out.push(turn(&message, raw.get(), pointer)),
                None => report_no_message(files, member, &pointer),
            }
        }
    }
    out
}

fn turn(message: &Object<'_>, text: &str, pointer: String) -> Turn {
    let mut turn = read_message(message, text, pointer, FORMAT_ID);
    // The message's id is the id of an answer, and the prompt above the answer may have the same id.
    turn.id = None;
    let mut content = content(message);
    message.objects("toolUses").for_each(|call| content.add_call(&call));
    let context = message.object("userInputMessageContext").unwrap_or_default();
    for result in context.objects("toolResults") {
        let texts: Vec<String> =
            result.objects("content").filter_map(|part| first_text(&part, &["text", "json"])).collect();
        content.add_block("tool_result", None, texts.join("\n"));
    }
    let is_result = content.text.trim().is_empty() && content.content_type() == "tool_result";
    turn.role = match message.text("type").unwrap_or_default().as_ref() {
        "prompt" if is_result => TOOL,
        "prompt" => USER,
        "answer" | "answer-stream" | "answer-part" => ASSISTANT,
        _ => SYSTEM,
    }
    .to_owned();
    let is_shown = message.raw_value("shouldDisplayMessage").is_none_or(|raw| raw.get() != "false");
    turn.hidden = matches!(turn.role.as_str(), SYSTEM | TOOL) || !is_shown;
    turn.content_type = if turn.role == SYSTEM { "context" } else { content.content_type() }.into();
    content.put_into(&mut turn, FORMAT_ID);
    turn
}
