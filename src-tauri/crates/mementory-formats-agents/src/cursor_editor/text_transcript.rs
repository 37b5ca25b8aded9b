//! Older transcripts of agents: text with lines `user:` and `assistant:`, and marks for thinking and tools.
use super::chat_file;
use mementory_format::{FormatError, Member, is_uuid};
use mementory_formats_shared::agent_content::{AgentContent, push_text};
use mementory_formats_shared::chat::{Chat, Turn, is_tool_type};
use mementory_formats_shared::files::without_extension;
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_model::Verbatim;

/// Marks of blocks. Indented lines below a mark belong to its block.
const BLOCK_MARKERS: [(&str, &str); 3] =
    [("[Thinking]", "thinking"), ("[Tool call]", "tool_call"), ("[Tool result]", "tool_result")];

/// True for a text that begins with a role and has a mark that only Cursor's transcripts have.
pub(super) fn is_transcript(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let begins_with_role = lines.next().is_some_and(|line| matches!(line, "user:" | "assistant:"));
    let has_mark = BLOCK_MARKERS.iter().any(|(mark, _)| text.lines().any(|line| line.starts_with(mark)));
    begins_with_role && (has_mark || text.contains("<user_query>"))
}

/// Reads a transcript as one conversation.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let text = reader.text(member)?;
    let mut chat = Chat { is_log: true, record_type: Some("transcript".into()), ..Chat::default() };
    let mut starts: Vec<(usize, usize, &str)> = Vec::new();
    let mut at = 0;
    for (n, line) in text.split_inclusive('\n').enumerate() {
        if let Some(role) =
            ["user", "assistant"].into_iter().find(|role| line.trim_end().strip_suffix(':') == Some(role))
        {
            starts.push((at, n + 1, role));
        }
        at += line.len();
    }
    for (n, (start, line, role)) in starts.iter().enumerate() {
        let end = starts.get(n + 1).map_or(text.len(), |next| next.0);
        let source = text.get(*start..end).unwrap_or_default();
        let body = source.split_once('\n').map_or("", |(_, body)| body);
        let mut turn = Turn { role: (*role).into(), pointer: format!("line {line}"), ..Turn::default() };
        let mut content = AgentContent::default();
        match *role {
            "user" => content.text = body.trim().to_owned(),
            _ => read_answer(body, &mut content),
        }
        if *role == "user" && content.separate_harness_text() {
            turn.role = "system".into();
        }
        let kind = content.content_type();
        content.fill(&mut turn);
        turn.hidden = turn.role == "system" || is_tool_type(kind);
        if turn.role == "system" {
            turn.content_type = "context".into();
        }
        turn.verbatim = Some(Verbatim { media_type: "text/plain".into(), text: source.to_owned() });
        chat.turns.push(turn);
    }
    let stem = without_extension(member.file_name());
    let first = chat.turns.first().map(|turn| turn.text.clone()).unwrap_or_default();
    let id = if is_uuid(stem) { stem.to_owned() } else { content_id(&first) };
    chat.id = Some(format!("transcript/{id}"));
    reader.send_chat(chat, chat_file(&member.place))
}

/// Splits an answer into its own text and its blocks.
fn read_answer(text: &str, content: &mut AgentContent) {
    let mut block: Option<(&str, Option<&str>, String)> = None;
    let mut words = String::new();
    let close = |block: Option<(&str, Option<&str>, String)>, content: &mut AgentContent| {
        if let Some((kind, name, text)) = block {
            content.push_block(kind, name, text.trim_end());
        }
    };
    for line in text.lines() {
        let mark = BLOCK_MARKERS.iter().find_map(|(mark, kind)| Some((*kind, line.strip_prefix(mark)?.trim())));
        if let Some((kind, rest)) = mark {
            close(block.take(), content);
            push_text(&mut content.text, std::mem::take(&mut words).trim());
            let name = Some(rest).filter(|rest| !rest.is_empty());
            block = Some((kind, name.filter(|_| kind != "thinking"), String::new()));
        } else if let Some((_, _, inside)) = block.as_mut().filter(|_| line.is_empty() || line.starts_with([' ', '\t']))
        {
            inside.push_str(line.trim_start());
            inside.push('\n');
        } else {
            close(block.take(), content);
            words.push_str(line);
            words.push('\n');
        }
    }
    close(block, content);
    push_text(&mut content.text, words.trim());
}
