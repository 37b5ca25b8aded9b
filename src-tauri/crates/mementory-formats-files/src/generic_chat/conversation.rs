//! Reads a conversation with its messages, and messages that are not part of a conversation in the file.
use super::FORMAT_ID;
use super::newest_first::reverse_if_newest_first;
use super::shape::{AUTHOR_TYPES, MESSAGE_LISTS, RESULTS};
use super::{anything_llm, branches, cline, envelope, listed, pairs, platform, tree};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, TurnParent, beginning, times_of};
use mementory_formats_shared::content::{Content, nested_text};
use mementory_formats_shared::message::{
    first_text, read_list, read_map, read_message, report_no_message, role_name, store_embedded, times, unit,
};
use mementory_formats_shared::object::{Object, content_id, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{self, ASSISTANT, SYSTEM, USER};
use mementory_model::{DroppedAs, Issue, Kind, Times, Verbatim};
use serde_json::value::RawValue;
use std::collections::HashMap;

pub(super) const ID_KEYS: [&str; 13] = [
    "id",
    "_id",
    "uuid",
    "conversation_id",
    "conversationId",
    "thread_id",
    "threadId",
    "session_id",
    "sessionId",
    "chat_id",
    "chatId",
    "chatID",
    "message_tree_id",
];
pub(super) const TITLE_KEYS: [&str; 10] = [
    "title",
    "userTitle",
    "name",
    "topic",
    "subject",
    "thread_title",
    "thread_name",
    "chat_title",
    "chatTitle",
    "autoTitle",
];
const HEADER_KEYS: [&str; 8] = ["thread", "conversation", "conv", "chat", "metadata", "session", "meta", "history"];
const PROMPT_KEYS: [&str; 5] = ["system", "systemPrompt", "system_prompt", "instructions", "systemMessage"];
/// Keys of a prompt that consists of parts, in the APIs of Anthropic, Amazon and Google.
const PART_PROMPT_KEYS: [&str; 3] = ["system", "systemInstruction", "system_instruction"];
const LEAF_KEYS: [&str; 5] = ["currentId", "current_node", "currentMessageId", "activeLeafId", "currNode"];
/// Keys of a question and of its answer, in entries that contain both texts.
const QUESTION_AND_ANSWER_KEYS: [(&str, &str); 11] = [
    ("prompt", "response"),
    ("prompt", "completion"),
    ("question", "answer"),
    ("question", "answerText"),
    ("query", "answer"),
    ("input", "output"),
    (INSTRUCTION, "output"),
    ("user", "assistant"),
    ("user", "bot"),
    ("human", "ai"),
    (CODY_QUESTION, "assistantMessage"),
];
const CODY_QUESTION: &str = "humanMessage";

/// Roles of messages that nobody wrote.
const NO_SPEAKERS: [&str; 6] = ["unknown", "error", "info", "status", "notification", "event"];

/// Key of the instruction in entries of training data. The question is in `input`, or the instruction is the question.
const INSTRUCTION: &str = "instruction";

/// Sends the conversation in an element. An element that is a message is added to `loose`.
pub(super) fn conversation(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    loose: &mut LooseMessages,
) -> Result<(), FormatError> {
    conversation_in(files, member, element, (None, None), loose)
}

/// Sends the conversation in an element. `outer` is the object that contains the element, if this object describes the
/// conversation too. `shared_title` is the title of an object that contains several conversations.
fn conversation_in(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    (outer, shared_title): (Option<&ObjectElement<'_>>, Option<String>),
    loose: &mut LooseMessages,
) -> Result<(), FormatError> {
    let object = &element.object;
    let Some((key, raw)) = message_list(object) else {
        let is_message = role_name(object).is_some() || question_and_answer(object).is_some();
        let enveloped = if is_message { Vec::new() } else { envelope::find(object, has_messages) };
        let has_enveloped = !enveloped.is_empty();
        for found in enveloped {
            let Some(inner) = Object::parse(found.raw.get()) else { continue };
            let pointer = format!("{}{}", element.pointer, found.pointer);
            let inner = ObjectElement { text: found.raw.get(), object: inner, pointer };
            loose.platform = found.platform.or(loose.platform);
            let outer = found.is_described_outside.then_some(element);
            conversation_in(files, member, &inner, (outer, found.title), loose)?;
        }
        if has_enveloped {
            return Ok(());
        }
        // A message may have its text inside `data`, so only an element without a role is searched for conversations.
        if role_name(object).is_none()
            && let Some((key, inner)) =
                ["data", "result", "export"].iter().find_map(|k| Some((*k, object.raw_value(k)?)))
            && inner.get().starts_with('{')
        {
            return send_wrapped(files, member, inner, &format!("{}/{key}", element.pointer), loose);
        }
        if object.has("message_tree_id")
            && let Some(prompt) = object.raw_value("prompt").filter(|raw| raw.get().starts_with('{'))
        {
            return send_tree(files, member, element, prompt);
        }
        if is_message {
            return loose.add(files, member, element);
        }
        if loose.store_header(element) {
            return Ok(());
        }
        let place = format!("{}#{}", member.place, element.pointer);
        let reason = "no_messages: this entry has no messages";
        files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    if listed::is_list_of_conversations(raw) {
        loose.platform = listed::platform(object).or(loose.platform);
        return listed::send_listed(files, member, element, (key, raw), |files, inner| {
            conversation(files, member, inner, loose)
        });
    }
    let at = format!("{}/{key}", element.pointer);
    let mut turns = match (list(raw), tree::messages_of_conversation(element, key)) {
        (Some(list), Some(turns)) => {
            for (index, _) in list.iter().enumerate().filter(|(_, raw)| !raw.get().starts_with('{')) {
                report_no_message(files, member, &format!("{at}/{index}"));
            }
            turns
        }
        (Some(list), None) if pairs::is_list_of_pairs(&list) => {
            pairs::turns(object, &list, &at, |index| report_no_message(files, member, &format!("{at}/{index}")))
        }
        (Some(list), None)
            if list.iter().any(|raw| Object::parse(raw.get()).is_some_and(|o| question_and_answer(&o).is_some())) =>
        {
            questions(files, member, &list, &at)
        }
        (Some(list), None) => read_list(files, member, &without_envelopes(list), &at),
        (None, _) => read_map(files, member, &Object::parse(raw.get()).unwrap_or_default(), &at),
    };
    turns.iter_mut().for_each(cline::separate_added_text);
    tree::find_roots(&mut turns);
    name_assistants(&mut turns);
    reverse_if_newest_first(&mut turns);
    let forks = branches::add_forks(files, member, object, &element.pointer, &mut turns);
    let header = HEADER_KEYS.iter().find_map(|key| object.object(key));
    let header = header.as_ref().or_else(|| outer.map(|outer| &outer.object));
    let text = |keys: &[&str]| first_text(object, keys).or_else(|| header.and_then(|header| first_text(header, keys)));
    let mut chat_times = if is_dated_by_export(object) { Times::default() } else { times(object) };
    if let Some(header) = header {
        let dates = header.object("dates");
        for further in [Some(times(header)), dates.as_ref().map(times)].into_iter().flatten() {
            chat_times.created = chat_times.created.or(further.created);
            chat_times.updated = chat_times.updated.or(further.updated);
        }
    }
    let link = text(&["link", "url", "source_url", "thread_url"]).or_else(|| platform::link_of_capture(header?));
    let model = object.object("model");
    let mut lists = vec![(raw, "[]")];
    // The list `visible` repeats the texts as the page shows them, so the verbatim of the conversation leaves it out.
    lists.extend(pairs::repeated_list(object, key).map(|raw| (raw, "[]")));
    if let Some(forks) = &forks {
        lists.extend(forks.lists.iter().map(|raw| (*raw, "[]")));
    }
    let mut chat = Chat {
        // The address of a chat ends with its id.
        id: text(&ID_KEYS)
            .or_else(|| link.as_deref()?.rsplit('/').next().filter(|id| !id.is_empty()).map(str::to_owned)),
        title: text(&TITLE_KEYS).or(shared_title),
        summary: first_text(object, &["summary", "memoryPrompt"]).unwrap_or_default(),
        times: chat_times,
        model: text(&["model", "model_id", "modelId"]).or_else(|| first_text(model.as_ref()?, &["id", "name"])),
        leaf: text(&LEAF_KEYS).or_else(|| forks?.last_shown_id),
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(with_replaced_values(outer.unwrap_or(element).text, &lists))),
        turns,
        ..Chat::default()
    };
    chat.source.project = text(&["workspaceDirectory", "working_dir"]);
    let parts_of_prompt = || {
        let raw = PART_PROMPT_KEYS.iter().find_map(|key| object.raw_value(key))?;
        let parts = Object::parse(raw.get()).and_then(|prompt| prompt.raw_value("parts"));
        Some(nested_text(parts.unwrap_or(raw))).filter(|_| raw.get().starts_with(['[', '{']))
    };
    if let Some(prompt) = text(&PROMPT_KEYS).or_else(parts_of_prompt).filter(|prompt| !prompt.trim().is_empty()) {
        chat.fields.insert("system_prompt".into(), prompt.into());
    }
    let platform = loose.platform.unwrap_or_else(|| platform::of_chat(link.as_deref(), object, raw));
    let stated_id = chat.id.clone();
    if !loose.known_ids.make_unique(files, member, &mut chat, element.text) {
        return Ok(());
    }
    store_embedded(files, member, &chat)?;
    let mut unit = unit(files, member, chat, platform, Some("conversations"));
    if let Some(conversation) = unit.records.first_mut() {
        conversation.origin_id = stated_id;
    }
    files.sink.unit(unit)
}

/// True for a chat that AI Chat Exporter saved, whose `date` is the time of the export.
fn is_dated_by_export(object: &Object<'_>) -> bool {
    ["exporter", "count", "date", "url"].iter().all(|key| object.has(key))
}

/// Sends a tree of Open Assistant: the first prompt of a conversation with all answers below it.
fn send_tree(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    prompt: &RawValue,
) -> Result<(), FormatError> {
    let object = Object::parse(prompt.get()).unwrap_or_default();
    let root = ObjectElement { text: prompt.get(), object, pointer: format!("{}/prompt", element.pointer) };
    let turns = tree::messages_in_message(&root, 0).unwrap_or_else(|| turns_of(&root.object, root.text, &root.pointer));
    let chat = Chat {
        id: first_text(&element.object, &["message_tree_id"]),
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(with_replaced_values(element.text, &[(prompt, "{}")]))),
        turns,
        ..Chat::default()
    };
    let unit = unit(files, member, chat, "other", Some("conversations"));
    files.sink.unit(unit)
}

/// If the person speaks in a chat but no assistant does, gives the role of the assistant to speakers with unknown
/// names, because some programs write the name of a bot instead of a role. The name is stored as the model.
fn name_assistants(turns: &mut [Turn]) {
    let speaks = |role: &str| turns.iter().any(|turn| turn.role == role);
    if !speaks(USER) || speaks(ASSISTANT) {
        return;
    }
    let is_bot = |role: &str| roles::role(role).is_none() && !NO_SPEAKERS.contains(&role.to_lowercase().as_str());
    for turn in turns.iter_mut().filter(|turn| is_bot(&turn.role)) {
        let name = std::mem::replace(&mut turn.role, ASSISTANT.to_owned());
        turn.model.get_or_insert(name);
    }
}

/// Sends the conversations in a response of an API: `{"data": {"conversations": […]}}`. In a backup of a program, the
/// object around the list contains other things too, which become a passthrough file.
fn send_wrapped(
    files: &mut FileReader<'_>,
    member: &Member,
    wrapper: &RawValue,
    at: &str,
    loose: &mut LooseMessages,
) -> Result<(), FormatError> {
    let object = Object::parse(wrapper.get()).unwrap_or_default();
    let lists = ["conversations", "chats", "threads", "items", "results"];
    let conversations = lists.iter().find_map(|key| {
        let raw = object.raw_value(key)?;
        Some((*key, raw, list(raw)?))
    });
    let Some((key, listed, list)) = conversations else {
        let reason = "no_messages: this entry has no messages";
        let place = format!("{}#{at}", member.place);
        files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    for (index, raw) in list.into_iter().enumerate() {
        let pointer = format!("{at}/{key}/{index}");
        // An entry with messages is read as a conversation. Entries with deeper nesting are not read.
        match Object::parse(raw.get()) {
            Some(object) if message_list(&object).is_some() => {
                conversation(files, member, &ObjectElement { text: raw.get(), object, pointer }, loose)?;
            }
            _ => {
                let reason = "no_messages: this entry has no messages";
                let place = format!("{}#{pointer}", member.place);
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            }
        }
    }
    let rest = with_replaced_values(wrapper.get(), &[(listed, "[]")]);
    files.pass_through_wrapper(member, at, &[key], Some(rest))
}

/// Replaces each envelope (`{"message": {"role", "content"}, …}`) with the message in it.
fn without_envelopes(list: Vec<&RawValue>) -> Vec<&RawValue> {
    fn message_in_envelope(raw: &RawValue) -> Option<&RawValue> {
        let envelope = Object::parse(raw.get()).filter(|object| role_name(object).is_none())?;
        envelope
            .raw_value("message")
            .filter(|message| Object::parse(message.get()).is_some_and(|o| role_name(&o).is_some()))
    }
    list.into_iter().map(|raw| message_in_envelope(raw).unwrap_or(raw)).collect()
}

/// The messages of a conversation: a list, or an object whose keys are the ids of the messages.
fn message_list<'a>(object: &Object<'a>) -> Option<(&'static str, &'a RawValue)> {
    let is_list = |raw: &RawValue| raw.get().starts_with('[');
    let is_map = |raw: &RawValue| raw.get().starts_with('{');
    if let Some(found) = pairs::webui_list(object) {
        return Some(found);
    }
    // In a message, or in a question with its answer, a list under one of these keys may contain something other than
    // messages.
    let is_message = role_name(object).is_some() || question_and_answer(object).is_some();
    let is_ambiguous = |key: &str| is_message && matches!(key, "items" | "data");
    let lists = MESSAGE_LISTS.iter().filter(|key| !is_ambiguous(key));
    let lists_found = lists
        .map(|key| (*key, object.raw_value(key)))
        .find_map(|(key, raw)| Some((key, raw.filter(|raw| is_list(raw))?)));
    let map = || Some(("messages", object.raw_value("messages").filter(|raw| is_map(raw))?));
    lists_found.or_else(map).or_else(|| Some((RESULTS, object.raw_value(RESULTS).filter(|raw| has_typed_author(raw))?)))
}

/// True for a list whose first entry states the type of its author as the page of Copilot does.
fn has_typed_author(raw: &RawValue) -> bool {
    let first = list(raw).and_then(|list| Object::parse(list.first()?.get()));
    let author_type = first.and_then(|first| first.object("author")?.text("type"));
    author_type.is_some_and(|author| AUTHOR_TYPES.contains(&&*author))
}

/// True for a conversation. A list of conversations may be under the same key as a list of messages, so the first entry
/// must be a message.
fn has_messages(raw: &RawValue) -> bool {
    let messages = Object::parse(raw.get()).and_then(|object| message_list(&object));
    let first = messages.and_then(|(_, raw)| list(raw)?.into_iter().find_map(|raw| Object::parse(raw.get())));
    first.is_some_and(|message| role_name(&message).is_some() && !message.has("messages"))
}

/// A question and its answer in one entry. Cody writes null if there was no answer.
fn question_and_answer<'a>(object: &Object<'a>) -> Option<(&'a RawValue, &'a RawValue)> {
    if role_name(object).is_some() {
        return None;
    }
    // Training data often has an empty `input` next to the instruction.
    let is_stated = |question: &str| !object.has(INSTRUCTION) || object.non_blank_text(question).is_some();
    let is_null = |key: &str| object.members().find(|(k, raw)| *k == key && raw.get() == "null").map(|(_, raw)| raw);
    let texts = |(question, answer): &(&str, &str)| {
        let null_answer = || is_null(answer).filter(|_| *question == CODY_QUESTION);
        let pair = (object.raw_value(question)?, object.raw_value(answer).or_else(null_answer)?);
        is_stated(question).then_some(pair)
    };
    QUESTION_AND_ANSWER_KEYS.iter().find_map(texts)
}

fn questions(files: &mut FileReader<'_>, member: &Member, list: &[&RawValue], at: &str) -> Vec<Turn> {
    let mut out = Vec::new();
    for (index, raw) in list.iter().enumerate() {
        let pointer = format!("{at}/{index}");
        match Object::parse(raw.get()) {
            Some(object) => out.extend(turns_of(&object, raw.get(), &pointer)),
            None => report_no_message(files, member, &pointer),
        }
    }
    out
}

/// The turns of an entry: one message, or a question and its answer.
fn turns_of(object: &Object<'_>, text: &str, pointer: &str) -> Vec<Turn> {
    let turn = read_message(object, text, pointer.to_owned(), FORMAT_ID);
    let Some((question, answer)) = question_and_answer(object) else { return vec![turn] };
    let turn_of = |role: &str, raw: &RawValue, source: String| {
        let mut content = Content::default();
        content.add(raw);
        let answer_text = anything_llm::answer_in_row(&content.text).filter(|_| role == ASSISTANT);
        // Cody names the model in the answer.
        let model = || first_text(&Object::parse(raw.get())?, &["model"]);
        Turn {
            id: turn.id.as_ref().map(|id| format!("{id}/{role}")),
            role: role.into(),
            text: answer_text.unwrap_or(content.text),
            content_type: "text".into(),
            times: turn.times.clone(),
            model: turn.model.clone().or_else(model).filter(|_| role == ASSISTANT),
            pointer: pointer.to_owned(),
            verbatim: Some(Verbatim::json(source)),
            ..Turn::default()
        }
    };
    // The verbatim of the answer does not contain the question, so erasing the question erases its text completely.
    let instruction = object.raw_value(INSTRUCTION).filter(|raw| raw.get() != question.get());
    let instruction = instruction.filter(|_| object.non_blank_text(INSTRUCTION).is_some());
    let mut cuts = vec![(question, "\"\"")];
    cuts.extend(instruction.map(|raw| (raw, "\"\"")));
    let rest = with_replaced_values(text, &cuts);
    let mut turns: Vec<Turn> = instruction.map(|raw| turn_of(SYSTEM, raw, raw.get().to_owned())).into_iter().collect();
    for turn in &mut turns {
        (turn.hidden, turn.content_type) = (true, "context".into());
    }
    match answer.get() {
        // The question was not answered.
        "null" => turns.push(turn_of(USER, question, text.to_owned())),
        _ => {
            turns.extend([turn_of(USER, question, question.get().to_owned()), turn_of(ASSISTANT, answer, rest)]);
        }
    }
    turns
}

/// The ids of the conversations that have been read from a file so far, each with a digest of the conversation's text.
#[derive(Debug, Default)]
struct KnownIds(HashMap<String, String>);

impl KnownIds {
    /// Makes an id for a conversation that has none, from its title, its time, which may be that of its first message,
    /// and its first question and answer. If another conversation has the same id, adds the digest of the whole text to
    /// the id. Returns false for a conversation that occurs a second time.
    fn make_unique(&mut self, files: &mut FileReader<'_>, member: &Member, chat: &mut Chat, text: &str) -> bool {
        let digest = content_id(text);
        let stated_id = chat.id.clone();
        let id = stated_id.clone().unwrap_or_else(|| {
            let began = chat.times.created.or_else(|| times_of(&chat.turns).created);
            content_id(&format!("{:?}\n{began:?}\n{}", chat.title, beginning(&chat.turns)))
        });
        let place = format!("{}#{}", member.place, chat.pointer);
        match self.0.get(&id) {
            None => {
                self.0.insert(id.clone(), digest);
                chat.id = Some(id);
            }
            Some(known) if *known == digest => {
                let reason = "duplicate: the same conversation occurs twice";
                files.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Conversation));
                return false;
            }
            Some(_) => {
                if stated_id.is_some() {
                    let message = "two conversations have the same id; both are imported";
                    files.sink.note(Issue::new("duplicate_id", place, message));
                }
                let id = format!("{id}~{digest}");
                if self.0.insert(id.clone(), digest).is_some() {
                    return false;
                }
                chat.id = Some(id);
            }
        }
        true
    }
}

/// Loose messages that state the same conversation id and the same owner, or neither.
#[derive(Debug)]
struct LooseChat {
    id: Option<String>,
    /// The name of the workspace. Only files of AnythingLLM state it and the owner of the chat (`person`).
    title: Option<String>,
    person: Option<String>,
    turns: Vec<Turn>,
}

/// Messages outside of conversations. All messages that state the same conversation id and the same owner form one
/// conversation, and so do all messages that state neither.
#[derive(Debug, Default)]
pub(super) struct LooseMessages {
    /// The program that wrote the file, if it is known.
    platform: Option<&'static str>,
    known_ids: KnownIds,
    chats: Vec<LooseChat>,
    positions: HashMap<(Option<String>, Option<String>), usize>,
    bytes: u64,
    /// The first of several lines, if it describes the session.
    header: Option<String>,
}

impl LooseMessages {
    /// An empty list for the messages of a known program.
    pub fn of_platform(platform: &'static str) -> Self {
        Self { platform: Some(platform), ..Self::default() }
    }

    /// Stores the first line if it describes the session whose messages follow. Returns false for any other element.
    fn store_header(&mut self, element: &ObjectElement<'_>) -> bool {
        let object = &element.object;
        let is_first = self.header.is_none() && self.chats.is_empty() && element.pointer.is_empty();
        let is_named = || first_text(object, &ID_KEYS).is_some() || first_text(object, &TITLE_KEYS).is_some();
        let is_header = is_first && (platform::is_goose(object) || is_named());
        if is_header {
            self.header = Some(element.text.to_owned());
        }
        is_header
    }

    fn add(&mut self, files: &FileReader<'_>, member: &Member, element: &ObjectElement<'_>) -> Result<(), FormatError> {
        self.bytes += element.text.len() as u64;
        let limit = files.context.limits.element_bytes;
        if self.bytes > limit {
            return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
        }
        // The key `id` is skipped, because in a message it is the id of the message.
        let id = ID_KEYS.get(3..).and_then(|keys| first_text(&element.object, keys));
        let is_row = question_and_answer(&element.object).is_some();
        let workspace = anything_llm::workspace_of(&element.object).filter(|_| is_row);
        let (id, title, person) = match workspace.filter(|workspace| id.is_none() || workspace.is_answer) {
            Some(workspace) => {
                self.platform = Some(anything_llm::PLATFORM);
                (Some(workspace.id), Some(workspace.title), workspace.person)
            }
            None => (id, None, None),
        };
        let position = *self.positions.entry((id.clone(), person.clone())).or_insert_with(|| {
            self.chats.push(LooseChat { id, title, person, turns: Vec::new() });
            self.chats.len() - 1
        });
        if let Some(LooseChat { turns, .. }) = self.chats.get_mut(position) {
            let branches = tree::messages_in_message(element, turns.len());
            let mut element_turns =
                branches.unwrap_or_else(|| turns_of(&element.object, element.text, &element.pointer));
            element_turns.iter_mut().for_each(cline::separate_added_text);
            turns.extend(element_turns);
        }
        Ok(())
    }

    /// Sends the messages that were added, as conversations.
    pub(super) fn send(self, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        if self.chats.is_empty() && self.header.is_some() {
            let reason = "no_messages: this entry has no messages";
            files.report_dropped(format!("{}#", member.place), DroppedAs::Failed, reason, Some(Kind::Conversation));
        }
        let header = self.header.as_deref().and_then(Object::parse);
        let mut people: HashMap<Option<String>, usize> = HashMap::new();
        self.chats.iter().for_each(|chat| *people.entry(chat.id.clone()).or_default() += 1);
        for LooseChat { id, title, person, mut turns } in self.chats {
            tree::find_roots(&mut turns);
            name_assistants(&mut turns);
            reverse_if_newest_first(&mut turns);
            let ids: std::collections::HashSet<String> = turns.iter().filter_map(|turn| turn.id.clone()).collect();
            // A parent outside the conversation is replaced by the previous message.
            for turn in &mut turns {
                if matches!(&turn.parent, TurnParent::Id(parent) if !ids.contains(parent)) {
                    turn.parent = TurnParent::Previous;
                }
            }
            let id = id.or_else(|| first_text(header.as_ref()?, &ID_KEYS));
            let stated_id = id.clone();
            let is_shared = people.get(&id).is_some_and(|count| *count > 1);
            let id = match person.as_ref().filter(|_| is_shared).zip(id.as_ref()) {
                // Each person gets a separate chat, as in the database.
                Some((person, id)) => Some(format!("{id}/user/{person}")),
                None => id.or_else(|| Some(id_of_messages(&turns))),
            };
            let mut chat = Chat { id, title, turns, ..Chat::default() };
            chat.source.account = person;
            if let Some(header) = &header {
                chat.title = first_text(header, &TITLE_KEYS).or_else(|| first_text(header, &["description"]));
                chat.model = first_text(header, &["model", "model_id", "modelId"]);
                chat.source.project = first_text(header, &["working_dir", "cwd"]);
                chat.times = times(header);
                chat.verbatim = self.header.clone().map(Verbatim::json);
            }
            let named_by_header = || platform::of_session(header.as_ref()?);
            let platform = self.platform.or_else(named_by_header).unwrap_or("other");
            store_embedded(files, member, &chat)?;
            let mut unit = unit(files, member, chat, platform, Some("messages"));
            if let Some(conversation) = unit.records.first_mut() {
                conversation.origin_id = stated_id;
            }
            files.sink.unit(unit)?;
        }
        Ok(())
    }
}

/// The id of a conversation that consists of all messages of a file: a digest of its beginning and, if it is known, of
/// the time of its first message, because many conversations begin with the same words.
fn id_of_messages(turns: &[Turn]) -> String {
    let beginning = beginning(turns);
    content_id(&times_of(turns).created.map_or_else(|| beginning.clone(), |began| format!("{began:?}\n{beginning}")))
}
