//! Reads trajectories in ATIF, the Agent Trajectory Interchange Format (Harbor's RFC 0001), which Hermes Agent, Harbor
//! and NeMo Agent Toolkit write: one JSON object with the steps of a session.
use super::session::Session;
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::agent_content::AgentContent;
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::memory_heads::Head;
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::values::id;
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::value::RawValue;

const PLATFORM: &str = "atif";
/// Prefix of the version of a trajectory.
const VERSION_PREFIX: &str = "ATIF-";

/// True if a file is a trajectory.
pub(super) fn is_trajectory(catalog: &Catalog, member: &Member) -> bool {
    let head = Head::candidate(catalog, member);
    head.is_some_and(|head| {
        head.has_all("", &["schema_version", "steps.source"]) && head.has_value_starting_with(VERSION_PREFIX)
    })
}

/// Reads each trajectory of a file as a conversation.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    reader.objects(member, &[], Kind::Conversation, |reader, element| read_trajectory(reader, member, element))?;
    Ok(())
}

fn read_trajectory(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let trajectory = &element.object;
    let agent = trajectory.object("agent").unwrap_or_default();
    let text = |object: &Object<'_>, key: &str| object.non_blank_text(key).map(|text| text.into_owned());
    let mut session = Session::default();
    session.chat.id = ["session_id", "trajectory_id"].into_iter().find_map(|key| id(trajectory, key));
    session.chat.pointer.clone_from(&element.pointer);
    for key in ["name", "version"] {
        session.chat.fields.extend(text(&agent, key).map(|value| (format!("agent_{key}"), value.into())));
    }
    let model = text(&agent, "model_name");
    let steps = trajectory.list("steps").unwrap_or_default();
    for (index, raw) in steps.iter().enumerate() {
        let pointer = format!("{}/steps/{index}", element.pointer);
        let Some(step) = Object::parse(raw.get()) else {
            let place = format!("{}#{pointer}", member.place);
            let reason = "not_an_object: this step is not an object";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            continue;
        };
        let role = match step.text("source").as_deref() {
            Some("user") => "user",
            Some("agent") => "assistant",
            _ => "system",
        };
        let mut turn = Turn {
            id: id(&step, "step_id"),
            role: role.into(),
            model: text(&step, "model_name").or_else(|| model.clone()).filter(|_| role == "assistant"),
            pointer,
            verbatim: Some(Verbatim::json(raw.get())),
            ..Turn::default()
        };
        turn.times.created = any_time(&step, "timestamp");
        let is_copied = step.is_true("is_copied_context");
        let at = session.push(reader, member, turn, content_of(&step))?;
        if let Some(turn) = session.chat.turns.get_mut(at).filter(|_| is_copied) {
            // The step is hidden, because it is a copy of a step of an earlier trajectory.
            turn.hidden = true;
        }
    }
    let without_steps = trajectory.raw_value("steps").map_or_else(
        || element.text.to_owned(),
        |steps: &RawValue| with_replaced_values(element.text, &[(steps, "[]")]),
    );
    session.other_lines.push(without_steps);
    session.send(reader, member, PLATFORM)
}

/// Reads the message, the thoughts, the tool calls and their results of a step.
fn content_of(step: &Object<'_>) -> AgentContent {
    let mut out = AgentContent::read(step.raw_value("message"));
    let thoughts = step.text("reasoning_content").unwrap_or_default();
    out.push_block("thinking", None, thoughts);
    for call in step.objects("tool_calls") {
        let arguments = call.raw_value("arguments").map_or_else(String::new, |raw| raw.get().to_owned());
        out.push_block("tool_call", call.text("function_name").as_deref(), arguments);
    }
    for result in step.object("observation").iter().flat_map(|observation| observation.objects("results")) {
        let content = AgentContent::read(result.raw_value("content"));
        out.files.extend(content.files);
        out.blocks.extend(content.blocks);
        out.push_block("tool_result", None, content.text);
    }
    out
}
