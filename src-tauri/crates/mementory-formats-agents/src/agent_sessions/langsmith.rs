//! Reads runs that were exported from LangSmith: one on each line, a list, or a list under `runs` or `traces`, in which
//! a run may contain its `child_runs`. The runs of a thread are a conversation. The run at the top of a trace says what
//! the person asked and what was answered, so the runs inside it are only read if it has no messages itself.
use super::langsmith_messages::{RunMessage, messages_of};
use super::session::Session;
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::agent_content::AgentContent;
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::memory_heads::Head;
use mementory_formats_shared::object::{Object, content_id, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::redact::redact;
use mementory_formats_shared::values::{first_id, first_text, id};
use mementory_model::{Kind, Timestamp, Verbatim};
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

const PLATFORM: &str = "langsmith";
/// Members under which a file lists its runs.
const LISTS: [&str; 2] = ["runs", "traces"];
/// Members of the metadata that name the thread of a run.
const THREAD_KEYS: [&str; 3] = ["thread_id", "session_id", "conversation_id"];
/// Members that only runs have, besides their inputs and outputs.
const RUN_KEYS: [&str; 5] = ["trace_id", "parent_run_id", "dotted_order", "child_runs", "run_id"];

/// True if a file consists of runs.
pub(super) fn is_export(catalog: &Catalog, member: &Member) -> bool {
    let Some(head) = Head::candidate(catalog, member) else { return false };
    ["", LISTS[0], LISTS[1]].into_iter().any(|list| {
        head.has_all(list, &["run_type", "name"])
            && head.has_any(list, &["inputs", "outputs"])
            && head.has_any(list, &RUN_KEYS)
    })
}

/// A run whose text is kept until all runs of its thread are known.
struct Run {
    text: String,
    pointer: String,
    trace: String,
    is_top: bool,
    /// True for a request to a model.
    is_model: bool,
    start: Option<Timestamp>,
}

/// Reads the runs of a file.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut runs: Vec<(String, Run)> = Vec::new();
    let mut bytes = 0;
    reader.objects(member, &LISTS, Kind::Message, |reader, element| {
        if !reader.add_message_size(&mut bytes, member, element, "export") {
            return Ok(());
        }
        runs.push(run_of(element));
        Ok(())
    })?;
    let mut unread_count = 0;
    for (id, mut runs) in grouped(runs) {
        runs.sort_by_key(|run| run.start);
        let mut thread = Thread::default();
        thread.session.chat.id = Some(id);
        thread.add_runs(reader, member, &runs)?;
        unread_count += thread.unread_count;
        thread.session.send(reader, member, PLATFORM)?;
    }
    Session::report_skipped(reader, member, unread_count, "runs inside other runs, or without messages");
    Ok(())
}

/// The values of each key. Keys and values are in the order of their first occurrence.
fn grouped<K: Clone + Eq + Hash, V>(items: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for (key, value) in items {
        let place = *places.entry(key.clone()).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(value);
    }
    groups
}

fn run_of(element: &ObjectElement<'_>) -> (String, Run) {
    let run = &element.object;
    let own_id = first_id(run, &["id", "run_id"]);
    let trace = id(run, "trace_id").or_else(|| own_id.clone()).unwrap_or_else(|| content_id(element.text));
    let is_top = id(run, "parent_run_id").is_none() && own_id.is_none_or(|own_id| own_id == trace);
    let extra = run.object("extra").and_then(|extra| extra.object("metadata"));
    let metadata = [extra, run.object("metadata")];
    let stated = metadata.iter().flatten().find_map(|metadata| first_id(metadata, &THREAD_KEYS));
    let thread = stated.or_else(|| id(run, "thread_id")).unwrap_or_else(|| trace.clone());
    let run = Run {
        text: element.text.to_owned(),
        pointer: element.pointer.clone(),
        trace,
        is_top,
        is_model: is_request(run),
        start: any_time(run, "start_time"),
    };
    (thread, run)
}

/// A thread while its runs are read.
#[derive(Default)]
struct Thread {
    session: Session,
    ids: HashSet<String>,
    /// Number of added messages, by a digest of their role and content.
    added: HashMap<String, usize>,
    last: String,
    unread_count: u64,
}

impl Thread {
    /// Adds the messages of the runs of a thread, which are in the order of their beginning.
    fn add_runs(&mut self, reader: &mut FileReader<'_>, member: &Member, runs: &[Run]) -> Result<(), FormatError> {
        for (_, runs) in grouped(runs.iter().map(|run| (run.trace.as_str(), run))) {
            let mut is_top_read = false;
            for run in runs.iter().filter(|run| run.is_top) {
                is_top_read |= self.add_run(reader, member, &run.text, &run.pointer)?;
            }
            for run in runs.iter().filter(|run| !run.is_top) {
                if is_top_read || !run.is_model || !self.add_run(reader, member, &run.text, &run.pointer)? {
                    self.unread_count += 1;
                }
            }
        }
        Ok(())
    }

    /// Adds the messages of a run, or of the requests to a model inside it if it has none. Returns false if there are
    /// none.
    fn add_run(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        text: &str,
        pointer: &str,
    ) -> Result<bool, FormatError> {
        let Some(run) = Object::parse(text) else { return Ok(false) };
        let mut cuts = Vec::new();
        let is_read = self.add_messages(reader, member, (&run, pointer), &mut cuts)?;
        let mut inner: Vec<(Object<'_>, String)> = children(&run, pointer);
        let mut is_any_read = is_read;
        while let Some((child, at)) = inner.pop() {
            if !is_read && is_request(&child) && self.add_messages(reader, member, (&child, at.as_str()), &mut cuts)? {
                is_any_read = true;
            } else {
                self.unread_count += 1;
            }
            inner.extend(children(&child, &at));
        }
        let chat = &mut self.session.chat;
        chat.source.project = chat.source.project.take().or_else(|| first_text(&run, &["session_name"]));
        // The runs inside a run repeat its messages.
        cuts.extend(run.raw_value("child_runs").map(|children| (children, "[]")));
        let (rest, secret_count) = redact(&with_replaced_values(text, &cuts));
        reader.report_secrets(format!("{}#{pointer}", member.place), secret_count, "messages");
        self.session.other_lines.push(rest);
        Ok(is_any_read)
    }

    /// Adds the messages that a run received and those that it returned, unless an earlier run had them. Their places
    /// are added to `cuts`.
    fn add_messages<'a>(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        (run, at): (&Object<'a>, &str),
        cuts: &mut Vec<(&'a RawValue, &'static str)>,
    ) -> Result<bool, FormatError> {
        let times = [any_time(run, "start_time"), any_time(run, "end_time")];
        let metadata = run.object("extra").and_then(|extra| extra.object("metadata")).unwrap_or_default();
        let model = first_text(&metadata, &["ls_model_name"]);
        let mut has_messages = false;
        for (is_answer, (key, time)) in [false, true].into_iter().zip(["inputs", "outputs"].into_iter().zip(times)) {
            let messages = messages_of(run, key, is_answer);
            let is_only = messages.len() == 1;
            // Number of times that each message has occurred in this list so far.
            let mut occurrences: HashMap<String, usize> = HashMap::new();
            for message in messages {
                has_messages = true;
                cuts.push((message.raw, message.replacement));
                let mut turn = Turn {
                    id: message.id.clone(),
                    role: message.role.into(),
                    model: message.model.clone().or_else(|| model.clone()).filter(|_| message.role == "assistant"),
                    pointer: format!("{at}/{key}"),
                    verbatim: Some(Verbatim::json(message.raw.get())),
                    ..Turn::default()
                };
                turn.times.created = time;
                self.add(reader, member, (turn, message), &mut occurrences, is_only)?;
            }
        }
        Ok(has_messages)
    }

    /// Adds a message, unless it was added before: a run repeats the messages before it. The only message of a list is
    /// also new if it differs from the message added last.
    fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        (turn, message): (Turn, RunMessage<'_>),
        occurrences: &mut HashMap<String, usize>,
        is_only: bool,
    ) -> Result<(), FormatError> {
        let content: AgentContent = message.content;
        if content.text.trim().is_empty() && content.blocks.is_empty() && content.files.is_empty() {
            return Ok(());
        }
        let digest = content_id(&format!("{}\n{}\n{:?}", turn.role, content.text, content.blocks));
        let count = occurrences.entry(digest.clone()).or_default();
        *count += 1;
        let added = self.added.get(&digest).copied().unwrap_or_default();
        let is_known_id = turn.id.as_ref().is_some_and(|id| !self.ids.insert(id.clone()));
        let is_new = *count > added || is_only && self.last != digest;
        if is_known_id || !is_new {
            return Ok(());
        }
        *self.added.entry(digest.clone()).or_default() += 1;
        self.last = digest;
        self.session.push(reader, member, turn, content)?;
        Ok(())
    }
}

/// True for a run that is a request to a model.
fn is_request(run: &Object<'_>) -> bool {
    run.text("run_type").as_deref() == Some("llm")
}

/// The runs inside a run, with their places, the first at the end.
fn children<'a>(run: &Object<'a>, at: &str) -> Vec<(Object<'a>, String)> {
    let children = run.objects("child_runs").enumerate();
    let mut out: Vec<_> = children.map(|(n, child)| (child, format!("{at}/child_runs/{n}"))).collect();
    out.reverse();
    out
}
