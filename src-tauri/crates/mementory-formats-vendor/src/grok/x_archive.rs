//! Reads chats with Grok in the archive of an account on X: `data/grok-chat-item.js`, a script that assigns a list of
//! messages to a variable. Archives of large accounts contain several such scripts (parts). All other files of the
//! archive are ignored.
use super::{GROK, conversation, files};
use mementory_format::{Catalog, Claim, Detected, FormatError, Member, Part, ReadContext, Role, Sink};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn},
    files::is_junk,
    object::{Object, content_id},
    reader::{FileReader, ObjectElement},
    roles,
    values::{first_id, first_text, first_time, other_fields},
};
use mementory_json::{ElementError, Elements};
use mementory_model::{AttachmentRef, DroppedAs, Kind, Source, Times, Verbatim};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;

/// Name of this layout. It is the version in claims and in the origin of records.
pub(super) const LAYOUT: &str = "x_archive";
/// Name of the variable, without the number of the part.
const VARIABLE: &[u8] = b"YTD.grok_chat_item";
/// Number of bytes at the beginning of a script that must contain the assignment.
const HEAD_BYTES: usize = 256;
/// Members of a message that have a field in the model.
const MEMBERS: [&str; 6] = ["accountId", "chatId", "createdAt", "sender", "message", "attachments"];

/// Returns one claim for each archive or folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut parts_by_place: BTreeMap<(usize, Option<usize>), Vec<Part>> = BTreeMap::new();
    for member in catalog.members().iter().filter(|member| is_script(catalog, member)) {
        let part = Part { member: member.id, role: Role::Conversations };
        parts_by_place.entry((member.root, member.archive)).or_default().push(part);
    }
    let claim = |parts| Claim {
        version: Some(LAYOUT.into()),
        confidence: 0.95,
        reason: "chats with Grok in an archive of X".into(),
        parts,
        missing_parts: vec![],
    };
    parts_by_place.into_values().map(claim).collect()
}

/// True for a script that contains chats. An archive contains many scripts, so a script is opened only if its name
/// contains `grok` or if it was selected alone.
fn is_script(catalog: &Catalog, member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    let may_be_script = name.ends_with(".js") && (name.contains("grok") || member.is_selected_alone());
    may_be_script
        && !is_junk(&member.name)
        && catalog.head(member, HEAD_BYTES).is_ok_and(|head| memchr::memmem::find(&head, VARIABLE).is_some())
}

/// Reads all parts before anything is sent, because the messages of a chat may be in several parts.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut reader = FileReader::new(GROK, catalog, context, sink);
    let mut messages = Messages::default();
    reader.each_file(detected, |reader, member, _| messages.add_file(reader, member))?;
    messages.send(&mut reader)
}

struct ChatMessages {
    container: String,
    account: Option<String>,
    turns: Vec<Turn>,
}

/// The messages of all parts, grouped by chat. The chats are in the order of their first messages.
#[derive(Default)]
struct Messages {
    chats: Vec<(Option<String>, ChatMessages)>,
    positions: HashMap<Option<String>, usize>,
    bytes: u64,
}

impl Messages {
    fn add_file(&mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let (catalog, context) = (reader.catalog, reader.context);
        catalog.read(member, |bytes| {
            skip_assignment(bytes).map_err(|error| FormatError::io(&member.place, error))?;
            let mut elements = Elements::new(bytes, &context.limits).resync();
            loop {
                match elements.next() {
                    Ok(None) => return Ok(()),
                    Ok(Some(element)) => {
                        let pointer = element.pointer();
                        let mut add = |reader: &mut FileReader<'_>, element: &ObjectElement<'_>| {
                            self.add(reader, member, element)
                        };
                        reader.object(member, pointer, element.bytes, Kind::Message, &mut add)?;
                    }
                    Err(ElementError::Io(error)) => return Err(FormatError::io(&member.place, error)),
                    Err(error) => {
                        let reason = format!("{}: {error}", error.code());
                        let place = error.place(&member.place);
                        reader.report_dropped(place, DroppedAs::Failed, &reason, Some(Kind::Message));
                        if error.ends_reading() {
                            return Ok(());
                        }
                    }
                }
            }
        })
    }

    fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        self.bytes += element.text.len() as u64;
        let limit = reader.context.limits.element_bytes;
        if self.bytes > limit {
            return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
        }
        let inner = element.object.object("grokChatItem");
        let item = inner.as_ref().unwrap_or(&element.object);
        if !item.has("message") {
            let place = format!("{}#{}", member.place, element.pointer);
            let reason = "not_a_message: this entry has no message";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        let id = first_id(item, &["chatId"]);
        let position = *self.positions.entry(id.clone()).or_insert_with(|| {
            let account = first_id(item, &["accountId"]);
            self.chats.push((id, ChatMessages { container: member.place.clone(), account, turns: vec![] }));
            self.chats.len() - 1
        });
        if let Some((_, chat)) = self.chats.get_mut(position) {
            let mut turn = turn(item, element);
            if chat.container != member.place {
                // The message is in another file than the first message of its chat, so the pointer also states the
                // file name.
                turn.pointer = format!("{}#{}", member.name, turn.pointer);
            }
            chat.turns.push(turn);
        }
        Ok(())
    }

    fn send(self, reader: &mut FileReader<'_>) -> Result<(), FormatError> {
        for (id, ChatMessages { container, account, mut turns }) in self.chats {
            if turns.iter().all(|turn| turn.times.created.is_some()) {
                turns.sort_by_key(|turn| turn.times.created);
            }
            let times = || turns.iter().filter_map(|turn| turn.times.created);
            let mut chat = Chat {
                id,
                times: Times { created: times().min(), updated: times().max(), ..Times::default() },
                source: Source { account, ..Source::default() },
                ..Chat::default()
            };
            // The source contains no object of the chat itself, so its verbatim is made from the ids that its messages
            // state.
            let ids = serde_json::json!({ "accountId": &chat.source.account, "chatId": &chat.id });
            chat.verbatim = Some(Verbatim::json(ids.to_string()));
            chat.turns = turns;
            let file = ChatFile { format: GROK, platform: GROK, version: Some(LAYOUT), container: &container };
            let mut issues = Vec::new();
            let unit = chat.into_unit(file, &mut issues);
            issues.into_iter().for_each(|issue| reader.sink.note(issue));
            reader.sink.unit(unit)?;
        }
        Ok(())
    }
}

/// Skips the bytes up to and including the `=` of the assignment.
fn skip_assignment(bytes: &mut dyn Read) -> std::io::Result<()> {
    let mut byte = [0];
    for _ in 0..HEAD_BYTES {
        if bytes.read(&mut byte)? == 0 || byte == *b"=" {
            break;
        }
    }
    Ok(())
}

/// Returns the turn of a message. A message has no id, so its key is made from its content. The position is not part of
/// the key, because it changes in a later archive if an earlier message was deleted.
fn turn(item: &Object<'_>, element: &ObjectElement<'_>) -> Turn {
    let sender = item.object("sender").and_then(|sender| first_text(&sender, &["originalName", "name"]));
    let role =
        conversation::role(&sender.or_else(|| first_text(item, &["sender"])).unwrap_or_else(|| "unknown".into()));
    let message = first_text(item, &["message"]).unwrap_or_default();
    let time = first_text(item, &["createdAt"]).unwrap_or_default();
    Turn {
        key: Some(content_id(&format!("{time}\n{role}\n{message}"))),
        text: if role == roles::USER { message } else { conversation::shown_text(&message) },
        role,
        content_type: "text".into(),
        times: Times { created: first_time(item, &["createdAt"]), ..Times::default() },
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(element.text)),
        attachments: attachments(item),
        fields: other_fields(item, &MEMBERS),
        ..Turn::default()
    }
}

fn attachments(item: &Object<'_>) -> Vec<AttachmentRef> {
    let entries = item.list("attachments").unwrap_or_default();
    let objects = entries.iter().filter_map(|raw| Object::parse(raw.get()));
    let reference = |file: Object<'_>| {
        let name = first_text(&file, &["fileName"]);
        let id = first_id(&file, &["mediaId", "url"]).or_else(|| name.clone())?;
        Some(AttachmentRef {
            key: files::file_key(&id),
            name: name.unwrap_or_else(|| id.clone()),
            origin_id: Some(id),
            media_type: first_text(&file, &["mimeType"]),
            size: None,
            text: None,
        })
    };
    objects.filter_map(reference).collect()
}
