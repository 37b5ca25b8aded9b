//! Reads sessions of Kiro CLI, which was called Amazon Q before: a saved session in one object, or the database with
//! all sessions. Each entry of the history has a prompt and its answer.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::{first_time, text_time};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::content::{Content, nested_text};
use mementory_formats_shared::message::{first_text, report_no_message, send};
use mementory_formats_shared::object::{Object, content_id, decode_string, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, USER};
use mementory_formats_shared::sqlite::{Database, column_text, unreadable};
use mementory_formats_shared::sqlite_rows::{self, Schema, each_row, report_other_tables, tables, text_or_number_in};
use mementory_model::{DroppedAs, Issue, Kind, Times, Verbatim};
use serde_json::{Value, value::RawValue};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

const PLATFORM: &str = "kiro";
/// Prompts that the program itself writes: if the person interrupts or denies a tool with a key, or continues a session
/// without a prompt; if an answer takes too long; and if the history is too long.
const PROGRAM_PROMPTS: [&str; 5] = [
    "The user interrupted the tool execution.",
    "I deny this tool request. Ask a follow up question clarifying the expected action",
    "In a few words, summarize our conversation so far.",
    "You took too long to respond - try to split up the work into smaller steps.",
    "The conversation history has overflowed, clearing state",
];
/// Beginning of longer prompts that the program writes.
const SYSTEM_NOTE_START: &str = "[SYSTEM NOTE: This is an automated ";
/// Beginning and end of the prompt that the program writes if the settings forbid the use of a tool.
const FORBIDDEN_TOOL_PROMPT: (&str, &str) =
    ("Tool use with ", " was rejected because the arguments supplied were forbidden");
/// The result of a tool that the person cancelled.
const CANCELLED_RESULT: &str = "Tool use was cancelled by the user";
/// Text that the program writes as the result of a tool that returns only pictures, and in place of an empty result.
const RESULTS_WITHOUT_TEXT: [&str; 2] = ["See images data supplied", "<tool result redacted>"];
/// Tables with sessions, the newer one first. Newer versions copy the sessions of the older table.
const TABLES: [&str; 2] = ["conversations_v2", "conversations"];

/// True for the database of the program.
pub(super) fn is_database(schema: &Schema) -> bool {
    let has = |table: &str, columns: &[&str]| schema.has_table(table, columns);
    // Other programs may have a table with such general names, so a second table is required.
    has("conversations_v2", &["key", "conversation_id", "value"])
        || has("conversations", &["key", "value"]) && has("auth_kv", &["key", "value"])
}

/// True for a prompt that the program writes.
pub(super) fn is_program_prompt(prompt: &str) -> bool {
    let prompt = prompt.trim();
    let is_forbidden = || prompt.starts_with(FORBIDDEN_TOOL_PROMPT.0) && prompt.ends_with(FORBIDDEN_TOOL_PROMPT.1);
    PROGRAM_PROMPTS.contains(&prompt) || prompt.starts_with(SYSTEM_NOTE_START) || is_forbidden()
}

/// Sends a saved session.
pub(super) fn read_saved(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let chat = session(files, member, &element.object, element.text, &element.pointer, None, Times::default());
    send(files, member, chat, PLATFORM, None)
}

/// Sends the sessions of a database. Opening the database neither locks nor changes anything.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    let mut ids_before = HashSet::new();
    for table in TABLES.into_iter().filter(|table| names.iter().any(|name| name == table)) {
        let repeated = repeated_ids(&database, table);
        let mut ids = HashSet::new();
        // Sessions with several rows in the table, by id, and the total size of these rows so far.
        let (mut merged_chats, mut bytes): (BTreeMap<String, Chat>, u64) = (BTreeMap::new(), 0);
        each_row(files, member, &database, table, |files, row, number| {
            let pointer = format!("{table}/row {number}");
            let place = format!("{}#{pointer}", member.place);
            let text = text_or_number_in(&row, "value").unwrap_or_default();
            let Some(state) = Object::parse(&text).filter(|state| state.has("history")) else {
                let reason = "no_messages: this session has no history";
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
                return Ok(());
            };
            let id = first_text(&state, &["conversation_id"]).unwrap_or_else(|| content_id(&text));
            let is_repeated = repeated.contains(&id);
            if ids_before.contains(&id) || ids.contains(&id) && !is_repeated {
                let reason = "duplicate: a session with the same id was read before it";
                files.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Conversation));
                return Ok(());
            }
            // Only sessions with several rows stay in memory until all rows are read, so only they count towards the
            // limit.
            let bytes_after = bytes + if is_repeated { text.len() as u64 } else { 0 };
            if bytes_after > files.context.limits.element_bytes {
                let reason = "too_large: the sessions with several rows are larger together than an element may be";
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
                return Ok(());
            }
            bytes = bytes_after;
            ids.insert(id.clone());
            let time = |name: &str| text_or_number_in(&row, name).as_deref().and_then(text_time);
            let times = Times { created: time("created_at"), updated: time("updated_at"), ..Times::default() };
            let chat = session(files, member, &state, &text, &pointer, text_or_number_in(&row, "key"), times);
            if !is_repeated {
                return send(files, member, chat, PLATFORM, None);
            }
            match merged_chats.get_mut(&id) {
                Some(known) => {
                    let message = "this session has several rows; their messages are in one conversation";
                    files.sink.note(Issue::new("duplicate_id", &place, message));
                    merge(known, chat);
                }
                None => {
                    merged_chats.insert(id, chat);
                }
            }
            Ok(())
        })?;
        for chat in merged_chats.into_values() {
            send(files, member, chat, PLATFORM, None)?;
        }
        ids_before.extend(ids);
    }
    report_other_tables(files, member, &database, &names, |table| match table {
        _ if TABLES.contains(&table) => None,
        "auth_kv" => Some("it has keys of the account"),
        "history" => Some("it has commands of the shell"),
        _ => Some("it has no sessions"),
    });
    Ok(())
}

/// Ids of the sessions with several rows in the table. If a session is loaded in another folder, the program saves a
/// copy there, and the person can continue both copies.
fn repeated_ids(database: &Database, table: &str) -> HashSet<String> {
    let (mut ids, mut repeated) = (HashSet::new(), HashSet::new());
    let Ok(mut statement) = database.connection.prepare(&format!("SELECT value FROM \"{table}\"")) else {
        return repeated;
    };
    let Ok(mut rows) = statement.query([]) else { return repeated };
    for _ in 0..database.max_rows {
        let Ok(Some(row)) = rows.next() else { break };
        let Some(text) = row.get_ref(0).ok().and_then(column_text) else { continue };
        let id = Object::parse(&text).and_then(|state| first_text(&state, &["conversation_id"]));
        repeated.extend(id.filter(|id| !ids.insert(id.clone())));
    }
    repeated
}

/// Adds to `known` the turns that only `other` has. If a turn in `known` has only the results of a cancelled tool, and
/// `other` still has the person's words for this turn, the words replace the results.
fn merge(known: &mut Chat, other: Chat) {
    let key_of = |turn: &Turn| turn.key.clone().or_else(|| turn.id.clone());
    let positions: HashMap<Option<String>, usize> =
        known.turns.iter().enumerate().map(|(at, turn)| (key_of(turn), at)).collect();
    for turn in other.turns {
        let position = positions.get(&key_of(&turn)).copied();
        match position.and_then(|at| known.turns.get_mut(at)) {
            None => known.turns.push(turn),
            Some(same) if same.role != USER && has_words_and_results(&turn) => *same = turn,
            Some(_) => {}
        }
    }
    if known.turns.iter().all(|turn| turn.times.created.is_some()) {
        known.turns.sort_by_key(|turn| turn.times.created);
    }
    known.times.created = known.times.created.into_iter().chain(other.times.created).min();
    known.times.updated = known.times.updated.max(other.times.updated);
}

/// True for a turn in which the person wrote a text instead of allowing a tool. A shortened history contains only the
/// tool's results of such a turn.
fn has_words_and_results(turn: &Turn) -> bool {
    let blocks = turn.fields.get("blocks").and_then(Value::as_array);
    turn.role == USER
        && blocks.into_iter().flatten().any(|block| block.get("type").is_some_and(|kind| kind == "tool_result"))
}

/// The conversation of a session. `folder` is the working folder, if it is stated next to the session.
fn session(
    files: &mut FileReader<'_>,
    member: &Member,
    state: &Object<'_>,
    text: &str,
    pointer: &str,
    folder: Option<String>,
    times: Times,
) -> Chat {
    let history = state.raw_value("history").filter(|raw| raw.get().starts_with('['));
    // Besides `history`, `transcript` and `tangent_state` repeat the texts of the messages.
    let repeated_values =
        ["transcript", "tangent_state"].iter().filter_map(|key| Some((state.raw_value(key)?, "null")));
    let replacements: Vec<_> = history.map(|history| (history, "[]")).into_iter().chain(repeated_values).collect();
    let mut chat = Chat {
        id: first_text(state, &["conversation_id"]),
        times,
        is_log: true,
        pointer: pointer.to_owned(),
        verbatim: Some(Verbatim::json(with_replaced_values(text, &replacements))),
        ..Chat::default()
    };
    chat.source.project = folder;
    let mut count_of: HashMap<String, u32> = HashMap::new();
    let mut has_time = false;
    for (index, raw) in history.and_then(list).into_iter().flatten().enumerate() {
        let at = format!("{pointer}/history/{index}");
        let Some(entry) = Entry::parse(raw) else {
            report_no_message(files, member, &at);
            continue;
        };
        let environment = entry.prompt.object("env_context").and_then(|context| context.object("env_state"));
        let folder = environment.and_then(|state| first_text(&state, &["current_working_directory"]));
        chat.source.project = chat.source.project.take().or(folder);
        let is_first = index == 0;
        // In versions that store times, everything that a person types has a time. A prompt without a time was written
        // by the program, or it comes from an older version. If it comes from an older version, no entry before it has
        // a time.
        let is_untimed = entry.is_untimed() && (has_time || is_first && entry.is_first_of_shortened(state));
        has_time |= entry.prompt.raw_value("timestamp").is_some();
        let prompt = entry.prompt_turn(is_untimed, is_first);
        chat.turns.extend(entry.turns(raw, &at, prompt, &mut count_of));
    }
    let turn_times = || chat.turns.iter().filter_map(|turn| turn.times.created);
    let (first, last) = (turn_times().min(), turn_times().max());
    chat.times.created = chat.times.created.or(first);
    chat.times.updated = chat.times.updated.or(last);
    chat
}

/// True if `words` consists only of `text`, once or several times.
fn consists_of(words: &str, text: &str) -> bool {
    words.contains(text) && words.split(text).all(|rest| rest.trim().is_empty())
}

/// True if the person typed these words in the session. The transcript contains them after the mark `> `.
fn was_typed(state: &Object<'_>, words: &str) -> bool {
    let transcript_lines = state.list("transcript").unwrap_or_default();
    let mut transcript_lines = transcript_lines.into_iter().filter_map(decode_string);
    // All lines but the last also end with the mark.
    transcript_lines
        .any(|text| text.strip_prefix("> ").is_some_and(|typed| typed.replace("> \n", "\n").trim() == words.trim()))
}

/// A prompt and its answer.
struct Entry<'a> {
    prompt: Object<'a>,
    answer: Object<'a>,
    metadata: Object<'a>,
    raw_prompt: Option<&'a RawValue>,
    raw_answer: Option<&'a RawValue>,
}

impl<'a> Entry<'a> {
    /// An entry is an object, or in older versions a list of the prompt and the answer.
    fn parse(raw: &'a RawValue) -> Option<Self> {
        if let Some(pair) = list(raw) {
            let object = |at: usize| Object::parse(pair.get(at)?.get());
            return Some(Self {
                prompt: object(0)?,
                answer: object(1).unwrap_or_default(),
                metadata: Object::default(),
                raw_prompt: pair.first().copied(),
                raw_answer: pair.get(1).copied(),
            });
        }
        let entry = Object::parse(raw.get())?;
        let object = |key: &str| entry.object(key);
        Some(Self {
            prompt: object("user")?,
            answer: object("assistant").unwrap_or_default(),
            metadata: object("request_metadata").unwrap_or_default(),
            raw_prompt: entry.raw_value("user"),
            raw_answer: entry.raw_value("assistant"),
        })
    }

    /// The prompt and its answer. `count_of` counts the earlier entries that have no id, by their content.
    fn turns(&self, raw: &RawValue, pointer: &str, mut prompt: Turn, count_of: &mut HashMap<String, u32>) -> Vec<Turn> {
        let answer = ["Response", "ToolUse"].iter().find_map(|key| self.answer.object(key));
        let id = answer.as_ref().and_then(|answer| first_text(answer, &["message_id"]));
        // The program removes the first entries of a long history, so the position of an entry changes.
        let key = id.clone().unwrap_or_else(|| {
            let key = self.content_key(answer.as_ref());
            let count = count_of.entry(key.clone()).or_default();
            *count += 1;
            if *count > 1 { format!("{key}~{count}") } else { key }
        });
        prompt.key = Some(format!("{key}/prompt"));
        prompt.pointer = format!("{pointer}/user");
        // The verbatim of the prompt omits the answer, and the verbatim of the answer omits the prompt, so that each of
        // them can be erased alone.
        let verbatim_without = |other: Option<&RawValue>| {
            let replacements: Vec<_> = other.into_iter().map(|other| (other, "null")).collect();
            Some(Verbatim::json(with_replaced_values(raw.get(), &replacements)))
        };
        prompt.verbatim = verbatim_without(self.raw_answer);
        let Some(answer) = answer else { return vec![prompt] };
        let mut content = Content::default();
        content.add_text(&answer.text("content").unwrap_or_default());
        for call in answer.list("tool_uses").unwrap_or_default() {
            if let Some(call) = Object::parse(call.get()) {
                content.add_call(&call);
            }
        }
        let mut turn = turn_of(ASSISTANT, content);
        turn.id = id;
        turn.key = Some(key);
        turn.model = first_text(&self.metadata, &["model_id"]);
        turn.times.created = first_time(&self.metadata, &["stream_end_timestamp_ms", "request_start_timestamp_ms"]);
        turn.pointer = format!("{pointer}/assistant");
        turn.verbatim = verbatim_without(self.raw_prompt);
        vec![prompt, turn]
    }

    /// Identifies an entry without an id by its times and its answer. The prompt is included only if there is no time,
    /// because the program rewrites the first prompt when it shortens the history.
    fn content_key(&self, answer: Option<&Object<'_>>) -> String {
        let sent_time = first_text(&self.prompt, &["timestamp"]);
        let times = [sent_time, first_text(&self.metadata, &["request_start_timestamp_ms"])];
        let prompt = self.prompt.raw_value("content").filter(|_| times.iter().all(Option::is_none));
        let prompt = prompt.map(|raw| serde_json::from_str::<Value>(raw.get()).unwrap_or_else(|_| raw.get().into()));
        let answer_text = answer.and_then(|answer| answer.text("content")).unwrap_or_default();
        content_id(&format!("{times:?}\n{answer_text}\n{}", prompt.unwrap_or_default()))
    }

    /// True for a prompt whose time is null. In the oldest versions, a prompt has no member for the time.
    fn is_untimed(&self) -> bool {
        let content = self.prompt.object("content").unwrap_or_default();
        content.has("Prompt") && self.prompt.has("timestamp") && self.prompt.raw_value("timestamp").is_none()
    }

    /// True if this first entry may contain results of tools that the program wrote as a prompt: a summary replaced the
    /// earlier entries, and the person did not type this prompt.
    fn is_first_of_shortened(&self, state: &Object<'_>) -> bool {
        let content = self.prompt.object("content").unwrap_or_default();
        let words = content.object("Prompt").and_then(|said| said.text("prompt").map(Cow::into_owned));
        self.has_request_metadata()
            && state.raw_value("latest_summary").is_some()
            && !was_typed(state, &words.unwrap_or_default())
    }

    fn has_request_metadata(&self) -> bool {
        self.metadata.members().next().is_some()
    }

    /// The turn of the prompt, or of the tool results that were sent instead of a prompt. `is_untimed` is true if the
    /// prompt has no time although everything that the person types has one. `is_first` is true for the first entry.
    fn prompt_turn(&self, is_untimed: bool, is_first: bool) -> Turn {
        let content = self.prompt.object("content").unwrap_or_default();
        let typed_prompt = content.object("Prompt");
        let cancelled = content.object("CancelledToolUses");
        // If the person types a text instead of allowing a tool, the tool calls are cancelled, and the text is stored
        // with them.
        let words =
            typed_prompt.as_ref().or(cancelled.as_ref()).and_then(|from| from.text("prompt")).unwrap_or_default();
        let has_no_text = is_first && RESULTS_WITHOUT_TEXT.iter().any(|text| consists_of(&words, text));
        let is_known_result = has_no_text || consists_of(&words, CANCELLED_RESULT);
        // When the program shortens the history, it writes the results of tools as a prompt.
        let is_rewritten = typed_prompt.is_some() && (is_untimed && self.has_request_metadata() || is_known_result);
        let is_notice = is_untimed || is_program_prompt(&words);
        let results = content.object("ToolUseResults").or(cancelled);
        let is_result = is_rewritten || results.is_some() && (is_notice || words.is_empty());
        let role = if is_result {
            TOOL
        } else if is_notice {
            SYSTEM
        } else {
            USER
        };
        let mut turn_content = Content::default();
        match role {
            TOOL => turn_content.add_block(if is_rewritten { "tool_result" } else { "context" }, None, words),
            _ => turn_content.add_text(&words),
        }
        let results = results.and_then(|results| results.list("tool_use_results")).unwrap_or_default();
        for result in results.into_iter().filter_map(|raw| Object::parse(raw.get())) {
            let parts = result.list("content").unwrap_or_default();
            let texts = parts
                .into_iter()
                .filter_map(|raw| Object::parse(raw.get()))
                .filter_map(|part| ["Text", "Json"].iter().find_map(|key| part.raw_value(key)).map(nested_text));
            turn_content.add_block("tool_result", None, texts.collect::<Vec<_>>().join("\n"));
        }
        let context = self.prompt.text("additional_context").unwrap_or_default();
        turn_content.add_block("context", None, context);
        let mut turn = turn_of(role, turn_content);
        match role {
            TOOL => (turn.content_type, turn.hidden) = ("tool_result".into(), true),
            SYSTEM => (turn.content_type, turn.hidden) = ("context".into(), true),
            _ => {}
        }
        turn.times.created = first_time(&self.prompt, &["timestamp"])
            .or_else(|| first_time(&self.metadata, &["request_start_timestamp_ms"]));
        turn
    }
}

fn turn_of(role: &str, content: Content) -> Turn {
    let content_type = content.content_type();
    let mut turn = Turn {
        role: role.into(),
        content_type: content_type.into(),
        hidden: content_type != "text",
        ..Turn::default()
    };
    content.put_into(&mut turn, FORMAT_ID);
    turn
}
