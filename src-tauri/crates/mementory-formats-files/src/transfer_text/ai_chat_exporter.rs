//! Reads the Markdown of the browser script AI Chat Exporter (revivalstack/ai-chat-exporter). After front matter and a
//! table of contents, each prompt is a numbered heading with the words as a block quote, and each answer ends with a
//! link to the top.
use super::head;
use super::speaker::Style;
use super::transcript::{Transcript, Turn};
use mementory_formats_shared::roles;

/// The heading above the list of prompts.
const CONTENTS: &str = "## Table of Contents";
/// Beginning of the name of each prompt in its heading: `## chat-1`, in versions before 3.0 `### chat-1`.
const PROMPT: &str = "chat-";
/// The line after each answer. A horizontal rule is above it.
const TOP_LINK: &str = "###### [top](#table-of-contents)";
/// The websites whose chats the script saves, as its `author` names them.
const AUTHORS: [&str; 5] = ["chatgpt", "claude", "copilot", "gemini", "grok"];

/// The turns of a saved chat. None if the text is not a saved chat, or if it has no turns.
pub(super) fn read(text: &str) -> Option<Transcript> {
    let text = text.trim_start_matches('\u{feff}');
    let has_one = |names: [&str; 2]| names.iter().any(|name| head::value(text, name).is_some());
    // Versions before 2.4 use the longer names.
    if !has_one(["exporter", "exporter_version"]) || !has_one(["url", "thread_url"]) {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let contents_at = lines.iter().position(|line| line.trim_end() == CONTENTS)?;
    let is_in_contents = |line: &&&str| line.trim().is_empty() || line.starts_with("- [");
    let body_at = contents_at + 1 + lines.iter().skip(contents_at + 1).take_while(is_in_contents).count();
    let mut out = Transcript {
        preamble: lines.get(..contents_at)?.join("\n").trim().to_owned(),
        platform: head::value(text, "author").and_then(|name| AUTHORS.into_iter().find(|author| *author == name)),
        style: Some(Style::Export),
        is_certain: true,
        ..Transcript::default()
    };
    // The links end the answers, unless the person removed them.
    let has_links = text.contains(TOP_LINK);
    let (mut prompts, mut state) = (0, State::Between);
    for (number, line) in lines.iter().enumerate().skip(body_at) {
        let may_be_prompt = state != State::Answer || !has_links;
        let role = if may_be_prompt && is_prompt(line, prompts + 1, lines.get(number + 1..)?) {
            prompts += 1;
            Some(roles::USER)
        } else {
            state.begins_answer(line).then_some(roles::ASSISTANT)
        };
        state = state.after(line, role);
        if let Some(role) = role {
            let (label, text, source) = (String::new(), String::new(), String::new());
            out.turns.push(Turn { role, label, text, line: number + 1, source, time: None, model: None });
        }
        if let Some(turn) = out.turns.last_mut() {
            turn.source.push_str(line);
            turn.source.push('\n');
        }
    }
    for turn in &mut out.turns {
        turn.source.truncate(turn.source.trim_end().len());
        turn.text = match turn.role {
            roles::USER => prompt_text(&turn.source),
            _ => answer_text(&turn.source),
        };
    }
    out.turns.retain(|turn| !turn.text.is_empty());
    (!out.turns.is_empty()).then_some(out)
}

/// The part of a chat that the previous line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The heading of a prompt, and blank lines below it.
    Heading,
    /// The words of a prompt.
    Words,
    /// An answer.
    Answer,
    /// Neither a prompt nor an answer: the last turn has ended, and the next turn has not begun.
    Between,
}

impl State {
    /// True if an answer begins at this line, which is not the heading of a prompt. The words of a prompt end at a line
    /// without the mark of a block quote, because the script marks even the blank lines of a prompt.
    fn begins_answer(self, line: &str) -> bool {
        let is_quoted = line.starts_with('>') && matches!(self, Self::Heading | Self::Words);
        self != Self::Answer && !line.trim().is_empty() && !is_quoted
    }

    /// The state after a line. If a turn begins at the line, `role` is its role.
    fn after(self, line: &str, role: Option<&str>) -> Self {
        let is_blank = line.trim().is_empty();
        match (self, role) {
            (_, Some(roles::USER)) => Self::Heading,
            (Self::Answer, _) | (_, Some(_)) if line.trim_end() == TOP_LINK => Self::Between,
            (Self::Answer, _) | (_, Some(_)) => Self::Answer,
            (Self::Heading, None) if is_blank => Self::Heading,
            (Self::Heading | Self::Words, None) if !is_blank => Self::Words,
            _ => Self::Between,
        }
    }
}

/// True for the heading of the prompt with this count. The words of the prompt have to follow as a block quote.
fn is_prompt(line: &str, count: usize, after: &[&str]) -> bool {
    let name = line.trim_end().strip_prefix("##").map(|rest| rest.trim_start_matches('#').trim_start());
    name.and_then(|name| name.strip_prefix(PROMPT)).is_some_and(|number| number == count.to_string())
        && after.iter().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with('>'))
}

/// The words of a prompt, without the marks of the block quote.
fn prompt_text(source: &str) -> String {
    let quoted_lines = source.lines().filter_map(|line| line.strip_prefix('>'));
    quoted_lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The words of an answer, without the rule and the link below it. In the first version, a line above the answer names
/// the speaker. It is removed too.
fn answer_text(source: &str) -> String {
    let text = source.trim().strip_suffix(TOP_LINK).unwrap_or(source.trim()).trim_end();
    let text = ["___", "---"].iter().find_map(|rule| text.strip_suffix(rule)).unwrap_or(text).trim();
    let without_speaker =
        text.split_once('\n').filter(|(first, _)| first.starts_with("###### ") && first.ends_with(" said:"));
    without_speaker.map_or(text, |(_, rest)| rest).trim().to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn saved_chat(front: &str, body: &str) -> String {
        format!(
            "---\ntitle: \"Slugs\"\n{front}---\n\n# Slugs\n\n{CONTENTS}\n\n- [1: What eats slugs?](#chat-1)\n\n{body}"
        )
    }

    const FRONT: &str = "author: claude\nexporter: 3.1.0\nurl: https://claude.ai/chat/1\n";

    fn turns(text: &str) -> Vec<(&'static str, String)> {
        read(text).unwrap().turns.into_iter().map(|turn| (turn.role, turn.text)).collect()
    }

    #[test]
    fn quotes_after_numbered_headings_are_prompts_and_links_to_the_top_end_answers() {
        let text = saved_chat(
            FRONT,
            "## chat-1\n\n> What eats slugs?\n> \n> > As a list.\n\n> Quoted answer\n\n## chat-2\n\nSo it is named.\n\n___\n\
             ###### [top](#table-of-contents)\n## chat-2\n\n> And snails?\n\n## chat-3\n\n> Or worms?\n\nMoles.\n\n___\n\
             ###### [top](#table-of-contents)\nBirds.\n\n___\n###### [top](#table-of-contents)\n\n",
        );
        let expected = [
            ("user", "What eats slugs?\n\n> As a list."),
            ("assistant", "> Quoted answer\n\n## chat-2\n\nSo it is named."),
            ("user", "And snails?"),
            ("user", "Or worms?"),
            ("assistant", "Moles."),
            ("assistant", "Birds."),
        ];
        assert_eq!(turns(&text), expected.map(|(role, text)| (role, text.to_owned())));
        let transcript = read(&text).unwrap();
        assert_eq!(transcript.platform, Some("claude"));
        assert!(transcript.preamble.ends_with("# Slugs"));
    }

    #[test]
    fn older_versions_and_selected_answers_are_read() {
        let front = "exporter_version: 2.0.0\nthread_url: https://chatgpt.com/c/1\n";
        let text = saved_chat(
            front,
            "### chat-1\n\n> Hi\n\n###### ChatGPT said:\n\nHello.\n\n---\n\n###### [top](#table-of-contents)\n",
        );
        assert_eq!(turns(&text), [("user", "Hi".to_owned()), ("assistant", "Hello.".to_owned())]);
        assert_eq!(turns(&saved_chat(FRONT, "Only this.\n\n___\n###### [top](#table-of-contents)")).len(), 1);
    }

    #[test]
    fn other_notes_with_a_table_of_contents_are_not_read() {
        for front in ["url: https://claude.ai/chat/1\n", "exporter: 3.1.0\n", ""] {
            assert!(read(&saved_chat(front, "## chat-1\n\n> Hi\n\nHello.")).is_none(), "{front}");
        }
        assert!(read(&saved_chat(FRONT, "").replace(CONTENTS, "## Contents")).is_none());
        assert!(read(&saved_chat(FRONT, "")).is_none());
    }
}
