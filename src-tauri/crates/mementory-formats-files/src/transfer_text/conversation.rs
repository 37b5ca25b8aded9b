//! A conversation from the turns of a text.
use super::FORMAT_ID;
use super::entries::text_id;
use super::folded;
use super::head;
use super::headed_export;
use super::speaker::{Style, time_in};
use super::transcript::{Transcript, Turn};
use mementory_format::Member;
use mementory_formats_shared::roles;
use mementory_model::{Kind, MessagePart, Origin, Record, RecordKey, Source, Unit, Verbatim};

/// Assistants whose name may be in the label of a turn or in the file name.
const ASSISTANTS: [&str; 8] = ["chatgpt", "claude", "gemini", "copilot", "grok", "deepseek", "mistral", "perplexity"];
/// Programs whose sessions SpecStory exports, each with its platform.
const PROGRAMS: [(&str, &str); 6] = [
    ("Claude Code", "claude-code"),
    ("Cursor", "cursor"),
    ("Codex", "codex"),
    ("Gemini CLI", "gemini-cli"),
    ("Copilot", "github-copilot"),
    ("Windsurf", "windsurf"),
];

/// Name of the platform of the editor Cursor, and what it writes above a chat that it exports, before its version.
const CURSOR: &str = "cursor";
const CURSOR_MARK: &str = " from Cursor (";

/// Headings that programs write above every conversation.
const PROGRAM_TITLES: [&str; 3] = ["SpecStory", "Cascade Chat Conversation", headed_export::COPILOT_TITLE];

/// Heading of the first turn in an export of Gemini Voyager.
const FIRST_TURN: &str = "Turn 1";

/// The file that a text is in.
pub(super) struct TextSource<'p> {
    pub member: &'p Member,
    pub version: Option<&'p str>,
}

impl TextSource<'_> {
    pub(super) fn origin(&self, line: usize) -> Origin {
        Origin {
            format: FORMAT_ID.into(),
            version: self.version.map(Into::into),
            container: self.member.place.clone(),
            pointer: format!("line {line}"),
        }
    }
}

/// The session that a comment in the head of a file names: `<!-- Claude Code Session <id> (<time>) -->`.
struct Session<'t> {
    program: &'t str,
    id: &'t str,
}

fn session_of(preamble: &str) -> Option<Session<'_>> {
    preamble.lines().find_map(|line| {
        let comment = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
        let (program, rest) = comment.split_once(" Session ")?;
        let id = rest.split_whitespace().next()?;
        Some(Session { program, id })
    })
}

/// The conversation with its messages. `text` is its text.
pub(super) fn unit(transcript: &Transcript, text: &str, place: &TextSource<'_>) -> Unit {
    let is_export = transcript.style == Some(Style::Export);
    let session = session_of(&transcript.preamble).filter(|_| is_export);
    // The session's id identifies the conversation, because it stays the same if the session is continued and exported
    // again.
    let session_id = session.as_ref().map(|session| session.id).or(transcript.session.as_deref());
    let id = session_id.map_or_else(|| text_id("", text.trim()), |id| format!("session/{id}"));
    let source = Source {
        platform: platform(transcript, session.as_ref(), place),
        conversation: Some(id.clone()),
        method: (!is_export).then(|| "pasted".into()),
        ..Source::default()
    };
    let mut head =
        Record::new(Kind::Conversation, RecordKey::new(FORMAT_ID, id.as_str()), transcript.preamble.as_str());
    head.origin_id = Some(session_id.map_or_else(|| id.clone(), str::to_owned));
    head.title = title(transcript, place);
    head.times.created = transcript.started.or_else(|| transcript.turns.iter().filter_map(|turn| turn.time).min());
    head.times.updated = transcript.turns.iter().filter_map(|turn| turn.time).max();
    head.source = Source { conversation: None, ..source.clone() };
    head.origin = place.origin(1);
    if let Some(session) = &session {
        head.fields.insert("program".into(), session.program.into());
    }
    let key = head.key.clone();
    let mut records = vec![head];
    for (position, turn) in transcript.turns.iter().enumerate() {
        let mut record = message(turn, &id, position, is_export);
        record.source = source.clone();
        record.origin = place.origin(turn.line);
        record.parent = Some(key.clone());
        records.push(record);
    }
    Unit { records }
}

fn message(turn: &Turn, conversation: &str, position: usize, is_export: bool) -> Record {
    let (text, blocks) = match is_export && turn.role == roles::ASSISTANT {
        true => folded::split(&turn.text),
        false => (turn.text.clone(), Vec::new()),
    };
    let is_tool_only = text.is_empty() && !blocks.is_empty();
    let key = |position: usize| RecordKey::new(FORMAT_ID, format!("{conversation}/{position}"));
    let mut record = Record::new(Kind::Message, key(position), text);
    record.times.created = turn.time;
    record.verbatim = Some(Verbatim { media_type: "text/plain".into(), text: turn.source.clone() });
    if !blocks.is_empty() {
        record.fields.insert("blocks".into(), blocks.into());
    }
    let content_type = match turn.role {
        roles::SYSTEM => "context",
        roles::TOOL => "tool_result",
        _ if is_tool_only => "tool_call",
        _ => "text",
    };
    record.message = Some(MessagePart {
        role: turn.role.into(),
        parent: position.checked_sub(1).map(key),
        position: u32::try_from(position).unwrap_or(u32::MAX),
        hidden: content_type != "text",
        active: true,
        model: turn.model.clone(),
        content_type: content_type.into(),
    });
    record
}

fn platform(transcript: &Transcript, session: Option<&Session<'_>>, place: &TextSource<'_>) -> String {
    if let Some(platform) = transcript.platform {
        return platform.into();
    }
    if let Some(session) = session {
        let known_program = PROGRAMS.iter().find(|(name, _)| session.program.starts_with(name));
        return known_program.map_or("other", |(_, platform)| *platform).into();
    }
    if let Some(platform) = head::platform(&transcript.preamble) {
        return platform.into();
    }
    if transcript.preamble.contains(CURSOR_MARK) {
        return CURSOR.into();
    }
    let name = place.member.file_name().to_lowercase();
    let labels: Vec<String> = transcript.turns.iter().map(|turn| turn.label.to_lowercase()).collect();
    let is_from = |who: &str| labels.iter().any(|label| label.starts_with(who)) || name.contains(who);
    ASSISTANTS.into_iter().find(|who| is_from(who)).unwrap_or("other").into()
}

/// The last heading before the turns that is not only a time. If there is no such heading, the title in the front
/// matter, the file name, or else the first line of the first turn that has text.
fn title(transcript: &Transcript, place: &TextSource<'_>) -> Option<String> {
    let mut headings = transcript.preamble.lines().filter_map(|line| {
        let line = line.trim();
        let title = line.trim_start_matches('#');
        (title.len() < line.len()).then(|| title.trim())
    });
    let is_title = |title: &&str| {
        let is_time = time_in(title).is_some_and(|(before, _)| before.is_empty());
        !title.is_empty() && !is_time && !PROGRAM_TITLES.contains(title) && *title != FIRST_TURN
    };
    let heading = headings.rfind(is_title).map(str::to_owned);
    let stem = || place.member.file_name().rsplit_once('.').map(|(stem, _)| stem.to_owned());
    let first_text = || transcript.turns.iter().find(|turn| !turn.text.is_empty()).map(|turn| first_line(&turn.text));
    let in_front = || head::title(&transcript.preamble).map(str::to_owned);
    transcript.title.clone().or(heading).or_else(in_front).or_else(stem).or_else(first_text)
}

/// The first line of a text, shortened to 60 characters, without the spaces with which Markdown breaks a line.
pub(super) fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim_end();
    if line.chars().count() <= 60 { line.to_owned() } else { line.chars().take(59).chain(['…']).collect() }
}
