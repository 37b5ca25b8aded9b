//! Reads conversations. Each message has one or more versions, and one of them was shown last.
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Sink};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::chat::{Chat, Turn, TurnParent};
use mementory_formats_shared::content::Content;
use mementory_formats_shared::message::{first_text, report_no_message, store_embedded, unit};
use mementory_formats_shared::object::{Object, content_id, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, role_or_name};
use mementory_model::{DroppedAs, Kind, Times, Verbatim};
use serde_json::value::RawValue;

const FORMAT_ID: &str = "lm_studio";

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    FileReader::new(FORMAT_ID, catalog, context, sink).each_file(detected, |files, member, _| {
        files.objects(member, &[], Kind::Conversation, |files, element| conversation(files, member, element))?;
        Ok(())
    })
}

fn conversation(files: &mut FileReader<'_>, member: &Member, element: &ObjectElement<'_>) -> Result<(), FormatError> {
    let object = &element.object;
    let Some(list) = object.list("messages") else {
        let place = format!("{}#{}", member.place, element.pointer);
        let reason = "no_messages: this conversation has no list of messages";
        files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    if list.is_empty() {
        let place = format!("{}#{}", member.place, element.pointer);
        let reason = "no_content: a chat without messages";
        files.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Conversation));
        return Ok(());
    }
    let (turns, leaf) = turns(files, member, &list, &element.pointer);
    // Only the versions are removed from the verbatim, because no other record contains the other members of a message.
    let messages = list.iter().filter_map(|raw| Object::parse(raw.get()));
    let cuts: Vec<(&RawValue, &str)> =
        messages.filter_map(|message| Some((message.raw_value("versions")?, "[]"))).collect();
    let created = first_time(object, &["createdAt"]);
    // The file contains no id, only the time of creation in milliseconds. The id is made from this time and the text of
    // the first message, which together are unique.
    let first = turns.first().map(|turn| turn.text.clone()).unwrap_or_default();
    let id = created.map(|time| format!("{}-{}", time.as_micros() / 1000, content_id(&first)));
    let mut chat = Chat {
        id,
        title: first_text(object, &["name", "title"]),
        times: Times {
            created,
            updated: first_time(object, &["userLastMessagedAt", "assistantLastMessagedAt", "lastModified"]),
            ..Times::default()
        },
        model: object
            .object("lastUsedModel")
            .and_then(|model| first_text(&model, &["identifier", "indexedModelIdentifier"])),
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(with_replaced_values(element.text, &cuts))),
        turns,
        leaf,
        ..Chat::default()
    };
    if object.is_true("pinned") {
        chat.fields.insert("pinned".into(), true.into());
    }
    if let Some(prompt) = object.non_blank_text("systemPrompt") {
        chat.fields.insert("system_prompt".into(), prompt.into_owned().into());
    }
    store_embedded(files, member, &chat)?;
    let mut unit = unit(files, member, chat, FORMAT_ID, None);
    // The ids are made by this reader and are not in the file, so they must not become origin ids.
    unit.records.iter_mut().for_each(|record| record.origin_id = None);
    files.sink.unit(unit)
}

/// Returns all versions of all messages, and the id of the last message that was shown. The versions of a message are
/// branches, so the parent of each is the shown version of the previous message.
fn turns(files: &mut FileReader<'_>, member: &Member, list: &[&RawValue], at: &str) -> (Vec<Turn>, Option<String>) {
    let mut out = Vec::new();
    let mut shown_id: Option<String> = None;
    for (index, raw) in list.iter().enumerate() {
        let pointer = format!("{at}/messages/{index}");
        let message = Object::parse(raw.get());
        let versions = message.as_ref().and_then(|message| message.list("versions"));
        let (Some(message), Some(versions)) = (message, versions) else {
            report_no_message(files, member, &pointer);
            continue;
        };
        let selected = message.whole_number("currentlySelected").and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let mut next_shown = None;
        for (number, raw) in versions.iter().enumerate() {
            let pointer = format!("{pointer}/versions/{number}");
            let Some(version) = Object::parse(raw.get()) else {
                report_no_message(files, member, &pointer);
                continue;
            };
            let id = format!("{index}.{number}");
            let mut turn = version_turn(&version, raw.get(), pointer);
            turn.parent = shown_id.clone().map_or(TurnParent::Root, TurnParent::Id);
            if number == selected || next_shown.is_none() {
                next_shown = Some(id.clone());
            }
            turn.id = Some(id);
            out.push(turn);
        }
        shown_id = next_shown.or(shown_id);
    }
    (out, shown_id)
}

/// Returns the turn of one version, which has content, or several steps.
fn version_turn(version: &Object<'_>, text: &str, pointer: String) -> Turn {
    let role = role_or_name(&version.text("role").unwrap_or_default());
    let mut content = Content::default();
    if let Some(raw) = version.raw_value("content") {
        content.add(raw);
    }
    let mut model = None;
    for step in version.list("steps").unwrap_or_default() {
        let Some(step) = Object::parse(step.get()) else { continue };
        model = model.or_else(|| {
            step.object("genInfo").and_then(|info| first_text(&info, &["identifier", "indexedModelIdentifier"]))
        });
        add_step(&step, &mut content);
    }
    let sender = version.object("senderInfo").and_then(|sender| first_text(&sender, &["senderName"]));
    let role = if role == "unknown" && version.has("steps") { ASSISTANT.to_owned() } else { role };
    let is_instruction = role == SYSTEM;
    let mut turn = Turn {
        hidden: is_instruction || role == TOOL,
        content_type: if is_instruction { "context" } else { content.content_type() }.into(),
        model: if role == ASSISTANT { model.or(sender) } else { None },
        role,
        pointer,
        verbatim: Some(Verbatim::json(text)),
        ..Turn::default()
    };
    content.put_into(&mut turn, FORMAT_ID);
    turn
}

/// Adds a step to `content`: text, a thought, or tool calls and their results. Steps for debugging are skipped, so that
/// only the verbatim contains them.
fn add_step(step: &Object<'_>, content: &mut Content) {
    let kind = step.text("type").unwrap_or_default();
    if kind.starts_with("debug") || kind == "status" {
        return;
    }
    let Some(raw) = step.raw_value("content") else { return };
    let style = step.object("style").and_then(|style| first_text(&style, &["type"]));
    if style.as_deref() == Some("thinking") {
        let mut thought = Content::default();
        thought.add(raw);
        content.add_block("thinking", None, thought.text);
        content.blocks.append(&mut thought.blocks);
    } else {
        content.add(raw);
    }
}
