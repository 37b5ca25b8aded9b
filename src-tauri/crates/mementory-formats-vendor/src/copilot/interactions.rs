//! Reads the interactions of Microsoft 365 Copilot that Microsoft Graph returns (`aiInteraction`): prompts and answers
//! of all apps, each with the id of its session. An organisation can export them for its members.
use super::COPILOT;
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn, times_of},
    files::{folder, json_keys},
    html::to_text,
    object::{Object, content_id},
    reader::{FileReader, ObjectElement},
    values::{block, first_id, first_text, first_time, other_fields, push_paragraph},
};
use mementory_json::Keys;
use mementory_model::{AttachmentRef, DroppedAs, Issue, Kind, RecordKey, Source, Times, Verbatim};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Version that a claim for interactions states.
pub(super) const VERSION: &str = "interactions";
/// Key of the list in a response of Microsoft Graph.
const LIST_KEY: &str = "value";
/// Members of an interaction that have a field in the model.
const MEMBERS: [&str; 8] =
    ["id", "sessionId", "interactionType", "createdDateTime", "body", "attachments", "from", "etag"];
/// Prefix of the media types of cards. The texts in a card are part of an answer.
const CARD: &str = "application/vnd.microsoft.card";

/// Returns one claim for the interaction files of each folder or archive.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut groups: BTreeMap<_, Vec<&Member>> = BTreeMap::new();
    for member in catalog.members() {
        if json_keys(catalog, member).is_some_and(|keys| is_list_of_interactions(&keys)) {
            groups.entry((member.root, member.archive, folder(&member.name))).or_default().push(member);
        }
    }
    let claim = |found: Vec<&Member>| Claim {
        version: Some(VERSION.into()),
        confidence: 0.9,
        reason: "interactions with Microsoft 365 Copilot from Microsoft Graph".into(),
        parts: found.iter().map(|member| Part { member: member.id, role: Role::Records }).collect(),
        missing_parts: vec![],
    };
    groups.into_values().map(claim).collect()
}

fn is_list_of_interactions(keys: &Keys) -> bool {
    let has_all =
        |at: &str| ["interactionType", "sessionId", "body.content"].iter().all(|key| keys.has(&format!("{at}{key}")));
    has_all("") || has_all(&format!("{LIST_KEY}."))
}

/// Reads a file of interactions and sends each session as a conversation.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut sessions = Sessions::default();
    let count = reader.objects(member, &[LIST_KEY], Kind::Message, |reader, element| {
        let Some(turn) = turn(element) else {
            let place = format!("{}#{}", member.place, element.pointer);
            let reason = "not_a_message: neither a prompt nor an answer";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        };
        sessions.add(element, turn);
        if sessions.bytes > reader.context.limits.element_bytes {
            let message = "this file is larger than the limit for one chat and was read in pieces";
            reader.sink.note(Issue::new("split", &member.place, message));
            return std::mem::take(&mut sessions).send(reader, member);
        }
        Ok(())
    })?;
    if count == 0 {
        reader.sink.note(Issue::new("empty", &member.place, "this file contains no interactions"));
    }
    sessions.send(reader, member)
}

/// The interactions of a session that were read so far.
#[derive(Default)]
struct Session {
    id: Option<String>,
    /// Id of the person, or else the name.
    account: Option<String>,
    turns: Vec<Turn>,
}

/// The sessions of a file, in the order of their first interactions. In a file, the interactions of several sessions
/// are mixed.
#[derive(Default)]
struct Sessions {
    list: Vec<Session>,
    positions: HashMap<Option<String>, usize>,
    bytes: u64,
}

impl Sessions {
    fn add(&mut self, element: &ObjectElement<'_>, turn: Turn) {
        let id = first_id(&element.object, &["sessionId"]);
        let position = *self.positions.entry(id.clone()).or_insert(self.list.len());
        if position == self.list.len() {
            self.list.push(Session { id, ..Session::default() });
        }
        if let Some(session) = self.list.get_mut(position) {
            let person = element.object.object("from").and_then(|from| from.object("user"));
            session.account =
                session.account.take().or_else(|| person.and_then(|person| first_id(&person, &["id", "displayName"])));
            session.turns.push(turn);
        }
        self.bytes += element.text.len() as u64;
    }

    fn send(self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        for Session { id, account, mut turns } in self.list {
            // The pages of Graph's response may be in any order, and often begin with the newest interaction, so the
            // messages are sorted by time.
            if turns.iter().all(|turn| turn.times.created.is_some()) {
                turns.sort_by_key(|turn| turn.times.created);
            }
            let chat = Chat {
                times: times_of(&turns),
                source: Source { account, ..Source::default() },
                // Besides the interactions, the file contains only the id of a session, which becomes the verbatim.
                verbatim: Some(Verbatim::json(
                    id.as_ref().map_or_else(|| "null".into(), |id| Value::from(id.as_str()).to_string()),
                )),
                pointer: turns.first().map(|turn| turn.pointer.clone()).unwrap_or_default(),
                id,
                turns,
                ..Chat::default()
            };
            let mut issues = Vec::new();
            let file =
                ChatFile { format: COPILOT, platform: COPILOT, version: Some(VERSION), container: &member.place };
            let unit = chat.into_unit(file, &mut issues);
            issues.into_iter().for_each(|issue| reader.sink.note(issue));
            reader.sink.unit(unit)?;
        }
        Ok(())
    }
}

/// Returns the message of an interaction. None if the interaction has no content and does not state who wrote it.
fn turn(element: &ObjectElement<'_>) -> Option<Turn> {
    let object = &element.object;
    let kind = object.text("interactionType").unwrap_or_default();
    let role = match kind.as_ref() {
        "userPrompt" => "user",
        "aiResponse" => "assistant",
        _ => "unknown",
    };
    let body = object.object("body").unwrap_or_default();
    if role == "unknown" && !body.has("content") {
        return None;
    }
    let content = body.text("content").unwrap_or_default();
    let is_html = body.text("contentType").is_some_and(|kind| kind.eq_ignore_ascii_case("html"));
    let mut text = if is_html { to_text(&content) } else { content.into_owned() };
    let mut fields = other_fields(object, &MEMBERS);
    let mut blocks: Vec<Value> = Vec::new();
    let mut attachments: Vec<AttachmentRef> = Vec::new();
    for raw in object.list("attachments").unwrap_or_default() {
        let Some(attachment) = Object::parse(raw.get()) else { continue };
        let name = first_text(&attachment, &["name"]);
        let media_type = first_text(&attachment, &["contentType"]).unwrap_or_default();
        if media_type.starts_with(CARD) {
            let card = attachment.text("content").map(|card| card_text(&card)).unwrap_or_default();
            match text.trim().is_empty() {
                true => text = card,
                false if !card.trim().is_empty() && card.trim() != text.trim() => {
                    blocks.push(block("card", name.as_deref(), card));
                }
                false => {}
            }
            continue;
        }
        let address = first_text(&attachment, &["contentUrl"]);
        let id = address.clone().or_else(|| first_id(&attachment, &["attachmentId"]));
        let Some(name) = name.or_else(|| id.clone()) else { continue };
        let key = id.clone().unwrap_or_else(|| content_id(raw.get()));
        attachments.push(AttachmentRef {
            key: RecordKey::new(COPILOT, format!("link/{key}")),
            origin_id: id,
            name,
            media_type: Some(media_type).filter(|kind| kind.contains('/')),
            size: None,
            text: None,
        });
    }
    if !blocks.is_empty() {
        fields.insert("blocks".into(), blocks.into());
    }
    let application = object.object("from").and_then(|from| from.object("application"));
    if let Some(application) = application.and_then(|application| first_text(&application, &["displayName", "id"])) {
        fields.insert("application".into(), application.into());
    }
    if role == "unknown" && !kind.is_empty() {
        fields.insert("interaction_type".into(), kind.into_owned().into());
    }
    let id = first_id(object, &["id"]);
    Some(Turn {
        key: id.is_none().then(|| content_id(element.text)),
        id,
        role: role.into(),
        text,
        content_type: "text".into(),
        times: Times { created: first_time(object, &["createdDateTime"]), ..Times::default() },
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(element.text)),
        attachments,
        fields,
        ..Turn::default()
    })
}

/// Returns the texts in an adaptive card, in the order of the card.
fn card_text(card: &str) -> String {
    let Ok(card) = serde_json::from_str::<Value>(card) else { return String::new() };
    let mut out = String::new();
    let mut open = vec![&card];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(members) => {
                push_paragraph(&mut out, members.get("text").and_then(Value::as_str).unwrap_or_default());
                open.extend(members.values().rev());
            }
            _ => {}
        }
    }
    out
}
