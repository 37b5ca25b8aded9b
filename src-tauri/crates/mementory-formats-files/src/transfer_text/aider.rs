//! Reads the chat log that Aider writes (`.aider.chat.history.md`). In this log, the person's words are headings of
//! level four, and the program's messages are block quotes. A log contains all chats in the folder of a project, each of
//! which is read as a conversation.
use super::conversation::first_line;
use super::speaker::Style;
use super::transcript::{Transcript, Turn};
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::roles;
use mementory_model::Timestamp;
use std::collections::HashMap;

const PLATFORM: &str = "aider";

/// Beginning of the first line of a log, and of the first line of each later chat in the log.
const TITLE: &str = "# aider chat started at ";
/// Notation of the time after it.
const TIME_FORM: &str = "YYYY-MM-DD HH:MM:SS";
/// Name of the log in the folder of a project.
const LOG_NAME: &str = ".aider.chat.history.md";
/// Mark before each line that the person wrote.
const PROMPT: &str = "#### ";

/// The chats of a log. None if the text is not such a log, or if the log has no words of the person.
pub(super) fn read(text: &str) -> Option<Transcript> {
    text.trim_start().starts_with(TITLE).then(|| chats(text, false)).flatten()
}

/// The chats of a log whose first line was removed, so that only the name of its file shows the program. Headings of
/// level four in any other text are not prompts.
pub(super) fn read_log(text: &str, file_name: &str) -> Option<Transcript> {
    (file_name == LOG_NAME).then(|| chats(text, true)).flatten()
}

/// The chats of a log. If the log `is_cut`, it may begin inside an answer, which is then a turn too.
fn chats(text: &str, is_cut: bool) -> Option<Transcript> {
    let lines: Vec<&str> = text.lines().collect();
    let is_start = |at: usize| {
        let is_below_blank =
            at.checked_sub(1).and_then(|above| lines.get(above)).is_none_or(|line| line.trim().is_empty());
        is_below_blank && lines.get(at).is_some_and(|line| start_time(line).is_some())
    };
    let mut starts: Vec<usize> = (0..lines.len()).filter(|at| is_start(*at)).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    // For each session, the number of its chats so far, and for the digest of each text the number of its first chat.
    let mut seen: HashMap<String, (usize, HashMap<String, usize>)> = HashMap::new();
    let mut found: Vec<Transcript> = Vec::new();
    for (start, end) in starts.iter().copied().zip(ends) {
        let block = lines.get(start..end).unwrap_or_default();
        let started = block.first().and_then(|line| start_time(line));
        let mut chat = turns(block, start, is_cut && started.is_none());
        if chat.turns.is_empty() {
            continue;
        }
        chat.started = started;
        if let Some(session) = session_of(&chat) {
            // A program may start Aider several times in a second with the same prompt.
            let (count, numbers) = seen.entry(session.clone()).or_default();
            let number = *numbers.entry(content_id(chat.own_text().trim_end())).or_insert(*count);
            *count += 1;
            chat.session = Some(if number == 0 { session } else { format!("{session}~{}", number + 1) });
        }
        found.push(chat);
    }
    if !found.iter().flat_map(|chat| &chat.turns).any(|turn| turn.role == roles::USER) {
        return None;
    }
    let mut found = found.into_iter();
    let first = found.next()?;
    Some(Transcript { others: found.collect(), ..first })
}

/// The time in the first line of a chat. It states no time zone and is read as UTC.
fn start_time(line: &str) -> Option<Timestamp> {
    let time = line.strip_prefix(TITLE)?.trim();
    Timestamp::parse(time).filter(|_| time.len() == TIME_FORM.len())
}

/// The id of a chat, which stays the same while the chat goes on: its start, and its first prompt, because two projects
/// may be opened in the same second. None for a chat without a start.
fn session_of(chat: &Transcript) -> Option<String> {
    let first = chat.turns.first()?;
    Some(format!("{PLATFORM}/{}/{}", chat.started?.to_rfc3339(), content_id(&first.text)))
}

/// The turns of one chat. `start` is the number of the lines before it.
fn turns(lines: &[&str], start: usize, is_cut: bool) -> Transcript {
    let platform = Some(PLATFORM);
    let mut out = Transcript { style: Some(Style::Export), is_certain: true, platform, ..Transcript::default() };
    let mut was_prompt = false;
    for (number, line) in lines.iter().copied().enumerate() {
        let prompt = line.strip_prefix(PROMPT).or_else(|| (line == PROMPT.trim_end()).then_some(""));
        let spoken_line = prompt.unwrap_or(if line.starts_with("> ") { "" } else { line });
        let last = out.turns.last_mut();
        let continues_turn = match (&last, prompt) {
            (Some(turn), Some(_)) => was_prompt && turn.role == roles::USER,
            (Some(turn), None) => turn.role == roles::ASSISTANT || spoken_line.trim().is_empty(),
            (None, prompt) => prompt.is_none() && (!is_cut || spoken_line.trim().is_empty()),
        };
        match last {
            Some(turn) if continues_turn => {
                turn.text.push('\n');
                turn.text.push_str(spoken_line);
                turn.source.push('\n');
                turn.source.push_str(line);
            }
            None if continues_turn && out.preamble.is_empty() => out.preamble.push_str(line.trim()),
            None if continues_turn => {}
            _ => {
                let role = if prompt.is_some() { roles::USER } else { roles::ASSISTANT };
                out.turns.push(Turn {
                    role,
                    label: String::new(),
                    text: spoken_line.to_owned(),
                    line: start + number + 1,
                    source: line.to_owned(),
                    time: None,
                    model: None,
                });
            }
        }
        was_prompt = prompt.is_some();
    }
    for turn in &mut out.turns {
        turn.text = turn.text.trim().to_owned();
    }
    out.title = out
        .turns
        .iter()
        .find(|turn| turn.role == roles::USER && !turn.text.is_empty())
        .map(|turn| first_line(&turn.text));
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_start_below_a_blank_line_begins_a_chat_and_its_id_stays_while_it_goes_on() {
        let log = "# aider chat started at 2026-02-01 10:00:00\n\n#### leeks\n\nDeep.\n\n\
                   # aider chat started at 2026-02-01 10:00:00\n\n#### onions\n\n\
                   He wrote:\n# aider chat started at 2026-02-03 10:00:00\n\n# aider chat started at noon\n\n\
                   # aider chat started at 2026-02-04 10:00:00\n\n> Aider v0.90\n\n\
                   # aider chat started at 2026-02-05 10:00:00\n\n#### beets\n";
        let sessions = |log: &str| -> Vec<String> {
            read(log).unwrap().conversations().map(|chat| chat.session.clone().unwrap()).collect()
        };
        let titles: Vec<String> = read(log).unwrap().conversations().map(|chat| chat.title.clone().unwrap()).collect();
        assert_eq!(titles, ["leeks", "onions", "beets"]);
        let longer_log = format!("{log}\nRed ones.\n\n#### thanks\n\n{log}");
        assert_eq!(sessions(&longer_log)[..3], sessions(log));
        let [same, other] = [3, 5].map(|at| sessions(&longer_log)[at].clone());
        assert_eq!(same, sessions(log)[0]);
        assert_eq!(other, format!("{}~2", sessions(log)[2]));
        // A copy counts, because it may be a chat that goes on later.
        let third =
            sessions(&format!("{log}\n{log}\n# aider chat started at 2026-02-05 10:00:00\n\n#### beets\n\nRed."));
        assert_eq!(third[6], format!("{}~3", sessions(log)[2]));
    }

    #[test]
    fn headings_are_prompts_and_quotes_are_the_programs_own_words() {
        let text = "# aider chat started at 2026-11-20 10:00:00\n\n> Aider v0.90\n\n#### how deep  \n#### are leeks?\n\n\
                    15 cm.\n\n#### why\n\n## Because\nof light.\n\n> Tokens: 12\n";
        let transcript = read(text).unwrap();
        let turns: Vec<(&str, &str)> = transcript.turns.iter().map(|turn| (turn.role, turn.text.as_str())).collect();
        assert_eq!(
            turns,
            [
                ("user", "how deep  \nare leeks?"),
                ("assistant", "15 cm."),
                ("user", "why"),
                ("assistant", "## Because\nof light.")
            ]
        );
        assert_eq!(transcript.title.as_deref(), Some("how deep"));
        assert!(transcript.has_only_a_head_before());
        let note = "# a note\n\n#### a heading\n\ntext";
        assert!(read(note).is_none() && read_log(note, "history.md").is_none());
        let cut_log = read_log(note, LOG_NAME).unwrap();
        let texts: Vec<&str> = cut_log.turns.iter().map(|turn| turn.text.as_str()).collect();
        assert_eq!(texts, ["# a note", "a heading", "text"]);
        assert!(read_log("# a note\n\ntext", LOG_NAME).is_none());
    }
}
