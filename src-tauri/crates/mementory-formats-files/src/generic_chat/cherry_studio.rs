//! A backup of Cherry Studio. It contains topics with messages. The texts of the messages are in separate blocks.
use super::FORMAT_ID;
use super::distant_parts::DistantParts;
use super::shape::{CHERRY_DATABASE, CHERRY_SETTINGS};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, TurnParent};
use mementory_formats_shared::content::nested_text;
use mementory_formats_shared::message::{first_text, read_message, report_no_message, send, times};
use mementory_formats_shared::object::{Object, decode_string, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// Sends the topics of a backup. The backup's settings are left out, because they contain API keys.
pub(super) fn read_backup(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let database = element.object.object(CHERRY_DATABASE).unwrap_or_default();
    let blocks: HashMap<String, &RawValue> = database
        .list("message_blocks")
        .unwrap_or_default()
        .into_iter()
        .filter_map(|raw| Some((first_text(&Object::parse(raw.get())?, &["id"])?, raw)))
        .collect();
    let names = element.object.object(CHERRY_SETTINGS).map(|settings| topic_names(&settings)).unwrap_or_default();
    for (index, raw) in database.list("topics").unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}/{CHERRY_DATABASE}/topics/{index}", element.pointer);
        let Some(topic) = Object::parse(raw.get()) else {
            let place = format!("{}#{pointer}", member.place);
            let reason = "not_an_object: this topic is not an object";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            continue;
        };
        let turns = turns(files, member, &topic, &pointer, &blocks);
        let cuts: Vec<(&RawValue, &str)> = topic.raw_value("messages").map(|raw| (raw, "[]")).into_iter().collect();
        let id = first_text(&topic, &["id"]);
        let chat = Chat {
            title: id.as_ref().and_then(|id| names.get(id).cloned()).or_else(|| first_text(&topic, &["name", "title"])),
            id,
            times: times(&topic),
            pointer,
            verbatim: Some(Verbatim::json(with_replaced_values(raw.get(), &cuts))),
            turns,
            ..Chat::default()
        };
        send(files, member, chat, "cherry_studio", Some("cherry_studio"))?;
    }
    Ok(())
}

fn turns(
    files: &mut FileReader<'_>,
    member: &Member,
    topic: &Object<'_>,
    at: &str,
    blocks: &HashMap<String, &RawValue>,
) -> Vec<Turn> {
    let mut out: Vec<Turn> = Vec::new();
    for (index, raw) in topic.list("messages").unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{at}/messages/{index}");
        match Object::parse(raw.get()) {
            Some(message) => out.push(turn(&message, raw, pointer, blocks)),
            None => report_no_message(files, member, &pointer),
        }
    }
    let ids: HashSet<String> = out.iter().filter_map(|turn| turn.id.clone()).collect();
    for turn in &mut out {
        if matches!(&turn.parent, TurnParent::Id(parent) if !ids.contains(parent)) {
            turn.parent = TurnParent::Previous;
        }
    }
    out
}

fn turn(message: &Object<'_>, raw: &RawValue, pointer: String, blocks: &HashMap<String, &RawValue>) -> Turn {
    let mut turn = read_message(message, raw.get(), pointer, FORMAT_ID);
    // If there are several answers to one question, each answer refers to the question, which becomes its parent.
    if let Some(question) = first_text(message, &["askId"]) {
        turn.parent = TurnParent::Id(question);
    }
    let model = message.object("model");
    turn.model = turn.model.or_else(|| first_text(model.as_ref()?, &["id", "name"]));
    let mut parts = DistantParts::default();
    for id in message.list("blocks").unwrap_or_default() {
        let id = decode_string(id).unwrap_or_default();
        let Some(block) = blocks.get(id.as_ref()) else { continue };
        parts.add_source(block);
        let content = &mut parts.content;
        let Some(object) = Object::parse(block.get()) else { continue };
        let text = object.raw_value("content").map(nested_text).unwrap_or_default();
        match object.text("type").as_deref() {
            Some("main_text") => content.add_text(&text),
            Some("image" | "file") => content.add(block),
            kind => content.add_block(kind.unwrap_or("unknown"), first_text(&object, &["toolName"]), text),
        }
    }
    parts.put_into(&mut turn, raw.get());
    turn
}

/// The names of topics by their ids. The names are in the settings, which are JSON inside a string. In this JSON, the
/// assistants are again JSON inside a string.
fn topic_names(settings: &Object<'_>) -> HashMap<String, String> {
    let mut out = HashMap::new();
    let Some(stored) = settings.text("persist:cherry-studio") else { return out };
    let Some(assistants) = Object::parse(&stored).and_then(|stored| Some(stored.text("assistants")?.into_owned()))
    else {
        return out;
    };
    let Some(list) = Object::parse(&assistants).and_then(|object| object.list("assistants")) else { return out };
    for assistant in list.into_iter().filter_map(|raw| Object::parse(raw.get())) {
        for topic in assistant.list("topics").unwrap_or_default() {
            let Some(topic) = Object::parse(topic.get()) else { continue };
            if let (Some(id), Some(name)) = (first_text(&topic, &["id"]), first_text(&topic, &["name"])) {
                out.insert(id, name);
            }
        }
    }
    out
}
