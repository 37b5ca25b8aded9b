//! Reads the lines of a session as a conversation. The messages form a tree, because a rewind begins a new branch.
use super::lines::{self, LineKind};
use mementory_format::{FormatError, Member, is_uuid};
use mementory_formats_shared::chat::{Chat, ChatFile, TurnParent};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Kind, Link, RecordKey, Verbatim};
use std::collections::HashMap;

/// Largest number of progress reports that are followed to find the message before them.
const MAX_STEPS: usize = 100_000;

/// Name of the platform iFlow, and the prefix before the UUID in its session ids.
const IFLOW: &str = "iflow";
const IFLOW_SESSION: &str = "session-";

/// The state of a session while its lines are read.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The id of the session.
    pub id: String,
    /// The id of the subagent. None unless this is the session of a subagent.
    pub agent: Option<String>,
    /// Place of the file that contains the first line of the session.
    pub container: String,
    drafts: Vec<Draft>,
    /// Indexes of drafts by the uuids of their lines.
    draft_of: HashMap<String, usize>,
    /// Indexes of drafts by the id of the answer that their lines belong to.
    answer_of: HashMap<String, usize>,
    /// Parent uuids of progress reports, by the uuids of the reports.
    progress_parents: HashMap<String, Option<String>>,
    /// Number of progress reports.
    pub progress_lines: u64,
    other_lines: Vec<String>,
    custom_title: Option<String>,
    ai_title: Option<String>,
    /// The summary in the list of sessions, which may be older than the log.
    listed_title: Option<String>,
    summaries: Vec<(String, Option<String>)>,
    tags: Vec<String>,
    /// Uuid of the last line on the active branch.
    leaf: Option<String>,
    /// Id of the original session, if this session began as a copy of another one.
    forked_from: Option<String>,
    cwd: Option<String>,
    git_branch: Option<String>,
    version: Option<String>,
}

/// The lines of one message.
#[derive(Debug, Default)]
struct Draft {
    /// Uuid of the first line.
    id: Option<String>,
    parent: Option<String>,
    /// True if the source marks the message as the beginning of the conversation.
    is_root: bool,
    uuids: Vec<Option<String>>,
    lines: Vec<String>,
    pointer: String,
    /// True for the result of a tool.
    is_result: bool,
    /// True for a line of the person, which begins a turn.
    is_prompt: bool,
}

#[derive(Debug)]
enum LineParent {
    /// The message at this index.
    Draft(usize),
    /// The line begins the conversation.
    Root,
    /// The message before the line. The line states no parent, or its own message as its parent.
    Previous,
    /// The line with this uuid, which is not in this session.
    Foreign(String),
}

impl Session {
    pub(super) fn new(id: String, agent: Option<String>, container: String) -> Self {
        Self { id, agent, container, ..Self::default() }
    }

    pub(super) fn add(&mut self, text: &str, line: &Object<'_>, pointer: &str) {
        for (field, key) in
            [(&mut self.cwd, "cwd"), (&mut self.git_branch, "gitBranch"), (&mut self.version, "version")]
        {
            if field.is_none() {
                *field = line.non_blank_text(key).map(Into::into);
            }
        }
        let forked_from =
            line.object("forkedFrom").and_then(|source| source.non_blank_text("sessionId").map(|t| t.into_owned()));
        self.forked_from = self.forked_from.take().or(forked_from).filter(|id| *id != self.id);
        match lines::kind_of(line) {
            LineKind::Message => self.add_message(text, line, pointer),
            LineKind::Progress => {
                if let Some(uuid) = line.non_blank_text("uuid") {
                    self.progress_parents.insert(uuid.into_owned(), line.non_blank_text("parentUuid").map(Into::into));
                }
                // The line is stored, because the text of the subagent may not be in any other line.
                let is_agent = line.object("data").is_some_and(|d| d.text("type").as_deref() == Some("agent_progress"));
                if is_agent {
                    self.other_lines.push(text.to_owned());
                } else {
                    self.progress_lines += 1;
                }
            }
            LineKind::Other => {
                self.note_title(line);
                self.other_lines.push(text.to_owned());
            }
        }
    }

    fn note_title(&mut self, line: &Object<'_>) {
        let text = |keys: [&str; 2]| keys.into_iter().find_map(|k| line.non_blank_text(k)).map(|t| t.into_owned());
        match line.text("type").as_deref() {
            Some("custom-title") => self.custom_title = text(["customTitle", "title"]).or(self.custom_title.take()),
            Some("ai-title") => self.ai_title = text(["aiTitle", "title"]).or(self.ai_title.take()),
            Some("summary") => {
                if let Some(summary) = text(["summary", "title"]) {
                    self.summaries.push((summary, text(["leafUuid", "leaf"])));
                }
            }
            Some("tag") => self.tags.extend(text(["tag", "name"])),
            Some("last-prompt") => self.leaf = text(["leafUuid", "leaf"]).or(self.leaf.take()),
            _ => {}
        }
    }

    fn add_message(&mut self, text: &str, line: &Object<'_>, pointer: &str) {
        let uuid = line.non_blank_text("uuid").map(|u| u.into_owned());
        if let Some(at) = uuid.as_ref().and_then(|u| self.draft_of.get(u)) {
            // The line was written again; the later version replaces the earlier one.
            if let Some(draft) = self.drafts.get_mut(*at)
                && let Some(n) = draft.uuids.iter().position(|u| *u == uuid)
            {
                text.clone_into(&mut draft.lines[n]);
            }
            return;
        }
        let kind = line.text("type").unwrap_or_default();
        let is_answer = lines::is_answer(&kind);
        let answer = line.object("message").and_then(|m| m.non_blank_text("id").map(|t| t.into_owned()));
        let answer = answer.filter(|_| is_answer);
        let at = answer.as_ref().and_then(|a| self.answer_of.get(a)).copied().unwrap_or(self.drafts.len());
        if at == self.drafts.len() {
            let parent = line.non_blank_text("parentUuid").or_else(|| line.non_blank_text("logicalParentUuid"));
            let is_of_person = lines::is_person(&kind);
            let is_result = is_of_person && text.contains("\"tool_result\"");
            self.drafts.push(Draft {
                id: uuid.clone(),
                is_root: parent.is_none() && line.has("parentUuid"),
                parent: parent.map(Into::into),
                pointer: pointer.into(),
                is_result,
                is_prompt: is_of_person && !is_result,
                ..Draft::default()
            });
        }
        if let Some(answer) = answer {
            self.answer_of.insert(answer, at);
        }
        if let Some(uuid) = &uuid {
            self.draft_of.insert(uuid.clone(), at);
            if !line.is_true("isSidechain") || self.agent.is_some() {
                self.leaf = Some(uuid.clone());
            }
        }
        if let Some(draft) = self.drafts.get_mut(at) {
            draft.uuids.push(uuid);
            draft.lines.push(text.to_owned());
        }
    }

    /// Sets the title that another program shows for the session, unless the person named the session in its log.
    pub(super) fn note_given_title(&mut self, title: &str) {
        self.custom_title.get_or_insert_with(|| title.to_owned());
    }

    /// Sets the title that the list of sessions has for the session, in case its log has none.
    pub(super) fn note_listed_title(&mut self, title: &str) {
        self.listed_title = Some(title.to_owned());
    }

    /// True if the session has no messages.
    pub(super) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// Uuids of the lines.
    pub(super) fn uuids(&self) -> impl Iterator<Item = &String> {
        self.draft_of.keys()
    }

    /// The key of the conversation.
    pub(super) fn key(&self) -> String {
        match &self.agent {
            Some(agent) => format!("{}/agent-{agent}", self.id),
            None => self.id.clone(),
        }
    }

    /// True for a session of iFlow, whose logs have the same members as those of Claude Code. Other programs that write
    /// logs of this shape name some of their sessions `session-1`, so the prefix alone is not enough.
    fn is_iflow(&self) -> bool {
        self.id.strip_prefix(IFLOW_SESSION).is_some_and(is_uuid)
    }

    /// The parent of each message of iFlow. All answers to a prompt name the prompt as their parent. So a line whose
    /// parent is in the same turn as the previous line follows the previous line. A parent in an earlier turn begins a
    /// branch.
    fn parents_by_turn(&self) -> Vec<TurnParent> {
        let mut turns: Vec<usize> = Vec::with_capacity(self.drafts.len());
        let mut out = Vec::with_capacity(self.drafts.len());
        for (at, draft) in self.drafts.iter().enumerate() {
            let before = at.checked_sub(1);
            let turn_before = before.and_then(|before| turns.get(before)).copied();
            let (parent, turn) = match self.parent_of(at, draft) {
                LineParent::Draft(parent) => {
                    let turn = turns.get(parent).copied();
                    let is_same_turn = turn == turn_before;
                    (TurnParent::At(before.filter(|_| is_same_turn).unwrap_or(parent)), turn)
                }
                LineParent::Root => (TurnParent::Root, None),
                LineParent::Previous => (TurnParent::Previous, turn_before),
                LineParent::Foreign(uuid) => (TurnParent::Id(uuid), None),
            };
            turns.push(turn.filter(|_| !draft.is_prompt).unwrap_or(at));
            out.push(parent);
        }
        out
    }

    /// The parent of each message. The map contains the uuids of parents that are not in this session, by the index of
    /// the message.
    fn parents(&self) -> (Vec<TurnParent>, HashMap<usize, String>) {
        let (mut out, mut parents_elsewhere) = (Vec::with_capacity(self.drafts.len()), HashMap::new());
        // In the log, an answer with parallel calls is the parent of all their results. In the conversation, each
        // result follows the previous result instead.
        let mut answer_of_result: HashMap<usize, usize> = HashMap::new();
        let mut last_result: HashMap<usize, usize> = HashMap::new();
        // Messages without a uuid, such as queued prompts, are inserted after the previous message. This map contains
        // the last inserted message, by the message after which it was inserted. A later line whose parent is the key
        // follows the inserted message instead.
        let mut inserted: HashMap<usize, usize> = HashMap::new();
        let mut base_of: HashMap<usize, usize> = HashMap::new();
        for (at, draft) in self.drafts.iter().enumerate() {
            let found = self.parent_of(at, draft);
            let parent = match &found {
                LineParent::Draft(parent) => {
                    let answer = answer_of_result.get(parent).copied();
                    let last = last_result.get(&answer.unwrap_or(*parent)).copied();
                    let is_result = draft.is_result && answer.is_none();
                    if is_result {
                        answer_of_result.insert(at, *parent);
                        last_result.insert(*parent, at);
                    }
                    let parent = last.filter(|_| is_result || answer.is_some()).unwrap_or(*parent);
                    TurnParent::At(inserted.remove(&parent).unwrap_or(parent))
                }
                LineParent::Root => TurnParent::Root,
                LineParent::Previous => {
                    if let Some(before) = at.checked_sub(1) {
                        let base = base_of.get(&before).copied().unwrap_or(before);
                        base_of.insert(at, base);
                        inserted.insert(base, at);
                    }
                    TurnParent::Previous
                }
                LineParent::Foreign(uuid) => {
                    parents_elsewhere.insert(at, uuid.clone());
                    TurnParent::Id(uuid.clone())
                }
            };
            out.push(parent);
        }
        (out, parents_elsewhere)
    }

    /// Determines the parent of the draft at index `at`. Skips progress reports.
    fn parent_of(&self, at: usize, draft: &Draft) -> LineParent {
        let mut parent = match (&draft.parent, &draft.id) {
            (Some(parent), _) => parent,
            (None, Some(_)) if draft.is_root => return LineParent::Root,
            (None, _) => return LineParent::Previous,
        };
        for _ in 0..MAX_STEPS {
            match self.draft_of.get(parent) {
                Some(found) if *found != at => return LineParent::Draft(*found),
                Some(_) => return LineParent::Previous,
                None => match self.progress_parents.get(parent) {
                    Some(Some(next)) => parent = next,
                    Some(None) => return LineParent::Root,
                    None => break,
                },
            }
        }
        LineParent::Foreign(parent.clone())
    }

    /// Sends the conversation. `session_of` maps the uuid of each line that was read to the session of the line.
    pub(super) fn send(
        mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        session_of: &HashMap<String, String>,
    ) -> Result<(), FormatError> {
        let key = self.key();
        let mut chat = Chat { id: Some(key.clone()), is_log: true, ..Chat::default() };
        let leaf = self.leaf.as_ref().and_then(|uuid| self.draft_of.get(uuid));
        chat.leaf = leaf.and_then(|at| self.drafts.get(*at)?.id.clone());
        let is_leaf_of_session = |leaf: &Option<String>| leaf.as_ref().is_none_or(|l| self.draft_of.contains_key(l));
        let summary =
            self.summaries.iter().rev().find(|(_, leaf)| is_leaf_of_session(leaf)).map(|(text, _)| text.clone());
        chat.title = self.custom_title.take().or_else(|| self.ai_title.take()).or(summary).or(self.listed_title.take());
        chat.tags = std::mem::take(&mut self.tags);
        chat.source.project = self.cwd.take();
        for (name, value) in [("git_branch", self.git_branch.take()), ("version", self.version.take())] {
            if let Some(value) = value {
                chat.fields.insert(name.into(), value.into());
            }
        }
        if self.agent.is_some() {
            chat.record_type = Some("subagent".into());
        }
        let mut links: Vec<(&str, String)> = self.forked_from.take().map(|id| ("continues", id)).into_iter().collect();
        let is_iflow = self.is_iflow();
        let (parents, parents_elsewhere) =
            if is_iflow { (self.parents_by_turn(), HashMap::new()) } else { self.parents() };
        for (at, (draft, parent)) in std::mem::take(&mut self.drafts).into_iter().zip(parents).enumerate() {
            let (mut turn, mut content) = lines::message(&draft.lines, self.agent.is_some());
            reader.store_files(member, &mut content)?;
            turn.parent = match parents_elsewhere.get(&at).and_then(|uuid| session_of.get(uuid)).filter(|s| **s != key)
            {
                Some(session) => {
                    links.push(("continues", session.clone()));
                    TurnParent::Root
                }
                None => parent,
            };
            turn.pointer = draft.pointer;
            turn.id = draft.id;
            chat.note_time(turn.times.created);
            chat.note_time(turn.times.updated);
            turn.verbatim = Some(verbatim_of(draft.lines));
            chat.turns.push(turn);
        }
        for line in &self.other_lines {
            if chat.turns.is_empty()
                && let Some(line) = Object::parse(line)
            {
                chat.note_time(any_time(&line, "timestamp"));
            }
        }
        if !self.other_lines.is_empty() {
            chat.verbatim = Some(verbatim_of(std::mem::take(&mut self.other_lines)));
        }
        if self.agent.is_some() {
            links.push(("subagent_of", self.id.clone()));
        }
        let file = super::chat_file(&self.container);
        let file = if is_iflow { ChatFile { platform: IFLOW, ..file } } else { file };
        send(reader, chat, file, links)
    }
}

/// The unchanged lines of the log.
fn verbatim_of(mut lines: Vec<String>) -> Verbatim {
    match (lines.len(), lines.pop()) {
        (1, Some(line)) => Verbatim::json(line),
        (_, last) => {
            lines.extend(last);
            Verbatim { media_type: "application/x-ndjson".into(), text: lines.join("\n") }
        }
    }
}

fn send(
    reader: &mut FileReader<'_>,
    chat: Chat,
    file: ChatFile<'_>,
    links: Vec<(&str, String)>,
) -> Result<(), FormatError> {
    let mut issues = Vec::new();
    let mut unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    if let Some(record) = unit.records.first_mut() {
        for (relation, id) in links {
            let target = RecordKey::new(super::FORMAT, id);
            if record.links.iter().all(|link| link.target != target) {
                record.links.push(Link { relation: relation.into(), kind: Kind::Conversation, target });
            }
        }
    }
    reader.sink.unit(unit)
}
