//! Reads sessions that Chatbox exported as Markdown or as plain text. A session consists of threads, each of which is
//! read as a conversation. A thread begins with a numbered heading, and a message begins with the role of its speaker.
use super::speaker::Style;
use super::transcript::{Transcript, Turn};
use mementory_formats_shared::roles;

const PLATFORM: &str = "chatbox";
/// Line before and after the text of a message in Markdown. The text itself contains no fences, because Chatbox removes
/// them.
const FENCE: &str = "```";
/// Line below the last thread in Markdown.
const END: &str = "--------------------";
/// Beginning of the line below the rule that ends the plain text.
const TEXT_END: &str = "Chatbox";
/// Smallest length in bytes of the rule that ends the plain text.
const TEXT_RULE: usize = 60;
/// Beginning of the first line of a message in plain text.
const TEXT_MESSAGE: &str = "▶ ";

/// One of the two forms of an export.
struct Form {
    /// The name of the session in the first line.
    title: fn(&str) -> Option<&str>,
    /// The number and name in a line that begins a thread.
    thread: fn(&str) -> Option<(usize, &str)>,
    /// The role in a line that begins a message.
    role: fn(&str) -> Option<&'static str>,
    /// True for the rule below the last thread.
    is_end: fn(&str) -> bool,
    /// Beginning of the first non-blank line below the rule at the end.
    below_end: &'static str,
    /// The words of a message. Tool calls and names of files are left out; they are only in the message's verbatim.
    words: fn(&[&str]) -> String,
    /// True if the text of a message is between two fences.
    is_fenced: bool,
}

const FORMS: [Form; 2] = [
    Form {
        title: |line| line.strip_prefix("# "),
        thread: |line| number_and_name(line.strip_prefix("## ")?),
        role: |line| roles::role(line.strip_prefix("**")?.strip_suffix("**:")?),
        is_end: |line| line == END,
        below_end: "",
        words: fenced_words,
        is_fenced: true,
    },
    Form {
        title: |line| line.strip_prefix("====")?.trim_matches('=').trim().strip_prefix("[[")?.strip_suffix("]]"),
        thread: |line| {
            number_and_name(line.strip_prefix("----")?.trim_matches('-').trim().strip_prefix('[')?.strip_suffix(']')?)
        },
        role: |line| {
            let name = line.strip_prefix(TEXT_MESSAGE)?.strip_suffix(':')?;
            roles::role(name).filter(|_| name.chars().all(char::is_uppercase))
        },
        is_end: |line| line.len() >= TEXT_RULE && line.bytes().all(|b| b == b'='),
        below_end: TEXT_END,
        words: plain_words,
        is_fenced: false,
    },
];

/// Number and name in `1. Name`.
fn number_and_name(text: &str) -> Option<(usize, &str)> {
    let (number, name) = text.split_once(". ")?;
    Some((number.parse().ok()?, name.trim()))
}

/// The threads of a session, except those without messages. None if the text is not a session or has no prompt.
pub(super) fn read(text: &str) -> Option<Transcript> {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().map(str::trim_end).collect();
    let mut head = lines.iter().enumerate().filter(|(_, line)| !line.is_empty());
    let (_, first) = head.next()?;
    let (start, second) = head.next()?;
    let (_, third_line) = head.next()?;
    let form = FORMS.iter().find(|form| (form.title)(first).is_some())?;
    (form.thread)(second).filter(|(number, _)| *number == 1)?;
    (form.role)(third_line)?;
    let session = (form.title)(first).map(str::trim).filter(|name| !name.is_empty());
    let mut threads = threads(form, &lines, start);
    threads.retain(|thread| !thread.turns.is_empty());
    if let [only] = threads.as_mut_slice() {
        only.title = session.map(str::to_owned).or(only.title.take());
    }
    let mut threads = threads.into_iter();
    let first = threads.next()?;
    let out = Transcript { others: threads.collect(), ..first };
    let has_prompt = out.conversations().flat_map(|thread| &thread.turns).any(|turn| turn.role == roles::USER);
    has_prompt.then_some(out)
}

/// The threads that begin at the line `start` or below it.
fn threads(form: &Form, lines: &[&str], start: usize) -> Vec<Transcript> {
    let mut out: Vec<Transcript> = Vec::new();
    // First line and role of the message whose end is not found yet.
    let mut message: Option<(usize, &'static str)> = None;
    let mut is_in_fence = false;
    for (at, line) in lines.iter().enumerate().skip(start) {
        if form.is_fenced && *line == FENCE {
            is_in_fence = !is_in_fence;
        }
        if is_in_fence {
            continue;
        }
        let next = || lines.iter().skip(at + 1).find(|line| !line.is_empty()).copied().unwrap_or_default();
        let thread = (form.thread)(line).filter(|(number, _)| *number == out.len() + 1);
        let role = (form.role)(line);
        let is_end = (form.is_end)(line) && next().starts_with(form.below_end);
        if thread.is_none() && role.is_none() && !is_end {
            continue;
        }
        close(form, lines, &mut out, message.take(), at);
        if is_end {
            return out;
        }
        if let Some((_, name)) = thread {
            out.push(Transcript {
                style: Some(Style::Export),
                is_certain: true,
                platform: Some(PLATFORM),
                title: Some(name.to_owned()).filter(|name| !name.is_empty()),
                ..Transcript::default()
            });
        }
        message = role.map(|role| (at, role));
    }
    close(form, lines, &mut out, message, lines.len());
    out
}

/// Adds the message that ends before the line `end` to the last thread.
fn close(form: &Form, lines: &[&str], threads: &mut [Transcript], message: Option<(usize, &'static str)>, end: usize) {
    let Some((start, role)) = message else { return };
    let Some((label, body)) = lines.get(start..end).and_then(<[&str]>::split_first) else { return };
    let Some(thread) = threads.last_mut() else { return };
    thread.turns.push(Turn {
        role,
        label: label.trim_matches(|c: char| !c.is_alphabetic()).to_owned(),
        text: (form.words)(body),
        line: start + 1,
        source: lines.get(start..end).unwrap_or_default().join("\n").trim_end().to_owned(),
        time: None,
        model: None,
    });
}

/// The lines between fences.
fn fenced_words(body: &[&str]) -> String {
    let mut is_in_fence = false;
    let mut parts: Vec<Vec<&str>> = Vec::new();
    for line in body {
        match (*line == FENCE, parts.last_mut()) {
            (true, _) => {
                is_in_fence = !is_in_fence;
                if is_in_fence {
                    parts.push(Vec::new());
                }
            }
            (false, Some(part)) if is_in_fence => part.push(line),
            _ => {}
        }
    }
    let texts = parts.iter().map(|part| part.join("\n").trim().to_owned()).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n\n")
}

/// The lines that belong neither to a tool call nor to the list of files.
fn plain_words(body: &[&str]) -> String {
    let is_tool = |line: &str| line.starts_with("    Tool Call: ") && line.contains(" (state: ");
    let mut out: Vec<&str> = Vec::new();
    // Beginning of every further line of the tool call or file list that is being skipped. None if neither is being
    // skipped.
    let mut skipped_beginning: Option<&str> = None;
    for line in body {
        skipped_beginning = match *line {
            line if is_tool(line) => Some("      "),
            "  Attachments:" => Some("    - "),
            line => skipped_beginning.filter(|beginning| line.starts_with(beginning)),
        };
        if skipped_beginning.is_none() {
            out.push(line);
        }
    }
    out.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn texts(transcript: &Transcript) -> Vec<(&str, &str)> {
        transcript.turns.iter().map(|turn| (turn.role, turn.text.as_str())).collect()
    }

    #[test]
    fn marks_inside_a_message_are_its_words() {
        let text = "# Slugs\n\n## 1. Thread\n\n**user**: \n\n```\n## 2. Beds\n**assistant**:\n--------------------\n```\n\n\
                    **assistant**: \n\n```\nI look.\n```\n\nTool Call: search (state: result)\nArgs:\n  slugs\n\n```\nTwo.\n```\n\n\n\n\
                    --------------------\n\n<a href=\"x\">\n";
        let found = read(text).unwrap();
        let expected = [("user", "## 2. Beds\n**assistant**:\n--------------------"), ("assistant", "I look.\n\nTwo.")];
        assert_eq!(texts(&found), expected);
        assert_eq!((found.title.as_deref(), found.others.len()), (Some("Slugs"), 0));
        assert!(found.turns[1].source.contains("Tool Call"));
    }

    #[test]
    fn plain_text_ends_at_the_rule_and_has_no_tools() {
        let rule = "=".repeat(72);
        let text = format!(
            "==== [[Slugs]] ====\n\n---- [1. One] ----\n\n▶ USER: \n\nWhat eats slugs?\n\n\n  Attachments:\n    - a.md\n\n\
             ▶ ASSISTANT: \n\n    Tool Call: search (state: result)\n      Args:\n        slugs\n\nHedgehogs.\n{rule}\nand toads.\n\n\n\n\
             ---- [2. Two] ----\n\n▶ USER: \n\nAnd snails?\n\n\n\n\n{rule}\n\nChatbox AI (https://chatboxai.app)"
        );
        let found = read(&text).unwrap();
        let answer = format!("Hedgehogs.\n{rule}\nand toads.");
        assert_eq!(texts(&found), [("user", "What eats slugs?"), ("assistant", answer.as_str())]);
        let titles: Vec<_> = found.conversations().map(|thread| thread.title.as_deref()).collect();
        assert_eq!(titles, [Some("One"), Some("Two")]);
        assert_eq!(texts(&found.others[0]), [("user", "And snails?")]);
    }

    #[test]
    fn notes_are_not_exports() {
        for text in [
            "# Slugs\n\n## 1. Who\n\nHedgehogs.\n\n**user**:\n\n```\nx\n```\n",
            "# Slugs\n\n**user**: \n\n```\nx\n```\n",
            "# Slugs\n\n## 1. Who\n\n**assistant**: \n\n```\nx\n```\n",
            "==== [[Slugs]] ====\n\n---- [2. Two] ----\n\n▶ USER: \n\nx",
            "# Slugs",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
