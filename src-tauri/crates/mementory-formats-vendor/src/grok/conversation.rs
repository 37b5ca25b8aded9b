//! Reads one conversation with its responses. Grok calls every message a response, even the messages of the person.
use super::{GROK, files};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn, TurnParent, put_oldest_first},
    object::{Object, decode_string, list, with_replaced_values},
    reader::{FileReader, ObjectElement},
    values::{block, first_id, first_text, first_time, other_fields, push_paragraph, readable},
};
use mementory_model::{AttachmentRef, DroppedAs, Fields, Issue, Kind, Source, Times, Verbatim};
use serde_json::{Value, value::RawValue};
use std::collections::HashSet;

/// Members of a conversation that have a field in the model.
const CONVERSATION_MEMBERS: [&str; 19] = [
    "id",
    "conversation_id",
    "_id",
    "user_id",
    "title",
    "summary",
    "create_time",
    "modify_time",
    "leaf_response_id",
    "asset_ids",
    "starred",
    "workspace_id",
    "project_id",
    "conversationId",
    "userId",
    "createTime",
    "modifyTime",
    "leafResponseId",
    "workspaceId",
];
/// Members of a response that become fields of the record, unchanged.
const RESPONSE_FIELDS: [&str; 8] =
    ["query", "query_type", "cited_web_search_results", "webpage_urls", "xpost_ids", "error", "partial", "share_link"];
/// Members of which a response has at least one. An object without any of them is not a response.
const RESPONSE_MEMBERS: [&str; 7] =
    ["message", "sender", "_id", "response_id", "responseId", "create_time", "parent_response_id"];
/// Names of the member that states the parent of a response: in the export, and in the API of the website.
const PARENTS: [&str; 2] = ["parent_response_id", "parentResponseId"];

/// Reads `{conversation, responses}` and sends it to the sink. The members of `conversation` may also be directly in
/// the object.
pub(super) fn read(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    assets: &HashSet<&str>,
) -> Result<(), FormatError> {
    let place = format!("{}#{}", member.place, element.pointer);
    let inner = element.object.object("conversation");
    let conversation = inner.as_ref().unwrap_or(&element.object);
    let raw_responses = element.object.raw_value("responses").or_else(|| conversation.raw_value("responses"));
    let responses = raw_responses.and_then(list);
    if inner.is_none() && responses.is_none() {
        let reason = "not_a_conversation: neither a conversation nor responses";
        reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    }
    if raw_responses.is_some() && responses.is_none() {
        let reason = "malformed: the responses are not a list";
        reader.report_dropped(format!("{place}/responses"), DroppedAs::Failed, reason, Some(Kind::Message));
    }
    let mut chat = Chat {
        id: first_id(conversation, &["id", "conversation_id", "_id", "conversationId"]),
        title: first_text(conversation, &["title"]),
        summary: first_text(conversation, &["summary"]).unwrap_or_default(),
        times: Times {
            created: first_time(conversation, &["create_time", "createTime"]),
            updated: first_time(conversation, &["modify_time", "modifyTime"]),
            ..Times::default()
        },
        source: Source {
            account: first_id(conversation, &["user_id", "userId"]),
            project: first_id(conversation, &["workspace_id", "project_id", "workspaceId"]),
            ..Source::default()
        },
        tags: if conversation.is_true("starred") { vec!["starred".into()] } else { vec![] },
        pointer: element.pointer.clone(),
        fields: if inner.is_some() { other_fields(conversation, &CONVERSATION_MEMBERS) } else { Fields::new() },
        leaf: first_id(conversation, &["leaf_response_id", "leafResponseId"]),
        ..Chat::default()
    };
    chat.verbatim = Some(Verbatim::json(match (raw_responses, &responses) {
        (Some(raw), Some(_)) => with_replaced_values(element.text, &[(raw, "[]")]),
        _ => element.text.to_owned(),
    }));
    for (index, raw) in responses.unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}/responses/{index}", element.pointer);
        let Some(wrapper) = Object::parse(raw.get()) else {
            let reason = "not_an_object: this entry is not a response";
            reader.report_failed(member, &pointer, reason, Kind::Message);
            continue;
        };
        let inner = wrapper.object("response");
        let response = inner.as_ref().unwrap_or(&wrapper);
        if !RESPONSE_MEMBERS.iter().any(|key| response.raw_value(key).is_some()) {
            let reason = "not_a_message: none of the members of a response";
            reader.report_failed(member, &pointer, reason, Kind::Message);
            continue;
        }
        if chat.id.is_none() {
            chat.id = first_id(response, &["conversation_id", "conversationId"]);
        }
        let mut turn = turn(response, assets);
        turn.pointer = pointer;
        turn.verbatim = Some(Verbatim::json(raw.get()));
        if let Some(link) = wrapper.raw_value("share_link").and_then(|raw| serde_json::from_str(raw.get()).ok()) {
            turn.fields.insert("share_link".into(), link);
        }
        chat.turns.push(turn);
    }
    // The time that the conversation states is often older than its last message, so the latest time of all is used.
    chat.times.updated = chat.turns.iter().filter_map(|turn| turn.times.created).chain(chat.times.updated).max();
    put_oldest_first(&mut chat.turns);
    // If some messages state their parent, a message without a parent is a root, and does not follow the message before
    // it.
    if chat.turns.iter().any(|turn| matches!(turn.parent, TurnParent::Id(_))) {
        let previous = chat.turns.iter_mut().filter(|turn| matches!(turn.parent, TurnParent::Previous));
        previous.for_each(|turn| turn.parent = TurnParent::Root);
    }
    let message_files: HashSet<_> =
        chat.turns.iter().flat_map(|t| &t.attachments).map(|a| a.key.value.clone()).collect();
    let mut issues: Vec<Issue> = Vec::new();
    let file = ChatFile { format: GROK, platform: GROK, version: None, container: &member.place };
    let mut unit = chat.into_unit(file, &mut issues);
    if let Some(record) = unit.records.first_mut() {
        let own_files =
            references(conversation, "asset_ids").into_iter().filter(|a| !message_files.contains(&a.key.value));
        record.attachments.extend(own_files);
    }
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    reader.sink.unit(unit)
}

fn turn(response: &Object<'_>, assets: &HashSet<&str>) -> Turn {
    let sender = first_text(response, &["sender", "role"]).unwrap_or_else(|| "unknown".into());
    let role = role(&sender);
    let message = response.text("message").unwrap_or_default();
    let text = match role.as_str() {
        "user" => message.into_owned(),
        _ => shown_text(&message),
    };
    let blocks = blocks(response);
    let attachments = attachments(response, assets);
    let mut fields: Fields = RESPONSE_FIELDS
        .iter()
        .filter_map(|key| Some((key, response.raw_value(key)?)))
        .filter(|(_, raw)| !matches!(raw.get(), "\"\"" | "[]" | "{}" | "false"))
        .filter_map(|(key, raw)| Some(((*key).to_owned(), serde_json::from_str::<Value>(raw.get()).ok()?)))
        .collect();
    if !matches!(sender.to_ascii_lowercase().as_str(), "human" | "assistant") {
        fields.insert("sender".into(), sender.into());
    }
    let content_type = match (text.trim().is_empty(), blocks.first(), attachments.is_empty()) {
        (false, ..) | (true, None, true) => "text",
        (true, _, false) => "file",
        (true, Some(block), true) => block.get("type").and_then(Value::as_str).unwrap_or("text"),
    };
    let content_type = content_type.to_owned();
    if !blocks.is_empty() {
        fields.insert("blocks".into(), Value::Array(blocks));
    }
    Turn {
        id: first_id(response, &["_id", "response_id", "responseId", "id"]),
        parent: match first_id(response, &PARENTS) {
            Some(parent) => TurnParent::Id(parent),
            None if PARENTS.iter().any(|key| response.has(key)) => TurnParent::Root,
            None => TurnParent::Previous,
        },
        model: (role != "user").then(|| model(response)).flatten(),
        times: Times { created: first_time(response, &["create_time", "createTime"]), ..Times::default() },
        role,
        text,
        content_type,
        attachments,
        fields,
        ..Turn::default()
    }
}

/// Returns the role of a sender. `human` is the person. An unknown sender is read as the assistant, because the export
/// may state the name of the model (`grok-3`) as the sender.
pub(super) fn role(sender: &str) -> String {
    match sender.to_ascii_lowercase().as_str() {
        "human" | "user" => "user",
        "system" => "system",
        "tool" => "tool",
        "unknown" => "unknown",
        _ => "assistant",
    }
    .into()
}

/// Returns the model that answered or, if it is unknown, the model that was requested.
fn model(response: &Object<'_>) -> Option<String> {
    let metadata = response.object("metadata");
    let request = metadata.as_ref().and_then(|m| m.object("request_metadata"));
    let resolved = request.as_ref().and_then(|r| first_text(r, &["resolved_model", "model"]));
    resolved.or_else(|| first_text(response, &["model"]))
}

/// Returns the blocks of a response: thoughts, steps and search results, which the app shows collapsed.
fn blocks(response: &Object<'_>) -> Vec<Value> {
    let mut out = Vec::new();
    if let Some(thoughts) = first_text(response, &["thinking_trace", "thinkingTrace"]) {
        out.push(block("thinking", None, thoughts));
    }
    for raw in response.list("agent_thinking_traces").into_iter().flatten() {
        let trace = Object::parse(raw.get());
        let name = trace.as_ref().and_then(|t| first_text(t, &["agent_name", "agent_id", "name"]));
        let text = trace.as_ref().and_then(|t| first_text(t, &["thinking_trace", "text", "message"]));
        out.push(block("thinking", name.as_deref(), text.unwrap_or_else(|| readable(raw))));
    }
    for raw in response.list("steps").into_iter().flatten() {
        out.push(block("tool_call", Some("step"), readable(raw)));
    }
    for (key, name) in
        [("web_search_results", "web_search"), ("webSearchResults", "web_search"), ("xposts", "x_search")]
    {
        let results = response.list(key).unwrap_or_default();
        if !results.is_empty() {
            let mut text = String::new();
            results.iter().for_each(|raw| push_paragraph(&mut text, &search_result(raw)));
            out.push(block("tool_result", Some(name), text));
        }
    }
    for raw in response.list("card_attachments_json").into_iter().flatten() {
        out.push(block("card", None, readable(raw)));
    }
    out
}

/// Returns the title, address and text of a search result, each in its own line.
fn search_result(raw: &RawValue) -> String {
    let Some(result) = Object::parse(raw.get()) else { return readable(raw) };
    let lines: Vec<String> =
        ["title", "url", "preview", "text"].iter().filter_map(|key| first_text(&result, &[key])).collect();
    if lines.is_empty() { readable(raw) } else { lines.join("\n") }
}

/// Returns the files that were uploaded with a message, and the images that were generated in it.
fn attachments(response: &Object<'_>, assets: &HashSet<&str>) -> Vec<AttachmentRef> {
    let mut out: Vec<AttachmentRef> = Vec::new();
    let uploads = ["file_attachments", "image_attachments", "fileAttachments", "imageAttachments"]
        .iter()
        .flat_map(|key| references(response, key));
    let generated =
        ["generated_image_urls", "generatedImageUrls"].iter().filter_map(|key| response.list(key)).flatten();
    let generated = generated.filter_map(decode_string).filter(|address| !address.trim().is_empty());
    for file in uploads.chain(generated.map(|address| files::link(&address, None, assets))) {
        if !out.iter().any(|known| known.key == file.key) {
            out.push(file);
        }
    }
    out
}

fn references(object: &Object<'_>, key: &str) -> Vec<AttachmentRef> {
    object.list(key).into_iter().flatten().filter_map(files::reference).collect()
}

/// Returns the text of an answer as Grok's app shows it.
pub(super) fn shown_text(message: &str) -> String {
    without_artifact_tags(without_render_tags(message))
}

/// Returns a text without the tags that Grok's app replaces with citations and cards. Only the verbatim contains the
/// tags.
fn without_render_tags(text: &str) -> String {
    const START: &str = "<grok:render";
    const END: &str = "</grok:render>";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(from) = rest.find(START) {
        let Some(length) = rest[from..].find(END) else { break };
        out.push_str(&rest[..from]);
        rest = &rest[from + length + END.len()..];
    }
    out.push_str(rest);
    out
}

/// Returns a text without the tags around artifacts. The title of an artifact remains as a line before its text. Only
/// the verbatim contains the tags.
fn without_artifact_tags(text: String) -> String {
    if !text.contains("<xaiArtifact") {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("<xaiArtifact") {
        let Some((attributes, inside)) = after.split_once('>') else { break };
        out.push_str(before);
        let title = attributes.split_once("title=\"").and_then(|(_, title)| title.split('"').next());
        if let Some(title) = title.filter(|title| !title.trim().is_empty()) {
            out.push_str(title);
            out.push_str("\n\n");
        }
        rest = inside;
    }
    out.push_str(rest);
    out.replace("</xaiArtifact>", "")
}

#[cfg(test)]
mod tests {
    use super::{without_artifact_tags, without_render_tags};

    #[test]
    fn artifacts_keep_their_title_and_their_text() {
        let text = "Here:\n<xaiArtifact artifact_id=\"1\" title=\"Plan\" contentType=\"x\"># Beds</xaiArtifact> Done.";
        assert_eq!(without_artifact_tags(text.into()), "Here:\nPlan\n\n# Beds Done.");
        assert_eq!(without_artifact_tags("a <xaiArtifact open".into()), "a <xaiArtifact open");
    }

    #[test]
    fn citation_tags_are_not_part_of_the_text() {
        let text = "Yes.<grok:render card_id=\"1\" type=\"x\"><argument name=\"id\">1</argument></grok:render> Often.";
        assert_eq!(without_render_tags(text), "Yes. Often.");
        assert_eq!(without_render_tags("a <grok:render open"), "a <grok:render open");
    }
}
