//! Reads the state of an agent of AgentScope, as QwenPaw and other programs that use this framework save it for each
//! session. An entry of the memory is a message, or a list of a message and its marks.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, beginning, times_of};
use mementory_formats_shared::message::{first_text, read_message, report_no_message, send};
use mementory_formats_shared::object::{Object, content_id, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_json::Keys;
use mementory_model::Verbatim;
use serde_json::value::RawValue;

const PLATFORM: &str = "agentscope";
/// Keys of the nested objects that lead to the messages.
const AGENT: &str = "agent";
const MEMORY: &str = "memory";
const CONTENT: &str = "content";

/// True if the keys are those of an agent's saved state.
pub(super) fn is_state(keys: &Keys) -> bool {
    ["role", "name", CONTENT].iter().all(|key| keys.has(&format!("{AGENT}.{MEMORY}.{CONTENT}.{key}")))
}

/// Sends the messages of a state as a conversation. The state has no id, so its beginning identifies it.
pub(super) fn read(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let agent = element.object.object(AGENT).unwrap_or_default();
    let memory = agent.object(MEMORY).unwrap_or_default();
    let entries = memory.raw_value(CONTENT);
    let at = format!("{}/{AGENT}/{MEMORY}/{CONTENT}", element.pointer);
    let mut chat = Chat { is_log: true, pointer: element.pointer.clone(), ..Chat::default() };
    for (index, raw) in entries.and_then(list).unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{at}/{index}");
        let raw = list(raw).and_then(|pair| pair.first().copied()).unwrap_or(raw);
        match Object::parse(raw.get()) {
            Some(message) => chat.turns.push(read_message(&message, raw.get(), pointer, files.format)),
            None => report_no_message(files, member, &pointer),
        }
    }
    for (field, key) in [("agent", "name"), ("system_prompt", "_sys_prompt")] {
        if let Some(text) = first_text(&agent, &[key]) {
            chat.fields.insert(field.into(), text.into());
        }
    }
    let first_id = chat.turns.first().and_then(|turn| turn.id.clone());
    chat.key = Some(format!("state/{}", content_id(&format!("{first_id:?}\n{}", beginning(&chat.turns)))));
    chat.times = times_of(&chat.turns);
    let cuts: Vec<(&RawValue, &str)> = entries.map(|raw| (raw, "[]")).into_iter().collect();
    chat.verbatim = Some(Verbatim::json(with_replaced_values(element.text, &cuts)));
    send(files, member, chat, PLATFORM, Some(PLATFORM))
}
